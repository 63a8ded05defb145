import type { OwnSigns } from '../shared/completeness-signs.ts';
import { compilePath, getKey, isObject, type Json, type Path } from '../../lib/json/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import { MOST_ALIKE, type Traits } from '../shared/paginator-capabilities.ts';
import { askedSizes, type Asked } from './asked-sizes.ts';
import { NO_HISTORY, withPage, withRows, type History } from './history.ts';
import { Identity, type PageIdentity } from './identity.ts';
import { judge, type NearMiss } from './judge.ts';
import { pagesLeft } from './pages-left.ts';
import { readSigns, type SeenPage } from './read-signs.ts';
import type { EndedRun } from './report.ts';
import type { Sign } from './sign.ts';
import { isSet } from './values.ts';

export interface WitnessedPage extends SeenPage {
  /** From 1. */
  readonly page: number;
  readonly asked: Omit<Asked, 'rowsAt'>;
  /** The rows are made of what is in the answer, such as the values of an object. */
  readonly isMade?: boolean;
  readonly status: number;
  /** The configuration takes the answer as empty, whatever is in it. */
  readonly isTakenAsEmpty: boolean;
  /** The page ends the job and is not written. */
  readonly isDropped: boolean;
  readonly repeats: number | undefined;
}

/** Pages in a row that bring nothing: rows that came before, or errors. */
export interface Circle {
  readonly are: 'known' | 'errors';
  readonly from: number;
  readonly to: number;
}

/** What a witness may know of the run. */
export interface WitnessOptions {
  /** Where the primary key is in a row; empty where none is known. */
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

  constructor(traits: Traits, own: OwnSigns, { key = [], isAlone = false }: WitnessOptions = {}) {
    this.#traits = traits;
    this.#own = own;
    this.#hasKey = key.length > 0;
    this.#isAlone = isAlone;
    this.#identity = traits.kind === 'none' ? undefined : new Identity(key);
  }

  /**
   * A page came. To be called once for each, in order, before its rows are decoded.
   *
   * @returns what so many pages in a row are that the API goes in a circle
   */
  see(seen: WitnessedPage): Circle | undefined {
    this.#settle();
    const { page, asked, rows, rowsAt, envelope, status, isDropped, repeats, isSingle, isTakenAsEmpty } =
      seen;
    const { url } = asked.wire;
    const { hadList } = this.#history;
    this.#envelope = envelope;
    const isMissing = rows === 0 && rowsAt === undefined;
    // an error status whose body is to be data is what the user asked for
    const signs: Sign[] = readSigns({ ...seen, followsLists: hadList }, this.#own).filter(
      ({ kind }) => status < 400 || (kind !== 'error' && kind !== 'message'),
    );
    if (status === 206) signs.push(...partSigns(seen));
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
        isSingle,
        isList: rowsAt !== undefined && !isSingle && seen.isMade !== true,
        isWhole: rowsAt?.length === 0,
        isErrorStatus: status >= 400,
        isMissing,
        asked: this.#history.first === undefined ? askedSizes({ ...asked, rowsAt }) : [],
        isPartOfBatch: isPartOfBatch(envelope),
        isNumbered,
        isDropped,
        repeats,
      },
      this.#traits,
    );
    this.#page = isDropped ? undefined : this.#identity?.page(page);
    const { alike, broken } = this.#history;
    if (broken >= MOST_ALIKE) return { are: 'errors', from: page - broken + 1, to: page };
    return alike >= MOST_ALIKE ? { are: 'known', from: page - alike, to: page - 1 } : undefined;
  }

  /** Rows of the page that was seen last, decoded, in order, each once. */
  take(rows: readonly Json[]): void {
    this.#page?.take(rows);
  }

  /** Pages that are still to come by what the answers say so far; undefined when they do not say it. */
  pagesLeft(): number | undefined {
    return pagesLeft(this.#history, this.#traits);
  }

  /** @param nearMiss the path of a response that was probably meant by one that was looked for in vain */
  end(
    reason: Reason,
    nearMiss: (path: string, envelope: Json) => string | undefined,
  ): Omit<EndedRun, 'request'> {
    this.#settle();
    const { pages, rows, twice } = this.#history;
    return {
      reason,
      judgement: judge(reason, this.#history, this.#traits, {
        near: this.#near(reason, nearMiss),
        hasKey: this.#hasKey,
        isAlone: this.#isAlone,
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

  #settle(): void {
    const page = this.#page;
    if (page === undefined || this.#identity === undefined) return;
    this.#history = withRows(this.#history, page.facts(), page.page, this.#identity.isKnown);
    this.#page = undefined;
  }
}

/** What is read was not made yet. */
const NOT_READY: Sign = {
  kind: 'error',
  path: 'status 202',
  strength: 'strong',
  text: 'accepted, and not done yet',
};

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

/** MediaWiki gives the properties of a batch of rows in parts: the same rows come until the batch is complete. */
function isPartOfBatch(envelope: Json): boolean {
  if (!isObject(envelope) || getKey(envelope, 'batchcomplete') !== undefined) return false;
  const on = getKey(envelope, 'continue');
  return isObject(on) && typeof getKey(on, 'continue') === 'string';
}

/** A parameter of the query that counts pages or rows. */
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
