import { rowsOf, type Answered, type Api, type Asked } from '../apis.ts';

/** An API of a style that real ones have, and a list in it. */
export interface Server {
  readonly name: string;
  /** Path of the list; or a curl command, in which `ORIGIN` stands for the API. */
  readonly ask: string;
  /** Rows of the list. */
  readonly rows: number;
  readonly api: Api;
  /** The most that can be said of it: that it is not known whether these are all. */
  readonly isOpen?: true;
  /** Texts that the finding or the configuration must have, beside the rows. */
  readonly says?: readonly string[];
}

/** Rows with a mark of their own each, which a table has once for each row: `R0001.`. */
export const marked = (count: number): { id: number; name: string; updated_at: string }[] =>
  rowsOf(count).map((row, i) => ({
    id: i + 1,
    name: markOf(i),
    updated_at: row.updated_at,
  }));

export const markOf = (index: number): string => `R${String(index + 1).padStart(4, '0')}.`;

/** A whole number of the query. */
export const int = ({ query }: Asked, name: string, otherwise: number): number => {
  const text = query.get(name);
  return text === null || !/^\d+$/.test(text) ? otherwise : Number(text);
};

export const cut = <T>(rows: readonly T[], from: number, size: number): T[] =>
  rows.slice(Math.max(0, from), Math.max(0, from) + size);

/** An API that answers 400 for parameters that it does not know. */
export const strict =
  (known: string, api: Api): Api =>
  (asked) =>
    [...asked.query.keys()].every((name) => known.split(' ').includes(name))
      ? api(asked)
      : { status: 400, body: { error: 'unknown parameter' } };

/** A token that says nothing by its look. */
export const token = (index: number): string => Buffer.from(`c:${index}`).toString('base64url');
export const placeOf = (text: unknown): number =>
  typeof text === 'string' && text !== '' ? Number(Buffer.from(text, 'base64url').toString().slice(2)) : 0;

export const link = (asked: Asked, changes: Readonly<Record<string, string | number>>): string => {
  const query = new URLSearchParams(asked.query);
  for (const [name, value] of Object.entries(changes)) query.set(name, String(value));
  return `${asked.origin}${asked.path}?${query.toString()}`;
};

/** An answer that is no JSON. */
export const text = (type: string, body: string): Answered => ({ headers: { 'content-type': type }, body });

export const json = (body: unknown, headers: Readonly<Record<string, string>> = {}): Answered => ({
  headers,
  body,
});
