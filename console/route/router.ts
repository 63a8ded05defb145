import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { trimEnd } from '../../src/lib/trim.ts';

/** Location of the page: the path below the service's address, and the query. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const base = document.querySelector('meta[name="gex-base"]')?.getAttribute('content') ?? '';
/** Path of the service, without a slash at the end: not empty behind a proxy that puts it below one. */
export const BASE = base.startsWith('%') ? '' : base;

const listeners = new Set<() => void>();
/** Questions that are asked before the page is left; unsaved text stays when one of them refuses. */
const guards = new Set<() => boolean>();

/** Goes to a path of the console, such as `/tables/in.c-main.users`. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if ([...guards].some((mayLeave) => !mayLeave())) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', BASE + to);
  for (const listener of listeners) listener();
}

/** Sets values of the query, and takes away those that are undefined; the place in the history stays the same. */
export function setQuery(values: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = currentPlace();
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined || value === '') query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  history.replaceState(null, '', BASE + path + (text === '' ? '' : `?${text}`));
  for (const listener of listeners) listener();
}

function currentPlace(): Place {
  const { pathname, search } = window.location;
  const path = pathname.startsWith(`${BASE}/`) ? pathname.slice(BASE.length) : pathname;
  return { path: trimEnd(path, '/') || path.slice(0, 1), query: new URLSearchParams(search) };
}

export const PlaceContext = createContext<Place>(currentPlace());

export const usePlace = (): Place => useContext(PlaceContext);

/** Returns the current place, for the shell. */
export function useFollowedPlace(): Place {
  const [place, setPlace] = useState(currentPlace);
  useEffect(() => {
    const follow = (): void => setPlace(currentPlace());
    listeners.add(follow);
    window.addEventListener('popstate', follow);
    return () => {
      listeners.delete(follow);
      window.removeEventListener('popstate', follow);
    };
  }, []);
  return place;
}

/** Asks before the page is left or closed, while something is not saved. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const mayLeave = (): boolean => window.confirm('What you changed is not saved. Leave it?');
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    guards.add(mayLeave);
    window.addEventListener('beforeunload', ask);
    return () => {
      guards.delete(mayLeave);
      window.removeEventListener('beforeunload', ask);
    };
  }, [isUnsaved]);
}

/** Builds a path with every value escaped: at`/tables/${id}`. */
export function at(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return texts.reduce((whole, text, i) => whole + encodeURIComponent(String(values[i - 1] ?? '')) + text);
}

/** Splits a path into its parts, unescaped: `/tables/a%2Fb` is `tables`, `a/b`. */
export function partsOf(path: string): string[] {
  return path
    .split('/')
    .filter((part) => part !== '')
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}
