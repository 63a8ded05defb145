import type { TableRow } from '../../stores/metadata/tables.ts';
import { afterPrefix } from '../../stores/metadata/metadata.ts';

/** Table of a list, before it is read. */
export type TableRef = Pick<TableRow, 'branch_id' | 'bucket_id' | 'id'>;

/** Tables that follow each other in a list, with the range of ids that has everything of theirs. */
export interface TablePage<Ref extends TableRef = TableRef> {
  readonly branchId: number;
  readonly refs: readonly Ref[];
  readonly first: string;
  readonly last: string;
  /** Range of the ids of their columns: the first, and the first behind the last. */
  readonly columns: readonly [first: string, after: string];
}

/** Tables that are read at once, without keeping other requests waiting for long. */
const TABLES_AT_ONCE = 250;
/** One in so many tables begins a page, wherever it stands in the list. */
const BEGINNING_OF = 128;
/** Tables not shown that are read and dropped, instead of one more query. */
const GAP = 50;

/** Divides a list into pages. @param all tables of one branch, by id */
export function tablePages<Ref extends TableRef>(
  all: readonly Ref[],
  isShown: (table: TableRef) => boolean = () => true,
): TablePage<Ref>[] {
  const pages: TablePage<Ref>[] = [];
  let refs: Ref[] = [];
  let hidden = 0;
  for (const ref of all) {
    hidden = isShown(ref) ? 0 : hidden + 1;
    if (refs.length === TABLES_AT_ONCE || hidden > GAP || beginsPage(ref.id)) {
      pages.push(...pageOf(refs));
      refs = [];
    }
    if (hidden === 0) refs.push(ref);
  }
  return [...pages, ...pageOf(refs)];
}

/**
 * Tells whether a table begins a page, by its id alone: so the pages behind a new table stay as they were, and are
 * still found in the cache.
 */
function beginsPage(id: string): boolean {
  let hash = 0;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 15)) & (BEGINNING_OF - 1)) === 0;
}

function pageOf<Ref extends TableRef>(refs: readonly Ref[]): TablePage<Ref>[] {
  const [first] = refs;
  const last = refs.at(-1);
  if (first === undefined || last === undefined) return [];
  // Columns are in another order than their tables: `a-b` is behind `a`, and `a-b.x` before `a.x`.
  const prefixes = refs.map(({ id }) => `${id}.`).toSorted();
  const columns = [prefixes[0] ?? '', afterPrefix(prefixes.at(-1) ?? '')] as const;
  return [{ branchId: first.branch_id, refs, first: first.id, last: last.id, columns }];
}
