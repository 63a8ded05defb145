import type { OwnSigns } from '../shared/completeness-signs.ts';
import {
  compilePath,
  entriesOf,
  getKey,
  isList,
  isObject,
  isScalar,
  keysOf,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import { MOST_ALIKE, type Traits } from '../shared/paginator-capabilities.ts';
import { decodedRows, type SeenRows } from '../shared/seen-rows.ts';
import { errorAmongRows } from './error-row.ts';
import { announcedSigns } from './announced.ts';
import { askedSizes, type AskedRequest } from './asked-sizes.ts';
import { FileWatch } from './file-watch.ts';
import { errorOf, MAX_NAMES, NO_HISTORY, saysNoRows, withPage, withRows, type History } from './history.ts';
import { Identity, type PageIdentity } from './identity.ts';
import { judge, type MissedRows, type NearMiss } from './judge.ts';
import { pagesLeft } from './pages-left.ts';
import { isEntity, readSigns, type SeenPage } from './read-signs.ts';
import type { EndedRun } from './report.ts';
import type { Sign } from './sign.ts';
import { isSet, shown } from './values.ts';

export interface WitnessedPage extends SeenPage {
  /** From 1. */
  readonly page: number;
  readonly asked: Omit<AskedRequest, 'rowsAt'>;
  /** The rows are made of what is in the answer, such as the values of an object. */
  readonly isMade?: boolean;
  readonly status: number;
  /** Digest of the body. */
  readonly digest?: string;
  /** The rows are those of a file, such as JSON lines. */
  readonly isStream?: boolean;
  /** Names of the columns of a file. */
  readonly header?: readonly string[] | undefined;
  /** The configuration takes the answer as empty, whatever is in it. */
  readonly isTakenAsEmpty: boolean;
  /** The page ends the job and is not written. */
  readonly isDropped: boolean;
  readonly repeats: number | undefined;
  /** The path at which rows were looked for in vain, and another one at which the answer has some. */
  readonly missed?: NearMiss | undefined;
}

/** Pages in a row that bring nothing: rows that came before, or errors. */
export interface Circle {
  readonly are: 'known' | 'errors';
  readonly from: number;
  readonly to: number;
}

/** Facts about the run that the tracker may use. */
export interface WitnessOptions {
  /** Paths of the primary key in a row; empty if it is unknown. */
  readonly key?: readonly Path[];
  /** The job runs once: no other run of it shows that its pagination leads on. */
  readonly isAlone?: boolean;
}

/** Sees the pages of one run of a job as they come, and says in the end whether they were all. Bounded memory. */
export class Witness {
  readonly #traits: Traits;
  readonly #own: OwnSigns;
  readonly #identity: Identity | undefined;
  readonly #hasKey: boolean;
  readonly #isAlone: boolean;
  #history: History = NO_HISTORY;
  #envelope: Json = null;
  #page: PageIdentity | undefined;
  /** Names in the first of all rows. */
  #names: readonly string[] | undefined;
  /** The first error among the rows. */
  #stray: History['error'];
  /** The first error, if what has rows has them in a list. */
  #instead: History['error'];
  /** The first answer has no list, and no word about it. */
  #lacksList = false;
  #isStream = false;
  readonly #files = new Map<string, number>();
  #file: FileWatch | undefined;
  /** The first page that has the names of its columns as a row. */
  #headerAgain: number | undefined;
  /** The first page that has rows at another path than the one of the rows. */
  #missed: MissedRows | undefined;
  #announced: readonly Sign[] = [];

  constructor(traits: Traits, own: OwnSigns, { key = [], isAlone = false }: WitnessOptions = {}) {
    this.#traits = traits;
    this.#own = own;
    this.#hasKey = key.length > 0;
    this.#isAlone = isAlone;
    this.#identity = traits.kind === 'none' ? undefined : new Identity(key);
  }

  /** Adds what the rows of the last page show. The next page does so, too. */
  settle(): void {
    this.#endFile();
    const page = this.#page;
    if (page === undefined || this.#identity === undefined) return;
    this.#history = withRows(this.#history, page.facts(), page.page, this.#identity.isKnown);
    this.#page = undefined;
  }

  /**
   * Takes a page; called once for each, in order, before its rows are decoded.
   *
   * @returns what so many pages in a row are that the API goes in a circle
   */
  see(seen: WitnessedPage): Circle | undefined {
    this.settle();
    const { page, asked, rows, rowsAt, envelope, status, isDropped, repeats, isSingle, isTakenAsEmpty } =
      seen;
    const { url } = asked.wire;
    const { hadList } = this.#history;
    this.#envelope = envelope;
    const isMissing = rows === 0 && rowsAt === undefined;
    if (seen.missed !== undefined && status < 400 && !isTakenAsEmpty)
      this.#missed ??= { ...seen.missed, page };
    // an error status whose body is to be data is what the user asked for
    const signs: Sign[] = readSigns({ ...seen, followsLists: hadList }, this.#own).filter(
      ({ kind }) => status < 400 || (kind !== 'error' && kind !== 'message'),
    );
    if (status === 206) signs.push(...partSigns(seen));
    // nobody asked whether anything has changed: the body was left out
    if (status === 304 && !isTakenAsEmpty && !hasCondition(asked.wire.headers)) signs.push(NOT_SENT);
    if (isMissing && status < 400 && !isTakenAsEmpty) signs.push(...strangeSigns(seen, this.#history.around));
    if (status === 202 && rows === 0 && !isTakenAsEmpty && (hadList || asked.wire.method === 'GET'))
      signs.push(NOT_READY);
    const isNumbered =
      page > 1 &&
      !this.#history.isNumbered &&
      hasNumber(url, [page - 1, page, this.#history.rows, this.#history.rows + 1]);
    this.#history = withPage(
      this.#history,
      {
        page,
        rows,
        signs: signs.filter(({ path }) => !this.#own.not.includes(path)),
        around: namesOf(seen),
        isSingle,
        isList: rowsAt !== undefined && !isSingle && seen.isMade !== true,
        isWhole: rowsAt?.length === 0,
        isErrorStatus: status >= 400,
        isMissing,
        asked: this.#history.first === undefined ? askedSizes({ ...asked, rowsAt }) : [],
        isPartOfBatch: isPartOfBatch(envelope),
        isNumbered,
        isDropped,
        repeats: repeats ?? this.#sameFile(seen),
      },
      this.#traits,
    );
    if (page === 1) this.#lacksList = isMissing && status < 300 && !isTakenAsEmpty && isSilent(envelope);
    this.#isStream = seen.isStream === true;
    this.#file = seen.header === undefined ? undefined : new FileWatch(seen.header);
    if (!hadList && (isSingle || isMissing)) this.#instead ??= this.#errorInstead(seen);
    this.#page = isDropped ? undefined : this.#identity?.page(page);
    const { alike, broken } = this.#history;
    if (broken >= MOST_ALIKE) return { are: 'errors', from: page - broken + 1, to: page };
    return alike >= MOST_ALIKE ? { are: 'known', from: page - alike, to: page - 1 } : undefined;
  }

  /** The next page may show that the API goes in a circle, whatever the rows of the last one are, which may be awaited. */
  get isNearCircle(): boolean {
    const { alike, broken } = this.#history;
    const awaited = this.#page === undefined ? 0 : 1;
    return Math.max(alike + awaited, broken) >= MOST_ALIKE - 1;
  }

  /** Takes rows of the last page, decoded, in order, each once. */
  take(rows: readonly Json[]): void {
    this.#stray ??= this.#strayIn(rows);
    this.#page?.take(decodedRows(rows));
    this.#file?.take(rows);
  }

  /** Takes rows of the last page that were not decoded, in order, each once. */
  takeSeen(rows: SeenRows): void {
    const [name] = this.#names ?? [];
    const unnamed = name === undefined ? undefined : rows.without?.(name);
    if (unnamed === undefined || this.#file !== undefined) {
      this.take(Array.from({ length: rows.length }, (_, i) => rows.at(i)));
      return;
    }
    for (const row of unnamed) this.#stray ??= this.#strayIn([rows.at(row)]);
    this.#page?.take(rows);
  }

  /** Names of the properties that are looked at in rows that are not decoded. */
  wanted(): readonly string[] {
    return [...(this.#names ?? []).slice(0, 1), ...(this.#identity?.wanted() ?? [])];
  }

  /** Takes an answer of an export that led to its files. */
  announce(answer: Json): void {
    this.#announced = [...this.#announced, ...announcedSigns(answer, this.#own)];
  }

  /** A page had a list, with rows or without. */
  get hadList(): boolean {
    return this.#history.hadList;
  }

  /** A page had a list without rows. */
  get hadEmptyList(): boolean {
    return this.#history.hadEmptyList;
  }

  /** Returns an earlier file of an export with the same rows. */
  #sameFile({ page, rows, digest }: WitnessedPage): number | undefined {
    if (this.#traits.kind !== 'none' || digest === undefined || rows < 2) return undefined;
    const before = this.#files.get(digest);
    if (before === undefined && this.#files.size < MOST_FILES) this.#files.set(digest, page);
    return before;
  }

  /** Returns the error that a page without a list would be, after one with a list. */
  #errorInstead(seen: WitnessedPage): History['error'] {
    const { last } = this.#history;
    if (last === undefined || last.isErrorStatus) return undefined;
    const signs = readSigns({ ...seen, followsLists: true }, this.#own);
    return errorOf({ ...last, signs: signs.filter(({ path }) => !this.#own.not.includes(path)) }, true);
  }

  /** Returns an error that came as a row, among rows that have other names. */
  #strayIn(rows: readonly Json[]): History['error'] {
    const { last, hadList } = this.#history;
    if (last === undefined || last.isErrorStatus) return undefined;
    for (const row of rows) {
      if (!isObject(row)) continue;
      const names = this.#names;
      this.#names ??= keysOf(row).slice(0, MAX_NAMES);
      if (names?.some((name) => getKey(row, name) !== undefined) === true) continue;
      const found = errorAmongRows(row, last.rows === 1);
      const error = found && { page: last.page, path: found.path, text: found.text, isRow: true as const };
      if (names === undefined) {
        if (last.isSingle) this.#instead ??= error;
        // a file has no other place for an error
        if (error !== undefined && this.#isStream && last.rows === 1 && !isSet(getKey(row, 'id') ?? null))
          return error;
        continue;
      }
      if (error !== undefined) return error;
      // what is a list in PHP, and has lost a row
      if (last.isSingle && hadList && keysOf(row).every((name) => /^\d+$/.test(name)))
        return { page: last.page, path: '.', text: 'an object of numbered rows', isRow: true };
    }
    return undefined;
  }

  /** Pages that are still to come by what the answers say so far; undefined when they do not say it. */
  pagesLeft(): number | undefined {
    return pagesLeft(this.#history, this.#traits);
  }

  /**
   * @param nearMiss the path of a response that was probably meant by one that was looked for in vain
   * @param others whether other runs of the job had pages with lists, and with lists without rows
   */
  end(
    reason: Reason,
    nearMiss: (path: string, envelope: Json) => string | undefined,
    others: { readonly hadList: boolean; readonly hadEmptyList: boolean } = NO_OTHERS,
  ): Omit<EndedRun, 'request'> {
    this.settle();
    const error =
      this.#history.error ??
      this.#stray ??
      (others.hadList ? this.#instead : undefined) ??
      // where nothing is an empty list, nothing at all is something else
      (others.hadEmptyList && this.#lacksList ? NO_LIST : undefined);
    this.#history = { ...this.#history, error };
    const { pages, rows, twice } = this.#history;
    return {
      reason,
      judgement: judge(reason, this.#history, this.#traits, {
        near: this.#near(reason, nearMiss),
        hasKey: this.#hasKey,
        isAlone: this.#isAlone,
        announced: this.#announced,
        headerAgain: this.#headerAgain,
        missed: this.#missed,
      }),
      pages,
      rows,
      rowsTwice: twice?.rows ?? 0,
    };
  }

  #near(
    reason: Reason,
    nearMiss: (path: string, envelope: Json) => string | undefined,
  ): NearMiss | undefined {
    const looked =
      reason.code === 'noValue' || reason.code === 'noLink'
        ? reason.path
        : reason.code === 'flag' && reason.value === undefined
          ? reason.field
          : reason.code === 'total' && !reason.found
            ? reason.field
            : undefined;
    if (looked === undefined || this.#history.pages > 1) return undefined;
    const near = nearMiss(looked, this.#envelope);
    if (near === undefined) return undefined;
    if (reason.code !== 'noValue' && reason.code !== 'noLink') return { looked, near };
    const value = compilePath(near).find(this.#envelope);
    return value === undefined || !isSet(value) ? undefined : { looked, near };
  }

  #endFile(): void {
    const { last } = this.#history;
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined || last === undefined) return;
    const text = file.error;
    if (text !== undefined) this.#stray ??= { page: last.page, path: '.', text, isRow: true };
    if (file.hasHeaderAgain) this.#headerAgain ??= last.page;
  }
}

const NO_OTHERS = { hadList: false, hadEmptyList: false };
const NO_LIST = { page: 1, path: '.', text: 'no list, where other answers without rows have an empty one' };

/** An object that is no thing, and has no words about the end or about nothing being there. */
function isSilent(envelope: Json): boolean {
  if (!isObject(envelope) || isEntity(envelope)) return false;
  return !entriesOf(envelope).some(([, value]) => typeof value === 'string' && saysNoRows(value));
}

/** Files of an export that are remembered. */
const MOST_FILES = 10_000;

/** Signal of an answer whose content is not ready. */
const NOT_READY: Sign = {
  kind: 'error',
  path: 'status 202',
  strength: 'strong',
  text: 'accepted, and not done yet',
};

/** The answer is one without a body. */
const NOT_SENT: Sign = {
  kind: 'error',
  path: 'status 304',
  strength: 'strong',
  text: 'not modified, although nothing was asked about it',
};

function hasCondition(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => /^if-/i.test(name));
}

/** Returns the names at the root of an answer, including that of the rows. */
function namesOf({ envelope, rowsAt }: SeenPage): readonly string[] {
  const names = isObject(envelope) ? keysOf(envelope) : [];
  return rowsAt?.[0] === undefined || names.includes(rowsAt[0]) ? names : [rowsAt[0], ...names];
}

/**
 * Signs of an answer that has no place of rows and is of another kind: a text, or an object without any name of those
 * that had rows. Where nothing is left, APIs leave out the list, or give an empty object or a word about it.
 */
function strangeSigns({ envelope }: SeenPage, around: readonly string[] | undefined): readonly Sign[] {
  const texts = (isObject(envelope) ? entriesOf(envelope) : [['.', envelope] as const]).filter(([, value]) =>
    isSet(value),
  );
  const [first] = texts;
  if (first === undefined || isList(envelope)) return [];
  if (isObject(envelope) && (around === undefined || keysOf(envelope).some((name) => around.includes(name))))
    return [];
  if (texts.some(([, value]) => typeof value === 'string' && saysNoRows(value))) return [];
  const [path, value] = first;
  return [{ kind: 'error', path, strength: 'strong', text: isScalar(value) ? shown(value) : 'no list' }];
}

/** Signs of an answer with the status 206, which says that it is a part of something. */
function partSigns({ asked, headers, isTakenAsEmpty }: WitnessedPage): readonly Sign[] {
  if (isTakenAsEmpty) return [];
  const range = headers['content-range'];
  if (Object.keys(asked.wire.headers).some((name) => name.toLowerCase() === 'range')) return [];
  // some APIs give it with every page but the last
  if (range === undefined) return [{ kind: 'more', path: 'status 206', strength: 'plain' }];
  const [, from, to, of] = /^\s*bytes\s+(\d+)-(\d+)\/(\d+|\*)\s*$/i.exec(range) ?? [];
  const isWhole = from === '0' && of !== undefined && Number(to) + 1 === Number(of);
  return from === undefined || isWhole
    ? []
    : [{ kind: 'partial', path: 'header content-range', strength: 'strong' }];
}

/**
 * Tells whether an answer is part of a batch: MediaWiki gives the properties of a batch of rows in parts, with the same
 * rows until it is complete.
 */
function isPartOfBatch(envelope: Json): boolean {
  if (!isObject(envelope) || getKey(envelope, 'batchcomplete') !== undefined) return false;
  const on = getKey(envelope, 'continue');
  return isObject(on) && typeof getKey(on, 'continue') === 'string';
}

/** Tells whether the query has a parameter that counts pages or rows. */
function hasNumber(url: string, numbers: readonly number[]): boolean {
  if (!MAY_HAVE_NUMBER.test(url) || !URL.canParse(url)) return false;
  for (const [name, value] of new URL(url).searchParams) {
    if (
      /page|offset|skip|start|from|^p$/i.test(name) &&
      /^\d+$/.test(value) &&
      numbers.includes(Number(value))
    )
      return true;
  }
  return false;
}

/** To parse the address of every page takes longer than all else that is seen of it. */
const MAY_HAVE_NUMBER = /=[\d%]/;
