import { sql, type Expression } from 'kysely';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';

/**
 * The next number of the one counter that all numeric ids come from; also the tickets. It never repeats. In PostgreSQL
 * it is a sequence: nobody waits for another's transaction, and numbers of one that is undone are left out.
 */
export async function nextId(meta: Meta): Promise<number> {
  const schema = postgresSchema(meta);
  if (schema !== undefined) {
    const next = sql<{ value: number }>`select ${nextOf(schema)} as value`;
    const { rows } = await next.execute(meta);
    return rows[0]?.value ?? missing();
  }
  const { value } = await meta
    .updateTable('counters')
    .set((update) => ({ value: update('value', '+', 1) }))
    .where('name', '=', 'id')
    .returning('value')
    .executeTakeFirstOrThrow();
  return value;
}

/** The last number that was given; 0 when none was. */
export async function lastId(meta: Meta): Promise<number> {
  const schema = postgresSchema(meta);
  if (schema === undefined) {
    const row = await meta.selectFrom('counters').select('value').where('name', '=', 'id').executeTakeFirst();
    return row?.value ?? 0;
  }
  const last = sql<{ value: number }>`
    select case when is_called then last_value else 0 end as value from ${sql.id(schema, 'ids')}`;
  return (await last.execute(meta)).rows[0]?.value ?? missing();
}

/**
 * Like {@link nextId}, for a row that is just inserted and whose number isn't needed: PostgreSQL draws it in the
 * insert.
 */
export async function idOfInserted(meta: Meta): Promise<Expression<number> | number> {
  const schema = postgresSchema(meta);
  return schema === undefined ? await nextId(meta) : nextOf(schema);
}

const nextOf = (schema: string) => sql<number>`nextval(${sql.lit(`${schema}.ids`)}::regclass)`;

/** Sets the counter of ids to a number that was given already, or is taken as such. */
export async function startIds(meta: Meta, last: number): Promise<void> {
  const schema = postgresSchema(meta);
  if (schema === undefined)
    await meta
      .insertInto('counters')
      .values({ name: 'id', value: last })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: last }))
      .execute();
  else await sql`select setval(${sql.lit(`${schema}.ids`)}::regclass, ${sql.lit(last)})`.execute(meta);
}

function missing(): never {
  throw new Error('The database gave no number.');
}
