import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Pool, PoolClient } from 'pg';
import type { Env } from '../../../../lib/env.ts';
import { checksumTexts } from '../checksums.ts';
import { checkKey } from '../keys.ts';
import type { ObjectFolder } from '../folder/folder.ts';
import type { PutOptions } from '../folder/folder-store-options.ts';
import type { ObjectMeta } from '../folder/meta.ts';
import { readBodies, writeBody } from './bodies.ts';
import { rethrow } from './failures.ts';
import { setUp, tablesIn } from './set-up.ts';
import { createDatabaseUploads } from './uploads.ts';

/**
 * Objects in a PostgreSQL database, for commands that have no other place that all of them see:
 *
 *     objects          a row for each object: its key, the bodies that it consists of, what is known of it
 *     object_bodies    one for each body that was written; an object of a multipart upload has several
 *     object_pieces    the bytes of bodies, a megabyte a row
 *     object_uploads   multipart uploads, with their object_parts
 *
 * An object appears with one row, when all its bytes are stored.
 */
export function createDatabaseObjects(
  { pool, schema }: { readonly pool: Pool; readonly schema: string },
  env: Env,
  options: { readonly minPartBytes?: number } = {},
): ObjectFolder {
  const tables = tablesIn(schema);
  const place = { pool, tables };
  const newName = (): string => Buffer.from(env.randomBytes(16)).toString('hex');
  const find = async (
    key: string,
    client: Pick<PoolClient, 'query'> = pool,
  ): Promise<StoredRow | undefined> => {
    const text = `SELECT bodies, meta FROM ${tables.objects} WHERE key = $1`;
    const { rows } = await client.query<StoredRow>(text, [Buffer.from(key)]).catch(rethrow);
    return rows[0];
  };

  /** Makes bodies the object of a key, in place of those that it had. */
  const publish = async (
    meta: ObjectMeta,
    bodies: readonly string[],
    condition: PutOptions['condition'],
    more?: (client: PoolClient) => Promise<unknown>,
  ): Promise<void> => {
    await inTransaction(pool, async (client) => {
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 1))', [`${schema} ${meta.key}`]);
      const before = await find(meta.key, client);
      condition?.(before?.meta);
      await client.query(
        `INSERT INTO ${tables.objects} (key, bodies, meta) VALUES ($1, $2, $3)
           ON CONFLICT (key) DO UPDATE SET bodies = excluded.bodies, meta = excluded.meta`,
        [Buffer.from(meta.key), bodies, JSON.stringify(meta)],
      );
      await client.query(`DELETE FROM ${tables.bodies} WHERE id = ANY($1)`, [before?.bodies ?? []]);
      await more?.(client);
    });
  };

  const remove = async (keys: readonly string[], before?: string): Promise<number> => {
    const { rowCount } = await pool
      .query(
        `WITH gone AS (DELETE FROM ${tables.objects}
           WHERE key = ANY($1) AND ($2::text IS NULL OR meta->>'modified' < $2) RETURNING bodies),
         emptied AS (DELETE FROM ${tables.bodies} WHERE id IN (SELECT unnest(bodies) FROM gone))
         SELECT FROM gone`,
        [keys.map((key) => Buffer.from(key)), before ?? null],
      )
      .catch(rethrow);
    return rowCount ?? 0;
  };

  const objects: Omit<ObjectFolder, keyof ReturnType<typeof createDatabaseUploads>> = {
    open: async () => await setUp(pool, tables).catch(rethrow),
    async put(key, body, { attributes, checksums, digests = [], verify, condition }) {
      checkKey(key);
      const modified = new Date(env.now()).toISOString();
      const id = newName();
      try {
        const written = await writeBody(place, id, body, ['md5', ...checksums, ...digests]);
        verify?.({ file: id, bytes: written.bytes, digests: written.digests });
        const meta: ObjectMeta = {
          ...attributes,
          key,
          bytes: written.bytes,
          etag: written.digests.get('md5')?.toString('hex') ?? '',
          modified,
          checksums: checksumTexts(written.digests, checksums),
        };
        await publish(meta, [id], condition);
        return meta;
      } catch (error) {
        await pool.query(`DELETE FROM ${tables.bodies} WHERE id = $1`, [id]).catch(() => undefined);
        throw error;
      }
    },
    async adopt(key, file, attributes) {
      const meta = await objects.put(key, createReadStream(file), { attributes, checksums: [] });
      await rm(file, { force: true });
      return meta;
    },
    head: async (key) => (await find(checkKey(key)))?.meta,
    async get(key) {
      const row = await find(checkKey(key));
      if (row === undefined) return undefined;
      const { meta, bodies } = row;
      const sizes = meta.upload?.partBytes ?? [meta.bytes];
      const parts = bodies.map((id, index) => ({ id, bytes: sizes[index] ?? 0 }));
      return { meta, close: async () => {}, read: (range) => readBodies(place, parts, range) };
    },
    async *list(prefix, after = new Uint8Array()) {
      for (let last: Uint8Array = after; ;) {
        const { rows } = await pool
          .query<{ readonly meta: ObjectMeta }>(
            `SELECT meta FROM ${tables.objects}
               WHERE key > $1 AND key >= $2 AND substring(key FROM 1 FOR length($2)) = $2
               ORDER BY key LIMIT ${KEYS_AT_ONCE}`,
            [Buffer.from(last), Buffer.from(prefix)],
          )
          .catch(rethrow);
        for (const { meta } of rows) yield meta;
        const end = rows.at(-1);
        if (end === undefined || rows.length < KEYS_AT_ONCE) return;
        last = Buffer.from(end.meta.key);
      }
    },
    async dropUnknown(before, known) {
      const moment = new Date(before).toISOString();
      let keys: string[] = [];
      const drop = async (): Promise<void> => {
        const kept = await known(keys);
        await remove(
          keys.filter((key) => !kept.has(key)),
          moment,
        );
        keys = [];
      };
      for await (const { key } of objects.list('')) if (keys.push(key) === KEYS_AT_ONCE) await drop();
      await drop();
    },
    delete: async (key) => (await remove([checkKey(key)])) > 0,
  };
  const uploads = createDatabaseUploads({ ...place, env, newName, publish, head: objects.head, ...options });
  return { ...objects, ...uploads };
}

interface StoredRow {
  readonly bodies: readonly string[];
  readonly meta: ObjectMeta;
}

const KEYS_AT_ONCE = 500;

async function inTransaction(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect().catch(rethrow);
  let isLost = false;
  try {
    await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 10000');
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    // A connection whose transaction could not be ended is closed, which ends it.
    await client.query('ROLLBACK').catch(() => (isLost = true));
    rethrow(error);
  } finally {
    client.release(isLost);
  }
}
