import type { RawJson } from '../../domain/reply.ts';
import { badRequest, notFound } from '../../domain/api-error.ts';
import { tablePages, type TableRef } from './table-pages.ts';
import { collected, tableTexts } from './tables.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { listMetadata } from '../../stores/metadata/metadata.ts';
import { metadataReply } from '../../domain/presenters/metadata.ts';

/** Parts that lists of tables may show besides the tables. */
const TABLE_PARTS = [
  'attributes',
  'buckets',
  'bucketsWithoutSourceTables',
  'columns',
  'metadata',
  'columnMetadata',
  'sourceMetadata',
  'sourceColumnMetadata',
  'tableType',
] as const;

/** Checks the names of parts. @throws {ApiError} 400 when something else is asked for */
export function requireParts(include: readonly string[]): readonly string[] {
  const known: readonly string[] = TABLE_PARTS;
  const unknown = include.filter((part) => !known.includes(part));
  if (unknown.length === 0) return include;
  throw badRequest(
    'storage.validation',
    `Invalid include parameters: ${unknown.map((part) => `"${part}"`).join(', ')}. Only following are allowed: ${known.join(', ')}.`,
  );
}

/** Returns a table with all its parts. */
export async function showTable(meta: Meta, table: TableRef, origin: string): Promise<RawJson> {
  const owner = { branch_id: table.branch_id, scope: 'bucket', owner: table.bucket_id } as const;
  const bucketMetadata = (await listMetadata(meta, owner)).map((row) => metadataReply(row, true));
  const view = { origin, include: TABLE_PARTS, bucketMetadata };
  const [shown] = await collected(tableTexts(meta, tablePages([table]), view));
  if (shown === undefined)
    throw notFound(`The table "${table.id}" was removed meanwhile.`, 'storage.tables.notFound');
  return shown;
}
