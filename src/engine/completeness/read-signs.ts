import type { OwnSigns } from '../shared/completeness-signs.ts';
import {
  entriesOf,
  getKey,
  isList,
  isObject,
  keysOf,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { remember } from '../../lib/remember.ts';
import { meaningsOf } from './classify.ts';
import { errorOfRow, isErrorInPlaceOfList } from './error-row.ts';
import { readHeaders } from './headers.ts';
import { canonical } from './names.ts';
import type { Sign } from './sign.ts';
import { ENTITY_NAMES, SIZE_NAMES, VAGUE } from './signs.ts';
import { isSet, linkSign, signsOf } from './values.ts';

/** Visible parts of a page: all of it came with the answer. */
export interface SeenPage {
  /** The response without its rows. */
  readonly envelope: Json;
  /** Keys of the place of the rows; undefined where they are at several, or nowhere. */
  readonly rowsAt: readonly string[] | undefined;
  readonly rows: number;
  /** The rows are one object, and no list. */
  readonly isSingle: boolean;
  /** Pages before it had a list in that place. */
  readonly followsLists?: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Reads all signals about pages in the answer, outside the rows. */
export function readSigns(page: SeenPage, own: OwnSigns): readonly Sign[] {
  const signs: Sign[] = [...readHeaders(page.headers)];
  const isRow = page.isSingle && page.followsLists !== true;
  if (isObject(page.envelope) && !(isRow && isEntity(page.envelope))) {
    const reader = new Reader(page, own, signs);
    reader.object(page.envelope, '', 0, page.rowsAt);
  }
  const kept = own.not.length === 0 ? signs : signs.filter(({ path }) => !own.not.includes(path));
  const isErrorAlone = page.rowsAt?.length === 0 && errorOfRow(page.envelope) !== undefined;
  // A whole object as the row: it is no page of a list, whatever its numbers are called.
  return isRow && !isErrorAlone ? kept.filter(({ kind }) => SAID_OF_SINGLE.has(kind)) : kept;
}

/** Signals for the position of a page; inside `next` they are about the next one. */
const PLACES = new Set<string>(['page', 'offset', 'position']);
const OF_ANOTHER_PAGE = /(?:^|[._])(?:next|prev|previous|first|last)(?:_?page)?\./i;
const SAID_OF_SINGLE = new Set<string>(['more', 'next', 'partial', 'end', 'noNext']);
const MAX_DEPTH = 5;
const MAX_NAMES = 500;

class Reader {
  readonly #page: SeenPage;
  readonly #own: OwnTopics;
  readonly #signs: Sign[];
  #names = 0;

  constructor(page: SeenPage, own: OwnSigns, signs: Sign[]) {
    this.#page = page;
    this.#signs = signs;
    this.#own = topicsOf(own);
  }

  /** @param toRows keys from here to the rows; undefined beside the way there */
  object(node: AnyObject, prefix: string, depth: number, toRows: readonly string[] | undefined): void {
    if (depth > MAX_DEPTH) return;
    const isThing = isEntity(node);
    const isVague = keysOf(node).some((name) => hasVagueWord(name) && isSet(getKey(node, name) ?? null));
    for (const name of keysOf(node)) {
      const value = getKey(node, name) ?? null;
      if (++this.#names > MAX_NAMES) return;
      const path = `${prefix}${name}`;
      const own = this.#own.get(path);
      if (own !== undefined) this.#signs.push(...signsOf([{ topic: own, strength: 'strong' }], value, path));
      const isWay = toRows !== undefined && toRows[0] === name;
      if (isWay && toRows.length === 1) {
        if (this.#page.isSingle) {
          if (this.#page.followsLists === true && isObject(value) && isErrorInPlaceOfList(value))
            this.object(value, `${path}.`, depth + 1, undefined);
          continue;
        }
        const [meaning] = meaningsOf(name);
        if (meaning?.topic === 'error' && this.#page.rows > 0)
          this.#signs.push({ kind: 'error', path, strength: 'strong', text: 'it is taken for the rows' });
        continue;
      }
      if (own === undefined) this.#named(name, value, path, { isThing, isVague, node });
      // the only link of an XML document is no list
      if (isObject(value) && getKey(value, '@rel') !== undefined)
        this.#signs.push(...linkSign(name, [value], path));
      if (isObject(value)) this.#below(value, name, path, depth, isWay ? toRows.slice(1) : undefined);
      else if (isList(value)) this.#signs.push(...linkSign(name, value, path));
    }
  }

  #named(
    name: string,
    value: Json,
    path: string,
    { isThing, isVague, node }: { isThing: boolean; isVague: boolean; node: AnyObject },
  ): void {
    for (const sign of signsOf(this.#meanings(name, node), value, path)) {
      const isOfThing = isThing && !(this.#isInPlaceOfList && sign.kind === 'error');
      if (isOfThing && sign.kind !== 'next' && sign.kind !== 'more') continue;
      if (PLACES.has(sign.kind) && OF_ANOTHER_PAGE.test(path)) continue;
      // a few words and nothing else: on a page of rows a message is a greeting
      if (sign.kind === 'message' && (path.includes('.') || sizeOf(node) > 4)) continue;
      if (sign.kind === 'total' && (isVague || hasVagueWord(name))) continue;
      this.#signs.push(sign);
    }
  }

  /** A list was there before, and now is not. */
  get #isInPlaceOfList(): boolean {
    const { followsLists, isSingle, rowsAt } = this.#page;
    return followsLists === true && (isSingle || rowsAt === undefined);
  }

  /** Returns the meanings of a name; `total_users` is a total if the rows are `users`. */
  #meanings(name: string, node: AnyObject): ReturnType<typeof meaningsOf> {
    const meanings = meaningsOf(name);
    const key = canonical(name);
    const list = this.#page.rowsAt?.at(-1);
    if (meanings.length === 0 && list !== undefined && COUNTS.test(key)) {
      const rows = canonical(list);
      if ([`total_${rows}`, `${rows}_total`, `num_${rows}`, `number_of_${rows}`].includes(key))
        return [{ topic: 'total', strength: 'strong' }];
      if (key === `${rows}_count` || key === `${rows.replace(/s$/, '')}_count`)
        return [{ topic: 'total', strength: 'weak' }];
    }
    // `size` is the number of all rows where the size of a page has another name
    if (key === 'size' && isAboveSize(node, name)) return [{ topic: 'total', strength: 'weak' }];
    // `number` is a page where a number of pages stands beside it, and nothing else anywhere
    return key === 'number' && !keysOf(node).some((other) => meaningsOf(other)[0]?.topic === 'pages')
      ? []
      : meanings;
  }

  /** Reads an object below; a part with another list is about that list, and is skipped. */
  #below(
    value: AnyObject,
    name: string,
    path: string,
    depth: number,
    toRows: readonly string[] | undefined,
  ): void {
    const key = canonical(name);
    if (key === 'shards' && isSet(getKey(value, 'failed') ?? null))
      this.#signs.push({ kind: 'partial', path: `${path}.failed`, strength: 'strong' });
    if (key === 'cursors' || SKIPPED.has(key)) return;
    if (this.#page.rowsAt !== undefined && toRows === undefined && holdsRows(value)) return;
    this.object(value, `${path}.`, depth + 1, toRows);
  }
}

/** Parts of names that count the rows by the name of those. */
const COUNTS = /total|num|count/;

type OwnTopics = ReadonlyMap<string, 'total' | 'pages' | 'next' | 'more' | 'end'>;

/** Returns the topics of the paths that a user configured; the same for all pages. */
function topicsOf(own: OwnSigns): OwnTopics {
  let topics = TOPICS.get(own);
  if (topics === undefined) {
    const { total, pages, next, more, end } = own;
    topics = new Map(
      Object.entries({ total, pages, next, more, end }).flatMap(([topic, paths]) =>
        // the keys of the literal above
        paths.map((path) => [path, topic as 'total' | 'pages' | 'next' | 'more' | 'end'] as const),
      ),
    );
    TOPICS.set(own, topics);
  }
  return topics;
}

const TOPICS = new WeakMap<OwnSigns, OwnTopics>();

/** Limits of use, and what was asked for, say nothing of pages. */
const SKIPPED = new Set([
  'rate_limit',
  'ratelimit',
  'rate_limits',
  'quota',
  'query',
  'request',
  'facets',
  'aggregations',
  'params',
  'filters',
  'filter',
  'shards',
]);

const OTHER_SIZES = new Set(SIZE_NAMES.filter((name) => name !== 'size'));

/** Tells whether a number is above the size of a page beside it. */
function isAboveSize(node: AnyObject, name: string): boolean {
  const [value] = signsOf([{ topic: 'size', strength: 'plain' }], getKey(node, name) ?? null, name);
  return entriesOf(node).some(([key, item]) => {
    if (!OTHER_SIZES.has(canonical(key))) return false;
    const [size] = signsOf([{ topic: 'size', strength: 'plain' }], item, key);
    return value?.kind === 'size' && size?.kind === 'size' && value.value > size.value;
  });
}

const ENTITY = new Set(ENTITY_NAMES);

/** An object with an id or a price: it is a thing, and no page of a list. */
export function isEntity(node: AnyObject): boolean {
  return entriesOf(node).some(
    ([name, value]) =>
      ENTITY.has(canonical(name)) &&
      // in JSON-LD a list has one, too
      name !== '@id' &&
      !isObject(value) &&
      !isList(value) &&
      !isRpc(node),
  );
}

/** Tells whether an object is an answer of JSON-RPC, whose `id` is that of the request. */
function isRpc(node: AnyObject): boolean {
  return getKey(node, 'jsonrpc') !== undefined;
}

const hasVagueWord = remember((name) =>
  canonical(name)
    .split('_')
    .some((word) => VAGUE.includes(word)),
);

/** Tells whether a value is a list of objects that are no links. */
function holdsRows(node: AnyObject): boolean {
  return entriesOf(node).some(
    ([name, value]) =>
      isList(value) &&
      value.some((item) => isObject(item)) &&
      !/links?$/i.test(name) &&
      !/error|warning/i.test(name),
  );
}
