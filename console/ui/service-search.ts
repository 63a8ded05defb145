import { useEffect, useRef, useState } from 'preact/hooks';
import { setQuery, usePlace } from '../route/router.ts';

/** A search reads the list of the service: not for every letter. */
const REST_MS = 300;

export interface ServiceSearch {
  /** Text that is searched for; the address holds it. */
  readonly search: string;
  /** Text of the field, which may be ahead of that. */
  readonly typed: string;
  readonly onType: (text: string) => void;
}

/** Search of a list that the service searches; another one begins with the first page. */
export function useServiceSearch(): ServiceSearch {
  const search = usePlace().query.get('search') ?? '';
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
  return { search, typed, onType: setTyped };
}
