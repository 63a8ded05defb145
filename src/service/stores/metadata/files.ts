import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely';
import type { Meta } from './database.ts';
import type { FileRow, MetadataTables } from './tables.ts';
import { fileOf, withLocks, type Transact } from './transaction.ts';

/** A file with its tags, in their order. */
export interface TaggedFile extends FileRow {
  readonly tags: readonly string[];
}

export async function insertFile(
  transact: Transact,
  file: FileRow,
  tags: readonly string[],
): Promise<TaggedFile> {
  const insert = async (tx: Meta): Promise<void> => await insertFileWithin(tx, file, tags);
  await transact([], insert, () => ({ fileId: file.id }));
  return { ...file, tags };
}

/** The same in a transaction of the caller. */
export async function insertFileWithin(tx: Meta, file: FileRow, tags: readonly string[]): Promise<void> {
  await tx.insertInto('files').values(file).execute();
  await insertTags(tx, file.id, tags);
}

export async function updateFile(
  meta: Meta,
  id: number,
  changes: Partial<FileRow>,
  tags?: readonly string[],
): Promise<void> {
  await withLocks(meta, [fileOf(id)], async (tx) => {
    if (Object.keys(changes).length > 0)
      await tx.updateTable('files').set(changes).where('id', '=', id).execute();
    if (tags === undefined) return;
    await tx.deleteFrom('file_tags').where('file_id', '=', id).execute();
    await insertTags(tx, id, tags);
  });
}

/** Rows of one statement: it may have 32,766 values. */
const MAX_ROWS = 1000;

async function insertTags(tx: Meta, id: number, tags: readonly string[]): Promise<void> {
  const rows = tags.map((tag, position) => ({ file_id: id, position, tag }));
  for (let start = 0; start < rows.length; start += MAX_ROWS)
    await tx
      .insertInto('file_tags')
      .values(rows.slice(start, start + MAX_ROWS))
      .execute();
}

export async function findFile(meta: Meta, id: number): Promise<TaggedFile | undefined> {
  const file = await findFileRow(meta, id);
  if (file === undefined) return undefined;
  const [tagged] = await withTags(meta, [file]);
  return tagged;
}

/** The same without its tags. */
export async function findFileRow(meta: Meta, id: number): Promise<FileRow | undefined> {
  return await meta.selectFrom('files').selectAll().where('id', '=', id).executeTakeFirst();
}

export interface FileFilter {
  readonly branchId: number;
  /** Only those of this token. */
  readonly creatorId?: number | undefined;
  /** Any of them. */
  readonly tags?: readonly string[] | undefined;
  /** A parsed query (`file-query.ts`). */
  readonly where?: FileCondition | undefined;
  readonly sinceId?: number | undefined;
  readonly maxId?: number | undefined;
  readonly runId?: string | undefined;
  readonly isPublic?: boolean | undefined;
  /** ISO time; files that expired before it are left out. */
  readonly aliveAt?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export type FileExpressions = ExpressionBuilder<MetadataTables, 'files'>;
export type FileCondition = (expressions: FileExpressions) => Expression<SqlBool>;

/** Files, the newest first. */
export async function listFiles(meta: Meta, filter: FileFilter): Promise<TaggedFile[]> {
  let query = meta.selectFrom('files').selectAll('files').where('branch_id', '=', filter.branchId);
  const { creatorId, tags, where, sinceId, maxId, runId, isPublic, aliveAt } = filter;
  if (creatorId !== undefined) query = query.where('creator_id', '=', creatorId);
  if (tags !== undefined && tags.length > 0)
    query = query.where((build) => hasTag(build, (tag) => sql`${tag} in (${sql.join(tags)})`));
  if (where !== undefined) query = query.where(where);
  if (sinceId !== undefined) query = query.where('files.id', '>', sinceId);
  if (maxId !== undefined) query = query.where('files.id', '<', maxId);
  if (isPublic !== undefined) query = query.where('is_public', '=', isPublic ? 1 : 0);
  if (runId !== undefined)
    query = query.where((build) => holds(build.ref('files.run_ids'), JSON.stringify(runId)));
  if (aliveAt !== undefined)
    query = query.where((build) => build.or([build('expires', 'is', null), build('expires', '>', aliveAt)]));
  const rows = await query.orderBy('files.id', 'desc').limit(filter.limit).offset(filter.offset).execute();
  return await withTags(meta, rows);
}

function holds(column: Expression<string>, text: string): Expression<SqlBool> {
  return sql<SqlBool>`${column} like ${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\'`;
}

/** Tells whether a file has a tag that meets a condition. */
export function hasTag(
  build: FileExpressions,
  condition: (tag: Expression<string>) => Expression<unknown>,
): Expression<SqlBool> {
  return build.exists(
    build
      .selectFrom('file_tags')
      .select('file_tags.file_id')
      .whereRef('file_tags.file_id', '=', 'files.id')
      .where(sql<SqlBool>`${condition(sql.ref<string>('file_tags.tag'))}`),
  );
}

async function withTags(meta: Meta, files: readonly FileRow[]): Promise<TaggedFile[]> {
  if (files.length === 0) return [];
  const ids = files.map(({ id }) => id);
  const rows = await meta
    .selectFrom('file_tags')
    .selectAll()
    .where('file_id', 'in', ids)
    .orderBy('position')
    .execute();
  const byFile = Map.groupBy(rows, ({ file_id }) => file_id);
  return files.map((file) => ({ ...file, tags: (byFile.get(file.id) ?? []).map(({ tag }) => tag) }));
}

/** Puts a tag behind the others; one that is there already stays where it is. */
export async function addTag(transact: Transact, id: number, tag: string): Promise<void> {
  await transact([fileOf(id)], async (tx) => {
    const tags = await tx.selectFrom('file_tags').selectAll().where('file_id', '=', id).execute();
    if (tags.some((known) => known.tag === tag)) return;
    const position = Math.max(-1, ...tags.map((known) => known.position)) + 1;
    await tx.insertInto('file_tags').values({ file_id: id, position, tag }).execute();
  });
}

/** False when the file hasn't that tag. */
export async function removeTag(meta: Meta, id: number, tag: string): Promise<boolean> {
  const { numDeletedRows } = await meta
    .deleteFrom('file_tags')
    .where((where) => where.and({ file_id: id, tag }))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Forgets files; their objects must be gone already. */
export async function deleteFiles(transact: Transact, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await transact([], async (tx) => {
    await tx.deleteFrom('file_tags').where('file_id', 'in', ids).execute();
    await tx.deleteFrom('exports').where('file_id', 'in', ids).execute();
    await tx.deleteFrom('files').where('id', 'in', ids).execute();
  });
}

/** Those of the keys whose file there is; a key that is not of the form that files are given counts as one. */
export async function keysOfFiles(meta: Meta, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = new Map(keys.map((key) => [key, fileIdOf(key)]));
  const wanted = [...new Set(ids.values())].filter((id) => id !== undefined);
  const files =
    wanted.length === 0
      ? []
      : await meta.selectFrom('files').select(['id', 'object_key']).where('id', 'in', wanted).execute();
  const prefixes = new Map(files.map(({ id, object_key }) => [id, object_key]));
  return new Set(
    keys.filter((key) => {
      const id = ids.get(key);
      if (id === undefined) return true;
      const prefix = prefixes.get(id);
      return prefix !== undefined && key.startsWith(prefix);
    }),
  );
}

/** The id that stands in the key of an object: `1/files/2024/02/29/1234.name`. */
function fileIdOf(key: string): number | undefined {
  const digits = /^(?:exp-\d+\/)?\d+\/files\/\d{4}\/\d\d\/\d\d\/(\d{1,15})\./.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Some files of a branch, the oldest first. */
export async function listFilesOfBranch(meta: Meta, branchId: number, limit: number): Promise<FileRow[]> {
  return await meta
    .selectFrom('files')
    .selectAll()
    .where('branch_id', '=', branchId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Files whose time is over, the oldest first. */
export async function listExpired(meta: Meta, now: string, limit: number): Promise<FileRow[]> {
  return await meta
    .selectFrom('files')
    .selectAll()
    .where('expires', '<=', now)
    .orderBy('id')
    .limit(limit)
    .execute();
}
