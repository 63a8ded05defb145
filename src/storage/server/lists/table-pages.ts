import type { TableRow } from '../meta/tables.ts';
import { afterPrefix } from '../meta/metadata.ts';

/** A table of a list, before it is read. */
export type TableRef = Pick<TableRow, 'branch_id' | 'bucket_id' | 'id'>;

/** Some tables that follow each other in a list, and between which ids all of theirs is found. */
export interface TablePage {
  readonly branchId: number;
  readonly refs: readonly TableRef[];
  readonly first: string;
  readonly last: string;
  /** Of what belongs to their columns: the first, and the first that is behind the last. */
  readonly columns: readonly [first: string, after: string];
}

/** Read at once, without keeping other requests waiting for long. */
const TABLES_AT_ONCE = 250;
/** As many that are not shown are read and dropped, instead of asking once more. */
const GAP = 50;

/** @param all tables of one branch, by id */
export function tablePages(
  all: readonly TableRef[],
  isShown: (table: TableRef) => boolean = () => true,
): TablePage[] {
  const pages: TablePage[] = [];
  let refs: TableRef[] = [];
  let hidden = 0;
  for (const ref of all) {
    hidden = isShown(ref) ? 0 : hidden + 1;
    if (refs.length === TABLES_AT_ONCE || hidden > GAP) {
      pages.push(...pageOf(refs));
      refs = [];
    }
    if (hidden === 0) refs.push(ref);
  }
  return [...pages, ...pageOf(refs)];
}

function pageOf(refs: readonly TableRef[]): TablePage[] {
  const [first] = refs;
  const last = refs.at(-1);
  if (first === undefined || last === undefined) return [];
  // Columns are in another order than their tables: `a-b` is behind `a`, and `a-b.x` before `a.x`.
  const prefixes = refs.map(({ id }) => `${id}.`).toSorted();
  const columns = [prefixes[0] ?? '', afterPrefix(prefixes.at(-1) ?? '')] as const;
  return [{ branchId: first.branch_id, refs, first: first.id, last: last.id, columns }];
}
