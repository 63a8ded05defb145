import type { Pool } from 'pg';

/** Names of the tables with objects, in the schema of the service. */
export interface ObjectTables {
  readonly objects: string;
  readonly bodies: string;
  readonly pieces: string;
  readonly uploads: string;
  readonly parts: string;
}

export const tablesIn = (schema: string): ObjectTables => ({
  objects: `${schema}.objects`,
  bodies: `${schema}.object_bodies`,
  pieces: `${schema}.object_pieces`,
  uploads: `${schema}.object_uploads`,
  parts: `${schema}.object_parts`,
});

/**
 * Makes the tables when they are missing; of several processes one does it. Keys are bytes, which is their order, too.
 * Pieces are compressed before they are sent, so that the database must not try it again.
 */
export async function setUp(
  pool: Pool,
  { objects, bodies, pieces, uploads, parts }: ObjectTables,
): Promise<void> {
  const { rows } = await pool.query<{ there: boolean }>(
    `SELECT to_regclass('${parts}') IS NOT NULL AS there`,
  );
  if (rows[0]?.there === true) return;
  // Several statements without values are one transaction.
  await pool.query(`
    SELECT pg_advisory_xact_lock(hashtextextended('${objects}', 0));
    CREATE TABLE IF NOT EXISTS ${bodies} (id text PRIMARY KEY, created timestamptz NOT NULL DEFAULT now());
    CREATE TABLE IF NOT EXISTS ${pieces} (
      body text NOT NULL REFERENCES ${bodies} ON DELETE CASCADE, piece integer NOT NULL,
      bytes bytea NOT NULL, PRIMARY KEY (body, piece));
    ALTER TABLE ${pieces} ALTER bytes SET STORAGE EXTERNAL;
    CREATE TABLE IF NOT EXISTS ${objects} (key bytea PRIMARY KEY, bodies text[] NOT NULL, meta json NOT NULL);
    CREATE TABLE IF NOT EXISTS ${uploads} (
      id text PRIMARY KEY, upload json NOT NULL, created timestamptz NOT NULL DEFAULT now());
    CREATE TABLE IF NOT EXISTS ${parts} (
      upload text NOT NULL REFERENCES ${uploads} ON DELETE CASCADE, part integer NOT NULL,
      body text NOT NULL, meta json NOT NULL, PRIMARY KEY (upload, part))`);
}
