import { RawJson, type Reply } from '../../domain/reply.ts';
import { encodeReply } from '../../domain/encode-reply.ts';
import { listBuckets } from '../../stores/metadata/buckets.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { bucketWithoutTables } from '../../domain/presenters/table.ts';
import { aliasTexts } from './alias-texts.ts';
import { columnMetadataTexts, metadataTexts } from './metadata-texts.ts';
import { tablePages, type TablePage, type TableRef } from './table-pages.ts';
import { columnTexts, definitionTexts, ownTexts } from './table-texts.ts';
import { PageCache } from './page-cache.ts';
import { listTableRefs, stampsOf, type StampedRef } from './table-stamps.ts';

/** Parts that lists of tables show besides the tables. */
export interface TableView {
  readonly origin: string;
  readonly include: readonly string[];
  /** Metadata of the bucket, shown in it. */
  readonly bucketMetadata?: readonly Reply[];
}

/** Selection of tables: those of a branch or of a bucket, and among these the shown ones; default: all. */
export interface TableListing {
  readonly branchId: number;
  readonly bucketId?: string | undefined;
  readonly isShown?: (table: TableRef) => boolean;
}

/** Bytes of the cache for all lists of tables together: some lists of five thousand tables with all their parts. */
const KEPT_BYTES = 32 * 1024 * 1024;

const keptOf = new WeakMap<Meta, PageCache>();

/**
 * Lists tables by id with the parts that are asked for: items of a list as JSON, some at a time. Tables without a
 * change since the last list come from the cache.
 */
export async function* listTables(
  meta: Meta,
  { branchId, bucketId, isShown }: TableListing,
  view: Omit<TableView, 'bucketMetadata'>,
): AsyncGenerator<Buffer> {
  const kept = keptOf.get(meta) ?? new PageCache(KEPT_BYTES);
  keptOf.set(meta, kept);
  const refs = await listTableRefs(meta, branchId, bucketId);
  const pages = tablePages(refs, isShown);
  const stampOf = await stampsOf(meta, branchId, refs);
  const buckets = await bucketTexts(meta, pages, view);
  const shown = [view.origin, ...new Set(view.include)].join(' ');
  for (const page of pages) {
    const name = [branchId, page.first, page.last, page.refs.length, shown].join(' ');
    const madeOf = madeOfText(page, stampOf, buckets);
    const items = await kept.page({ name, madeOf }, async () =>
      (await textsOf(meta, page, { ...view, buckets })).join(','),
    );
    yield items;
  }
}

/** Returns everything that the text of a page depends on, apart from the parts asked for. */
function madeOfText(
  { refs }: TablePage<StampedRef>,
  stampOf: (table: StampedRef) => string | undefined,
  buckets: ReadonlyMap<string, string>,
): string | undefined {
  const ids = new Set(refs.map(({ bucket_id }) => bucket_id));
  const parts = [...refs.map(stampOf), ...[...ids].map((id) => buckets.get(id) ?? '')];
  return parts.includes(undefined) ? undefined : parts.join('\n');
}

/** Lists tables by id with the parts that are asked for, each as JSON, some at a time. */
export async function* listTableTexts(
  meta: Meta,
  { branchId, bucketId, isShown }: TableListing,
  view: TableView,
): AsyncGenerator<readonly string[]> {
  const refs = await listTableRefs(meta, branchId, bucketId);
  yield* tableTexts(meta, tablePages(refs, isShown), view);
}

/** Lists tables that are known, each as JSON, some at a time. */
export async function* tableTexts(
  meta: Meta,
  pages: readonly TablePage[],
  view: TableView,
): AsyncGenerator<readonly string[]> {
  const buckets = await bucketTexts(meta, pages, view);
  for (const page of pages) yield await textsOf(meta, page, { ...view, buckets });
}

async function textsOf(
  meta: Meta,
  page: TablePage,
  { origin, include, buckets }: TableView & { readonly buckets: ReadonlyMap<string, string> },
): Promise<readonly string[]> {
  const has = (part: string): boolean => include.includes(part);
  const [own, columns, ofTables, ofColumns] = await Promise.all([
    ownTexts(meta, page),
    has('columns') ? columnTexts(meta, page) : undefined,
    has('metadata') ? metadataTexts(meta, page) : undefined,
    has('columnMetadata') ? columnMetadataTexts(meta, page) : undefined,
  ]);
  const shown = page.refs.flatMap(({ id }) => own.get(id) ?? []);
  const isTyped = columns !== undefined && shown.some(({ is_typed }) => is_typed === 1);
  const definitions = isTyped ? await definitionTexts(meta, page) : undefined;
  const aliasIds = shown.flatMap(({ id, alias_source }) => (alias_source === null ? [] : [id]));
  const aliases = await aliasTexts(meta, page.branchId, aliasIds, { origin, include });
  return page.refs.flatMap(({ id, bucket_id }) => {
    const table = own.get(id);
    if (table === undefined) return [];
    let text = aliases.get(id);
    if (text === undefined) {
      text = `{"uri":${JSON.stringify(`${origin}/v2/storage/tables/${id}`)},${table.fields}`;
      if (columns !== undefined) text += `,"columns":[${columns.get(id) ?? ''}],"attributes":[]`;
      if (columns !== undefined && table.is_typed === 1)
        text += `,"definition":{"primaryKeysNames":${table.primary_key},"columns":[${definitions?.get(id) ?? ''}]}`;
    }
    if (ofTables !== undefined) text += `,"metadata":${ofTables.get(id) ?? '[]'}`;
    // An empty list when there is none, as the public API has it.
    if (ofColumns !== undefined) text += `,"columnMetadata":${ofColumns.get(id) ?? '[]'}`;
    const bucket = buckets.get(bucket_id);
    return bucket === undefined ? [`${text}}`] : [`${text},"bucket":${bucket}}`];
  });
}

/** Reads the buckets of tables as their tables show them. */
async function bucketTexts(
  meta: Meta,
  pages: readonly TablePage[],
  { origin, include, bucketMetadata }: TableView,
): Promise<ReadonlyMap<string, string>> {
  const [first] = pages;
  const isAsked = include.includes('buckets') || include.includes('bucketsWithoutSourceTables');
  if (first === undefined || !isAsked) return new Map();
  const buckets = await listBuckets(meta, first.branchId);
  return new Map(
    buckets.map((bucket) => {
      const shown = bucketWithoutTables(bucket, origin);
      return [
        bucket.id,
        encodeReply(bucketMetadata === undefined ? shown : { ...shown, metadata: bucketMetadata }),
      ];
    }),
  );
}

/** Collects all items of a list that is not long, as one answer or a part of it. */
export async function collected(pages: AsyncIterable<readonly string[]>): Promise<RawJson[]> {
  const all: RawJson[] = [];
  for await (const texts of pages) for (const text of texts) all.push(new RawJson(text));
  return all;
}
