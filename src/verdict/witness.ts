import type { OwnSigns } from '../completeness.ts';
import { compilePath, type Json, type Path } from '../json/index.ts';
import type { Reason } from '../reason.ts';
import type { Traits } from '../traits.ts';
import { NO_HISTORY, withPage, withRows, type History } from './history.ts';
import { Identity, type PageIdentity } from './identity.ts';
import { judge, type NearMiss } from './judge.ts';
import { pagesLeft } from './pages-left.ts';
import { readSigns, type SeenPage } from './read-signs.ts';
import type { EndedRun } from './report.ts';
import { isSet } from './values.ts';

export interface WitnessedPage extends SeenPage {
  /** From 1. */
  readonly page: number;
  /** The URL that was asked for. */
  readonly url: string;
  readonly status: number;
  /** The page ends the job and is not written. */
  readonly isDropped: boolean;
  readonly repeats: number | undefined;
}

/** Sees the pages of one run of a job as they come, and says in the end whether they were all. Bounded memory. */
export class Witness {
  readonly #traits: Traits;
  readonly #own: OwnSigns;
  readonly #identity: Identity | undefined;
  #history: History = NO_HISTORY;
  #envelope: Json = null;
  #page: PageIdentity | undefined;

  /** @param key where the primary key is in a row; empty where none is known */
  constructor(traits: Traits, own: OwnSigns, key: readonly Path[] = []) {
    this.#traits = traits;
    this.#own = own;
    this.#identity = traits.kind === 'none' ? undefined : new Identity(key);
  }

  /** A page came. To be called once for each, in order, before its rows are decoded. */
  see(seen: WitnessedPage): void {
    this.#settle();
    const { page, url, rows, rowsAt, envelope, status, isDropped, repeats } = seen;
    this.#envelope = envelope;
    const isMissing = rows === 0 && rowsAt === undefined;
    // an error status whose body is to be data is what the user asked for
    const signs = readSigns(seen, this.#own).filter(
      ({ kind }) => status < 400 || (kind !== 'error' && kind !== 'message'),
    );
    const isNumbered =
      page > 1 &&
      !this.#history.isNumbered &&
      hasNumber(url, [page - 1, page, this.#history.rows, this.#history.rows + 1]);
    this.#history = withPage(
      this.#history,
      { page, rows, signs, isSingle: seen.isSingle, isMissing, isNumbered, isDropped, repeats },
      this.#traits,
    );
    this.#page = isDropped ? undefined : this.#identity?.page(page);
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
      judgement: judge(reason, this.#history, this.#traits, this.#near(reason, nearMiss)),
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
