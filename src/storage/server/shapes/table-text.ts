import { RawJson, type Reply } from '../http/answer.ts';
import { encodeReply } from '../http/encode-reply.ts';
import type { MeasuredBucket } from '../meta/buckets.ts';
import type { ShownMetadata } from '../meta/metadata.ts';
import type { TableRow } from '../meta/tables.ts';
import { bucketWithoutTables, tableReply, type TableParts } from './table.ts';
import { apiTime } from './time.ts';

/** What is behind the table itself, in the order of {@link tableReply}, as JSON. */
export interface TableTexts {
  readonly metadata?: RawJson | undefined;
  readonly columnMetadata?: RawJson | undefined;
  readonly bucket?: RawJson | undefined;
}

/**
 * What {@link tableReply} gives, as JSON: a list of thousands of tables is mostly metadata and buckets, and these are
 * never made of objects that only are to be written.
 */
export function tableText(
  table: TableRow,
  parts: Pick<TableParts, 'columns' | 'origin' | 'source'>,
  { metadata, columnMetadata, bucket }: TableTexts,
): RawJson {
  const own = encodeReply(tableReply(table, parts));
  const more = [
    metadata === undefined ? '' : `,"metadata":${metadata.text}`,
    columnMetadata === undefined ? '' : `,"columnMetadata":${columnMetadata.text}`,
    bucket === undefined ? '' : `,"bucket":${bucket.text}`,
  ];
  return new RawJson(`${own.slice(0, -1)}${more.join('')}}`);
}

/** A bucket as its tables show it. */
export function bucketText(
  bucket: MeasuredBucket,
  { origin, metadata }: { readonly origin: string; readonly metadata?: readonly Reply[] | undefined },
): RawJson {
  const shown = bucketWithoutTables(bucket, origin);
  return new RawJson(encodeReply(metadata === undefined ? shown : { ...shown, metadata }));
}

/** A list of metadata, in the order that it was made. */
export function metadataText(rows: readonly ShownMetadata[]): RawJson {
  return rows.length === 0 ? EMPTY : new RawJson(`[${inOrder(rows).map(oneText).join(',')}]`);
}

/** Metadata of the columns of a table, by column: a list when there is none, as the public API has it. */
export function columnMetadataText(rows: readonly ShownMetadata[]): RawJson {
  if (rows.length === 0) return EMPTY;
  // Names that are numbers come first, as they do in an object. None is `__proto__`: names do not begin with `_`.
  const byColumn: Record<string, string> = {};
  for (const row of inOrder(rows)) {
    // No name of a column has a dot.
    const column = row.owner.slice(row.owner.lastIndexOf('.') + 1);
    byColumn[column] = Object.hasOwn(byColumn, column) ? `${byColumn[column]},${oneText(row)}` : oneText(row);
  }
  let text = '';
  for (const column in byColumn) text += `${text === '' ? '{' : ','}${quoted(column)}:[${byColumn[column]}]`;
  return new RawJson(`${text}}`);
}

const EMPTY = new RawJson('[]');

/** As {@link metadataReply} gives it, which is made for one at a time. */
function oneText({ id, key, value, provider, timestamp }: ShownMetadata): string {
  return `{"id":"${id}","key":${quoted(key)},"value":${quoted(value)},"provider":${quoted(provider)},"timestamp":"${apiTime(timestamp)}"}`;
}

/** Keys, providers, names of columns and most values come again and again. */
const quotes = new Map<string, string>();
const MAX_QUOTES = 2000;
const MAX_LENGTH = 100;

function quoted(text: string): string {
  if (text.length > MAX_LENGTH) return JSON.stringify(text);
  const known = quotes.get(text);
  if (known !== undefined) return known;
  const quote = JSON.stringify(text);
  if (quotes.size >= MAX_QUOTES) quotes.clear();
  quotes.set(text, quote);
  return quote;
}

function inOrder(rows: readonly ShownMetadata[]): readonly ShownMetadata[] {
  let before = 0;
  for (const { id } of rows) {
    if (id < before) return rows.toSorted((a, b) => a.id - b.id);
    before = id;
  }
  return rows;
}
