import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useState } from 'preact/hooks';
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

/** Number of the page in the history of the tab: it tells how to undo a step back or forward. */
let index = indexIn(history.state) ?? 0;
history.replaceState({ index }, '');

let isBack = false;

/** Tells whether the page that is shown was come back to, or forth, in the history of the tab. */
export const isReturn = (): boolean => isBack;

const mayLeave = (): boolean => [...guards].every((ask) => ask());

/** Returns the number that a page of the history was given; undefined for an address that someone typed. */
function indexIn(state: unknown): number | undefined {
  const { index: found } = (state ?? {}) as { readonly index?: unknown }; // ours, or of anything
  return typeof found === 'number' ? found : undefined;
}

/** Goes to a path of the console, such as `/tables/in.c-main.users`. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (!mayLeave()) return;
  if (!replace) index += 1;
  isBack = false;
  history[replace ? 'replaceState' : 'pushState']({ index }, '', BASE + to);
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
  history.replaceState({ index }, '', BASE + path + (text === '' ? '' : `?${text}`));
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
    const step = ({ state }: PopStateEvent): void => {
      const next = indexIn(state) ?? index;
      // The browser has left the page already: what was typed is still there, and the address comes back.
      if (next !== index && !mayLeave()) return history.go(index - next);
      isBack = next !== index || isBack;
      index = next;
      follow();
    };
    listeners.add(follow);
    window.addEventListener('popstate', step);
    return () => {
      listeners.delete(follow);
      window.removeEventListener('popstate', step);
    };
  }, []);
  return place;
}

/** Asks before the page is left or closed, while something is not saved. */
export function useUnsaved(isUnsaved: boolean): void {
  // With the page: other effects end after the next paint, and a page that is left would be asked about once more.
  useLayoutEffect(() => {
    if (!isUnsaved) return undefined;
    const ask = (): boolean => window.confirm('What you changed is not saved. Leave it?');
    const hold = (event: BeforeUnloadEvent): void => event.preventDefault();
    guards.add(ask);
    window.addEventListener('beforeunload', hold);
    return () => {
      guards.delete(ask);
      window.removeEventListener('beforeunload', hold);
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
