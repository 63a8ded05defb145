import { RunError } from '../../../../lib/errors.ts';
import { quoted } from '../duckdb/identifiers.ts';
import { attachError } from './attach.ts';
import { SAID } from './catalogue.ts';
import { METADATA, type LakeDatabase } from './database.ts';
import { FENCE_MARK } from './failures.ts';
import { lockNumber } from '../postgres/buckets.ts';
import { catalogueSchema, type LakeOfDatabase, type LakePlace } from './place.ts';

/** Makes the catalogue of a lake ready for the service: its own table in it, and the fence. @param open attaches the lake */
export async function setUpLake(place: LakePlace, open: () => Promise<LakeDatabase>): Promise<LakeDatabase> {
  if (place.kind === 'database') return await setUpShared(place, open);
  const database = await open();
  await database.use((session) =>
    session.run(`CREATE TABLE IF NOT EXISTS ${METADATA}.main.${SAID} (key VARCHAR, info VARCHAR)`),
  );
  await setFileOptions(database);
  return database;
}

/** Options of the files: compressed as others read them, too, and written with a third of the memory of the default. */
const FILE_OPTIONS = { parquet_compression: 'zstd', parquet_row_group_size: '40960' } as const;

async function setFileOptions(database: LakeDatabase): Promise<void> {
  await database.use(async (session) => {
    const rows = await session.rows(`SELECT option_name, value FROM lake.options() WHERE scope = 'GLOBAL'`);
    const known = new Map(rows.map(([name, value]) => [String(name), String(value)]));
    for (const [name, value] of Object.entries(FILE_OPTIONS))
      if (known.get(name) !== value) await session.run(`CALL lake.set_option('${name}', '${value}')`);
  });
}

/** When several processes start, one makes the catalogue. */
async function setUpShared(place: LakeOfDatabase, open: () => Promise<LakeDatabase>): Promise<LakeDatabase> {
  const { pool, schema } = place;
  await requireEnglish(place);
  const catalogue = quoted(catalogueSchema(place));
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${lockNumber(`lake of ${schema}`)})`);
    const database = await open();
    try {
      await setFileOptions(database);
      await client.query(
        `CREATE TABLE IF NOT EXISTS ${catalogue}.${SAID} (key text PRIMARY KEY, info text NOT NULL)`,
      );
      await client.query(
        `CREATE INDEX IF NOT EXISTS gex_commits ON ${catalogue}.ducklake_snapshot_changes (split_part(commit_extra_info, '"', 4), snapshot_id)`,
      );
      await client.query(fence(place));
      await client.query('COMMIT');
      isBroken = false;
      return database;
    } catch (error) {
      await database.close();
      throw attachError(error, place);
    }
  } finally {
    if (isBroken) await client.query('ROLLBACK').catch(() => undefined);
    client.release(isBroken);
  }
}

/**
 * Returns SQL for the fence within DuckLake's own commit: a commit of a job is refused unless the job is still that of
 * the worker. The job cannot be given away from there to the end of the commit.
 */
function fence(place: LakeOfDatabase): string {
  const { schema } = place;
  const name = `${quoted(schema)}.lake_fence`;
  return `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $fence$
    DECLARE fence jsonb;
    BEGIN
      IF left(coalesce(NEW.commit_extra_info, ''), 10) <> '{"table":"' THEN RETURN NEW; END IF;
      fence := NEW.commit_extra_info::jsonb -> 'fence';
      IF fence IS NULL THEN RETURN NEW; END IF;
      PERFORM 1 FROM ${quoted(schema)}.jobs WHERE id = (fence ->> 'job')::bigint AND fencing = (fence ->> 'fencing')::bigint
        AND worker = fence ->> 'worker' AND status = 'processing' FOR UPDATE;
      IF NOT FOUND THEN RAISE EXCEPTION '${FENCE_MARK}'; END IF;
      RETURN NEW;
    END $fence$;
    CREATE OR REPLACE TRIGGER gex_fence BEFORE INSERT ON ${quoted(catalogueSchema(place))}.ducklake_snapshot_changes
      FOR EACH ROW EXECUTE FUNCTION ${name}()`;
}

/** DuckLake knows a conflict of two commits, which it tries again, by the English text of the error. */
async function requireEnglish({ pool }: LakeOfDatabase): Promise<void> {
  const { rows } = await pool.query<{ readonly lc_messages: string; readonly role: string }>(
    `SELECT current_setting('lc_messages') AS lc_messages, current_user AS role`,
  );
  const [found] = rows;
  if (found === undefined || /^(?:|C|POSIX|C\..*|en.*)$/i.test(found.lc_messages)) return;
  throw new RunError(
    'lake.language',
    `The database speaks “${found.lc_messages}”, and a lake needs its messages in English.`,
    {
      hint: `Let an administrator of the database set it for the role of the service: ALTER ROLE ${quoted(found.role)} SET lc_messages = 'C'`,
    },
  );
}
