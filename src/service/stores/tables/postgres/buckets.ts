import { createHash } from 'node:crypto';
import { literal, quoted, readerOfSchema, schemaOfBucket, schemaWithDigest } from './names.ts';
import type { Log } from '../../../../lib/log.ts';
import type { PostgresSession } from './connection.ts';

/** Each bucket is a schema, with a role that may read what is in it. */
export interface BucketSchemas {
  setUp(session: PostgresSession): Promise<void>;
  /** The schema of a bucket, which is made when there is none, and stays until the transaction ends. */
  schemaOf(session: PostgresSession, bucket: string): Promise<string>;
  /**
   * Drops the schema and the role of a bucket without tables; if others have put objects into the schema, these stay,
   * and so does the schema.
   */
  forget(session: PostgresSession, bucket: string): Promise<void>;
}

interface BucketOptions {
  readonly log: Log;
  readonly shownBucket?: (bucket: string) => string;
}

export function createBuckets(
  service: string,
  { log, shownBucket = (bucket) => bucket }: BucketOptions,
): BucketSchemas {
  const buckets = `${quoted(service)}.table_buckets`;
  let mayCreateRoles = false;

  const find = async (session: PostgresSession, bucket: string): Promise<string | undefined> => {
    const [row] = await session.rows(
      `SELECT schema_name FROM ${buckets} WHERE bucket = ${literal(bucket)} FOR KEY SHARE`,
    );
    return row === undefined ? undefined : String(row[0]);
  };

  return {
    async setUp(session) {
      await session.run(
        `CREATE TABLE IF NOT EXISTS ${buckets} (bucket text PRIMARY KEY, schema_name text NOT NULL UNIQUE, reader text)`,
      );
      const [row] = await session.rows(
        'SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user',
      );
      mayCreateRoles = row?.[0] === true;
      if (!mayCreateRoles)
        log.info('No roles for readers of buckets are made: the user of the database may not create roles');
    },

    async schemaOf(session, bucket) {
      const known = await find(session, bucket);
      if (known !== undefined) return known;
      await session.run(`SELECT pg_advisory_xact_lock(${lockNumber(`buckets of ${service}`)})`);
      const made = await find(session, bucket);
      if (made !== undefined) return made;
      const schema = await freeName(session, bucket);
      const reader = mayCreateRoles ? await makeReader(session, schema) : undefined;
      await session.run(`CREATE SCHEMA ${quoted(schema)}`);
      if (reader !== undefined) await letRead(session, schema, reader);
      const shown = reader === undefined ? 'NULL' : literal(reader);
      await session.run(`INSERT INTO ${buckets} VALUES (${literal(bucket)}, ${literal(schema)}, ${shown})`);
      return schema;
    },

    async forget(session, bucket) {
      // A bucket in which another transaction is making a table stays.
      const [row] = await session.rows(
        `SELECT schema_name, reader FROM ${buckets} WHERE bucket = ${literal(bucket)} FOR UPDATE SKIP LOCKED`,
      );
      if (row === undefined) return;
      const [schema, reader] = row;
      try {
        await session.attempt(async () => {
          await session.run(`DROP SCHEMA ${quoted(String(schema))}`);
          await session.run(`DELETE FROM ${buckets} WHERE bucket = ${literal(bucket)}`);
          if (typeof reader === 'string') await session.run(`DROP ROLE IF EXISTS ${quoted(reader)}`);
        });
      } catch (error) {
        log.info('Schema of a deleted bucket could not be dropped', {
          schema: String(schema),
          detail: String(error),
        });
      }
    },
  };

  async function freeName(session: PostgresSession, bucket: string): Promise<string> {
    const name = schemaOfBucket(service, shownBucket(bucket));
    const isTaken = await session.number(
      `SELECT count(*) FROM pg_namespace WHERE nspname = ${literal(name)}`,
    );
    return isTaken > 0 ? schemaWithDigest(service, bucket) : name;
  }
}

async function makeReader(session: PostgresSession, schema: string): Promise<string | undefined> {
  const [row] = await session.rows('SELECT current_database()');
  const reader = readerOfSchema(String(row?.[0]), schema);
  const isThere = await session.number(`SELECT count(*) FROM pg_roles WHERE rolname = ${literal(reader)}`);
  if (isThere === 0) await session.run(`CREATE ROLE ${quoted(reader)} NOLOGIN`);
  return reader;
}

/** Tables take the place of others: what may be done with those to come is said of the schema. */
async function letRead(session: PostgresSession, schema: string, reader: string): Promise<void> {
  await session.run(`GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${quoted(reader)}`);
  await session.run(
    `ALTER DEFAULT PRIVILEGES IN SCHEMA ${quoted(schema)} GRANT SELECT ON TABLES TO ${quoted(reader)}`,
  );
}

/** A number of 63 bits that belongs to a name. */
export function lockNumber(name: string): string {
  return String(createHash('sha256').update(name).digest().readBigUInt64BE() >> 1n);
}
