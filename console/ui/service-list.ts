import { useEffect, useRef, useState } from 'preact/hooks';
import { setQuery, usePlace } from '../route/router.ts';
import type { Sort } from './data-table.tsx';
import { useOffset } from './pager.tsx';

/** A search reads the list of the service: not for every letter. */
const REST_MS = 300;

/** List that the service searches, sorts and gives in parts; the address holds what is seen of it. */
export interface ServiceList<Name extends string> {
  /** Text that is searched for. */
  readonly search: string;
  /** Text of the field, which may be ahead of that. */
  readonly typed: string;
  readonly onType: (text: string) => void;
  readonly sort: Sort | undefined;
  /** Sorts by a column, then the other way round, then no more. */
  readonly onSort: (column: string) => void;
  /** Question for the service. */
  readonly asked: {
    readonly search?: string;
    readonly sort?: Name;
    readonly isReversed?: boolean;
    readonly limit: number;
    readonly offset: number;
  };
}

/**
 * @param size of a part
 * @param columns those by which the service sorts; true for those that begin with the largest
 */
export function useServiceList<Name extends string>(
  size: number,
  columns: Readonly<Record<Name, boolean>>,
): ServiceList<Name> {
  const { query } = usePlace();
  const offset = useOffset();
  const search = query.get('search') ?? '';
  const names = Object.keys(columns) as Name[]; // its own keys
  const column = names.find((name) => name === query.get('sort'));
  const isDown = query.get('down') === '1';
  return {
    search,
    ...useTyped(search),
    sort: column && { column, isDown },
    onSort: (id) =>
      setQuery({
        sort: id === column && isDown ? undefined : id,
        down: id === column && !isDown ? '1' : undefined,
        offset: undefined,
      }),
    asked: {
      ...(search === '' ? {} : { search }),
      ...(column === undefined ? {} : { sort: column, isReversed: isDown !== columns[column] }),
      limit: size,
      offset,
    },
  };
}

/** Puts what is typed into the address when it rests; another search begins with the first part. */
function useTyped(search: string): Pick<ServiceList<string>, 'onType' | 'typed'> {
  const [typed, setTyped] = useState(search);
  const asked = useRef(search);
  // Another place was gone to, such as by the way back.
  useEffect(() => {
    if (search !== asked.current) setTyped(search);
    asked.current = search;
  }, [search]);
  useEffect(() => {
    if (typed === search) return undefined;
    const timer = setTimeout(() => {
      asked.current = typed;
      setQuery({ search: typed, offset: undefined });
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [typed, search]);
  return { typed, onType: setTyped };
}
