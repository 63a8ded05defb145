import type { Pool, PoolClient } from 'pg';
import type { Env } from '../../../../lib/env.ts';
import { checksumTexts, createDigests } from '../checksums.ts';
import { noSuchUpload } from '../errors.ts';
import { checkKey, compareKeys } from '../keys.ts';
import type { FolderUpload, PutOptions } from '../folder/folder-store-options.ts';
import type { ObjectMeta, PartMeta } from '../folder/meta.ts';
import { checkParts, composeChecksums, MIN_PART_BYTES, multipartEtag } from '../folder/parts.ts';
import type { Uploads } from '../folder/uploads.ts';
import { readBodies, writeBody } from './bodies.ts';
import { rethrow } from './failures.ts';
import type { ObjectTables } from './set-up.ts';

interface StoredPart extends PartMeta {
  readonly part: number;
  readonly body: string;
}

/** Multipart uploads in the database. The object consists of the bodies of its parts: completing it copies nothing. */
export function createDatabaseUploads(context: {
  readonly pool: Pool;
  readonly tables: ObjectTables;
  readonly env: Env;
  readonly newName: () => string;
  readonly publish: (
    meta: ObjectMeta,
    bodies: readonly string[],
    condition: PutOptions['condition'],
    more: (client: PoolClient) => Promise<unknown>,
  ) => Promise<void>;
  readonly head: (key: string) => Promise<ObjectMeta | undefined>;
  readonly minPartBytes?: number;
}): Uploads {
  const { pool, tables, env, newName, publish, head, minPartBytes = MIN_PART_BYTES } = context;

  const find = async (id: string): Promise<FolderUpload | undefined> => {
    const text = `SELECT upload FROM ${tables.uploads} WHERE id = $1`;
    const { rows } = await pool.query<{ readonly upload: FolderUpload }>(text, [id]).catch(rethrow);
    return rows[0]?.upload;
  };

  const partsOf = async (id: string): Promise<StoredPart[]> => {
    const text = `SELECT part, body, meta FROM ${tables.parts} WHERE upload = $1 ORDER BY part`;
    const { rows } = await pool
      .query<{ readonly part: number; readonly body: string; readonly meta: PartMeta }>(text, [id])
      .catch(rethrow);
    return rows.map(({ part, body, meta }) => ({ part, body, ...meta }));
  };

  /** Drops uploads with the bodies of their parts. */
  const drop = async (which: string, value: unknown): Promise<void> => {
    await pool
      .query(
        `WITH gone AS (DELETE FROM ${tables.uploads} WHERE ${which} RETURNING id),
           bodies AS (SELECT body FROM ${tables.parts} WHERE upload IN (SELECT id FROM gone))
         DELETE FROM ${tables.bodies} WHERE id IN (SELECT body FROM bodies)`,
        [value],
      )
      .catch(rethrow);
  };

  const uploads: Uploads = {
    async createUpload(key, wanted) {
      checkKey(key);
      const id = newName();
      const upload: FolderUpload = { ...wanted, id, key, created: env.now() };
      const text = `INSERT INTO ${tables.uploads} (id, upload) VALUES ($1, $2)`;
      await pool.query(text, [id, JSON.stringify(upload)]).catch(rethrow);
      return id;
    },
    async uploadOf(key, id) {
      const upload = await find(id);
      if (upload?.key !== key) throw noSuchUpload();
      return upload;
    },
    async putPart({ id }, part, body, { checksums, digests = [], verify }) {
      const modified = new Date(env.now()).toISOString();
      const name = newName();
      try {
        const written = await writeBody(context, name, body, ['md5', ...checksums, ...digests]);
        verify?.({ file: name, bytes: written.bytes, digests: written.digests });
        const meta: PartMeta = {
          bytes: written.bytes,
          etag: written.digests.get('md5')?.toString('hex') ?? '',
          modified,
          checksums: checksumTexts(written.digests, checksums),
        };
        const { rowCount } = await pool.query(
          `WITH before AS (SELECT body FROM ${tables.parts} WHERE upload = $1 AND part = $2),
             emptied AS (DELETE FROM ${tables.bodies} WHERE id IN (SELECT body FROM before))
           INSERT INTO ${tables.parts} (upload, part, body, meta)
             SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT FROM ${tables.uploads} WHERE id = $1)
             ON CONFLICT (upload, part) DO UPDATE SET body = excluded.body, meta = excluded.meta`,
          [id, part, name, JSON.stringify(meta)],
        );
        if (rowCount === 0) throw noSuchUpload();
        return meta;
      } catch (error) {
        await pool.query(`DELETE FROM ${tables.bodies} WHERE id = $1`, [name]).catch(() => undefined);
        return rethrow(error);
      }
    },
    listParts: async ({ id }) => (await partsOf(id)).map(({ body: _body, ...part }) => part),
    async completeUpload(key, id, chosen, { condition, checksum: asked, verify }) {
      const upload = await find(id);
      if (upload === undefined) {
        // The answer to an earlier call may have been lost: what it made is the answer to this one.
        const made = await head(key);
        if (made?.upload?.id === id) return made;
      }
      if (upload?.key !== key) throw noSuchUpload();
      const stored = await partsOf(id);
      const parts = await checkParts(
        chosen,
        upload,
        async (part) => stored.find((known) => known.part === part),
        minPartBytes,
      );
      const { checksum = asked, attributes } = upload;
      const full = checksum !== undefined && !checksum.isComposite ? [checksum.name] : [];
      const digests = createDigests(full);
      const bodies = parts.map(({ body, bytes }) => ({ id: body, bytes }));
      if (full.length > 0)
        // Without an encoding a stream gives buffers.
        for await (const chunk of readBodies(context, bodies)) digests.update(chunk as Buffer);
      const meta: ObjectMeta = {
        ...attributes,
        key,
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
        etag: multipartEtag(parts),
        modified: new Date(env.now()).toISOString(),
        checksums: { ...checksumTexts(digests.finish(), full), ...composeChecksums(checksum, parts) },
        upload: { id, partBytes: parts.map((part) => part.bytes) },
      };
      verify?.(meta);
      const used = parts.map(({ body }) => body);
      const unused = stored.map(({ body }) => body).filter((body) => !used.includes(body));
      await publish(meta, used, condition, async (client) => {
        const { rowCount } = await client.query(`DELETE FROM ${tables.uploads} WHERE id = $1`, [id]);
        if (rowCount === 0) throw noSuchUpload();
        await client.query(`DELETE FROM ${tables.bodies} WHERE id = ANY($1)`, [unused]);
      });
      return meta;
    },
    async abortUpload(key, id) {
      await uploads.uploadOf(key, id);
      await drop('id = $1', id);
    },
    async listUploads() {
      const { rows } = await pool
        .query<{ readonly upload: FolderUpload }>(`SELECT upload FROM ${tables.uploads}`)
        .catch(rethrow);
      return rows
        .map(({ upload }) => upload)
        .sort((a, b) => compareKeys(a.key, b.key) || compareKeys(a.id, b.id));
    },
    async dropUploads(before) {
      const moment = new Date(before);
      await drop('created < $1', moment);
      // Bodies of processes that were killed while they wrote.
      await pool
        .query(
          `DELETE FROM ${tables.bodies} AS body WHERE created < $1
             AND NOT EXISTS (SELECT FROM ${tables.parts} WHERE body = body.id)
             AND NOT EXISTS (SELECT FROM ${tables.objects} WHERE body.id = ANY(bodies))`,
          [moment],
        )
        .catch(rethrow);
    },
  };
  return uploads;
}
