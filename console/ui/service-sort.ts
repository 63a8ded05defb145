import { setQuery, usePlace } from '../route/router.ts';
import type { Sort } from './data-table.tsx';

/** Order of a list that the service sorts; the address holds it. */
export interface ServiceSort<Name extends string> {
  /** Column by which it is sorted; undefined for the order of the service. */
  readonly column: Name | undefined;
  /** The other way round than the service sorts by that column. */
  readonly isReversed: boolean;
  readonly sort: Sort | undefined;
  /** Sorts by a column, then the other way round, then no more. */
  readonly onSort: (column: string) => void;
}

/** @param columns those by which the service sorts; true for those that begin with the largest */
export function useServiceSort<Name extends string>(
  columns: Readonly<Record<Name, boolean>>,
): ServiceSort<Name> {
  const { query } = usePlace();
  const names = Object.keys(columns) as Name[]; // its own keys
  const column = names.find((name) => name === query.get('sort'));
  const isDown = query.get('down') === '1';
  return {
    column,
    isReversed: column !== undefined && isDown !== columns[column],
    sort: column && { column, isDown },
    onSort: (id) =>
      setQuery({
        sort: id === column && isDown ? undefined : id,
        down: id === column && !isDown ? '1' : undefined,
        offset: undefined,
      }),
  };
}
