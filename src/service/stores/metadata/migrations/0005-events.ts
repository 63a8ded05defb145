import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

interface Events {
  events: { id: number; uuid: string };
}

/** Events: the names of their objects, UUIDs, and an index for each thing that lists of many are narrowed by. */
export const events: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('events').addColumn('object_name', 'text').execute();
    await giveUuids(db as unknown as Kysely<Events>); // only these two columns are touched
    await db.schema.dropIndex('events_object').execute();
    for (const column of COLUMNS) {
      await db.schema
        .createIndex(`events_${column}`)
        .on('events')
        .columns(['branch_id', column, 'id'])
        .execute();
    }
    await db.schema.createIndex('events_branch').on('events').columns(['branch_id', 'id']).execute();
    await db.schema.createIndex('events_uuid').on('events').column('uuid').unique().execute();
  },
};

const COLUMNS = ['component', 'configuration_id', 'event', 'object_id', 'run_id', 'token_id'] as const;

const AT_ONCE = 1000;

/** The identifiers of earlier events were ULIDs: the same 128 bits, written in another way. */
async function giveUuids(db: Kysely<Events>): Promise<void> {
  for (let after = 0; ;) {
    const rows = await db
      .selectFrom('events')
      .select(['id', 'uuid'])
      .where('id', '>', after)
      .where(sql<number>`length(uuid)`, '=', 26)
      .orderBy('id')
      .limit(AT_ONCE)
      .execute();
    for (const { id, uuid } of rows)
      await db
        .updateTable('events')
        .set({ uuid: uuidOf(uuid) })
        .where('id', '=', id)
        .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function uuidOf(ulid: string): string {
  let bits = 0n;
  for (const letter of ulid) bits = bits * 32n + BigInt(CROCKFORD.indexOf(letter));
  const hex = bits.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
