import type { Reason } from '../shared/stop-reason.ts';
import type { Traits } from '../shared/paginator-capabilities.ts';
import type { Doubt, Judgement, Proof } from './doubt.ts';
import type { Course, History, PageFacts } from './history.ts';
import { canonical } from './names.ts';
import type { Sign, SignKind } from './sign.ts';
import { ROWS_OF_PAGE_NAMES } from './signs.ts';

/** Facts besides the pages. */
export interface Beside {
  readonly near?: NearMiss | undefined;
  /** Rows are told apart by a primary key, so that a storage has each once. */
  readonly hasKey?: boolean;
  /** Signals in the answers before the files of an export. */
  readonly announced?: readonly Sign[];
  /** The first page that has the names of its columns as a row. */
  readonly headerAgain?: number | undefined;
  /** The first page that has rows at another path than the one of the rows. */
  readonly missed?: MissedRows | undefined;
  /** See `WitnessOptions`. */
  readonly isAlone?: boolean;
}

/** Path in the answers that resembles one that never matched. */
export interface NearMiss {
  readonly looked: string;
  readonly near: string;
}

export interface MissedRows extends NearMiss {
  readonly page: number;
}

/**
 * Tells whether the pages were all, from why they ended and what was seen of them. Pure: the same exchanges give the same
 * judgement, in a run, its resumption and its replay.
 */
export function judge(reason: Reason, history: History, traits: Traits, beside: Beside = {}): Judgement {
  const facts = new Facts(reason, history, traits, beside);
  const doubts = [
    ...facts.broken(),
    ...facts.announced(),
    ...facts.same(),
    ...facts.misplaced(),
    ...(facts.isCut || facts.isBehind ? [] : [...facts.more(), ...facts.missed(beside.near)]),
  ];
  if (doubts.length > 0) return { verdict: 'doubtful', doubts };
  if (facts.isCut) return { verdict: 'cut', doubts };
  const proof = facts.proof();
  return proof === undefined ? { verdict: 'ended', doubts } : { verdict: 'complete', doubts, proof };
}

const CUTS = new Set<Reason['code']>(['rowLimit', 'forcePages', 'forceTime', 'forceVolume', 'limit']);
/** Ends at a value that was looked for and not found. */
const IN_VAIN = new Set<Reason['code']>(['noValue', 'noLink', 'noLinkHeader']);
/** Rows that many APIs give at most, whatever was asked for: a list that ends just there is rare. */
const USUAL_CAPS = new Set([100, 200, 250, 500, 1000, 2000, 2500, 5000, 10_000, 50_000, 100_000]);
/** And what they give where nothing was asked for. */
const USUAL_SIZES = new Set([10, 20, 25, 30, 50, ...USUAL_CAPS]);
const BY_GUARD = new Set<Reason['code']>(['sameResponse', 'repeatedRequest', 'repeatedRows']);

class Facts {
  readonly #reason: Reason;
  readonly #history: History;
  readonly #traits: Traits;
  readonly #beside: Beside;
  readonly #last: PageFacts | undefined;

  constructor(reason: Reason, history: History, traits: Traits, beside: Beside) {
    this.#beside = beside;
    this.#reason = reason;
    this.#history = history;
    this.#traits = traits;
    this.#last = history.last;
  }

  /** Tells whether the pages ended at rows older than the state, which an earlier run has read. */
  get isBehind(): boolean {
    return this.#reason.code === 'olderRows';
  }

  get isCut(): boolean {
    const reason = this.#reason;
    return CUTS.has(reason.code) || (reason.code === 'condition' && reason.meaning === 'cut');
  }

  /** The path of what the answer said when it ended the job. */
  get #saidBy(): string | undefined {
    const reason = this.#reason;
    if (reason.code === 'flag' && reason.value !== undefined) return reason.field;
    return reason.code === 'condition' && reason.meaning === 'said' ? reason.text : undefined;
  }

  /** Rows that are different ones, as far as their ids tell. */
  get #rows(): number {
    const { rows, hasIds, twice } = this.#history;
    return rows - (hasIds ? (twice?.rows ?? 0) : 0) + (this.#traits.start ?? 0);
  }

  get #page(): number {
    return this.#last?.page ?? 1;
  }

  proof(): Proof | undefined {
    const { pages, pageCounts, pagesWithRows } = this.#history;
    if (this.#reason.code === 'olderRows') return { code: 'reachedState', state: this.#reason.state };
    const total = this.#totalProof();
    if (total !== undefined && !this.#isUsualPage) return total;
    const said = this.#lastSign('end') ?? this.#lastSign('noNext');
    if (said !== undefined) return { code: 'saidEnd', path: said.path };
    const reason = this.#reason;
    if (this.#saidBy !== undefined) return { code: 'saidEnd', path: this.#saidBy };
    if (
      reason.code === 'total' &&
      reason.found &&
      reason.total > 0 &&
      !this.#history.totals.some(({ isBound }) => isBound)
    )
      return { code: 'totalEquals', path: reason.field, total: reason.total };
    if (reason.code === 'endValue') return { code: 'saidEnd', path: reason.path };
    if (reason.code === 'export') return { code: 'exportDone', files: reason.files };
    // an answer that lacks even the place of its rows shows nothing by what else it lacks
    if (IN_VAIN.has(reason.code) && pages > 1 && this.#last?.isMissing !== true) return { code: 'ledToEnd' };
    const count = pageCounts.find(({ last }) => last > 0 && last === pagesWithRows);
    return count === undefined ? undefined : { code: 'pagesEqual', path: count.path, pages: count.last };
  }

  /** Yields findings on errors in answers, and on partial answers. */
  *broken(): Iterable<Doubt> {
    const { error, partial } = this.#history;
    const reason = this.#reason;
    if (reason.code === 'skipped' && reason.page > 1)
      yield { code: 'skipped', key: reason.at, page: reason.page, text: reason.text };
    if (error !== undefined) yield { code: 'error', key: 'dataField', ...error };
    const { headerAgain, missed } = this.#beside;
    if (missed !== undefined) yield { code: 'notFound', key: 'dataField', ...missed };
    if (headerAgain !== undefined) yield { code: 'headerAgain', key: 'csv', page: headerAgain };
    // a search that stopped early has all rows where a total says so
    const isAll = partial !== undefined && /terminated_?early$/i.test(partial.path) && this.#isAllByTotal;
    if (partial !== undefined && !isAll) yield { code: 'partial', key: 'params', ...partial };
  }

  /** Yields findings on rows that an export announces, but its files do not have. */
  *announced(): Iterable<Doubt> {
    const { rows } = this.#history;
    const said = { key: 'export', page: this.#page };
    for (const sign of this.#beside.announced ?? []) {
      const { kind, path } = sign;
      if (kind === 'error') yield { code: 'error', ...said, path, text: sign.text };
      else if (kind === 'partial') yield { code: 'partial', ...said, path };
      else if (this.isCut) continue;
      // what is counted may be something else, but not where nothing came
      else if (kind === 'total' && sign.value > rows && (sign.strength !== 'weak' || rows === 0))
        yield { code: 'totalAbove', ...said, path, total: sign.value, rows };
      else if (kind === 'next') yield { code: 'nextPage', ...said, path };
      else if (kind === 'more') yield { code: 'moreFlag', ...said, path };
    }
  }

  /** Yields findings on repeated pages and rows. */
  *same(): Iterable<Doubt> {
    const { samePage, otherRows, onlyKnown, twice, hasIds, totals } = this.#history;
    const { kind } = this.#traits;
    const overlaps = this.#mayOverlap;
    const isAtBorder = this.#traits.overlaps === true && twice !== undefined;
    const reason = this.#reason;
    if (samePage !== undefined) yield { code: 'samePage', key: this.#key('ask'), ...samePage };
    else if (
      (reason.code === 'sameResponse' || reason.code === 'repeatedRows') &&
      this.#last !== undefined &&
      this.#last.rows > 0 &&
      !this.#isAllBeforeLast
    )
      yield {
        code: 'samePage',
        key: this.#key('ask'),
        page: this.#last.page,
        of: reason.page,
        how: reason.code === 'sameResponse' ? 'answer' : 'rows',
      };
    else if (onlyKnown !== undefined && hasIds && !overlaps && !isAtBorder)
      yield { code: 'onlyKnownRows', key: this.#key('ask'), page: onlyKnown };
    // where a page has the same things in other rows, such as those of the next day, the pages come to an end
    else if (otherRows !== undefined && hasIds && !overlaps && (this.isCut || BY_GUARD.has(reason.code)))
      yield { code: 'onlyKnownRows', key: this.#key('ask'), page: otherRows };
    else if (
      twice !== undefined &&
      hasIds &&
      !overlaps &&
      (twice.isSure || this.#isCounted || this.#isAboveTotal)
    ) {
      const { isSure: _isSure, ...facts } = twice;
      yield { code: 'rowsTwice', key: this.#key('ask'), ...facts };
    }
    const shrank = totals.find(
      (course) =>
        course.shrank !== undefined && this.#isOfAll(course) && !course.isRemaining && !course.isOfPage,
    )?.shrank;
    if (
      shrank !== undefined &&
      kind !== 'none' &&
      this.#traits.restarts !== true &&
      (this.#isCounted || this.#rows < this.#topTotal)
    ) {
      const { page, path, value, expected } = shrank;
      yield { code: 'totalShrank', key: this.#key('ask'), page, path, from: expected, to: value };
    }
  }

  /** Yields findings on pages that begin at the wrong position. */
  *misplaced(): Iterable<Doubt> {
    const { first, gap, overlap, largestPage, hasIds, pages, samePage } = this.#history;
    const { kind, size, start, countsRows = false, at } = this.#traits;
    if (kind === 'none') return;
    if (start === undefined && first !== undefined) {
      const before = first.signs.find(
        (sign) => isBehindStart(sign, first.rows) && (kind === 'count' || isClearlyBehind(sign)),
      );
      if (before !== undefined) {
        const begins = 'value' in before ? { begins: before.value } : {};
        yield { code: 'notFirst', key: this.#key('start'), page: 1, path: before.path, ...begins };
      }
    }
    if (kind === 'follow' || this.#traits.restarts === true) return;
    if (gap !== undefined)
      yield {
        code: 'gap',
        key: this.#key('ask'),
        page: gap.page,
        path: gap.path,
        begins: gap.value,
        expected: gap.expected,
      };
    if (samePage !== undefined || hasIds || pages < 2) return;
    if (countsRows && size !== undefined && largestPage > size)
      yield { code: 'tooManyRows', key: `${at}.limitParam`, page: 1, asked: size, rows: largestPage };
    else if (overlap !== undefined)
      yield {
        code: 'overlap',
        key: this.#key('ask'),
        page: overlap.page,
        path: overlap.path,
        begins: overlap.value,
        expected: overlap.expected,
      };
  }

  /** Yields findings which indicate that there are more rows. */
  *more(): Iterable<Doubt> {
    const total = this.#totalAbove();
    const capped = this.#capped();
    const short = capped ?? this.#shortFirst();
    if (total !== undefined)
      yield {
        code: 'totalAbove',
        key: this.#key(short === undefined ? 'ask' : 'size'),
        page: this.#page,
        path: total.path,
        total: total.value,
        ...(total.isBound === true ? { isBound: true } : {}),
        rows: this.#rows,
        ...short,
      };
    const pages = this.#pagesAbove();
    if (pages !== undefined)
      yield {
        code: 'pagesAbove',
        key: this.#key('ask'),
        page: this.#page,
        path: pages.path,
        total: pages.last,
        pages: this.#history.pagesWithRows,
      };
    const flag = this.#moreFlag();
    const next = flag === undefined ? this.#nextSign() : undefined;
    const onward = flag ?? next;
    if (onward !== undefined) {
      const said = { key: this.#key('ask'), page: this.#page, path: onward.path };
      const end = this.#endPath;
      yield end === undefined
        ? { code: flag === undefined ? 'nextPage' : 'moreFlag', ...said }
        : { code: 'contradiction', ...said, end };
    }
    if (capped !== undefined && total === undefined && this.#firstIsAll() === undefined)
      yield { code: 'capped', key: this.#key('size'), page: this.#page, ...capped };
    const full = this.#fullPage();
    if (full !== undefined && total === undefined && onward === undefined && capped === undefined) {
      const counts = this.#history.totals.find(
        ({ strength, last }) => strength !== 'weak' && last === full.value,
      );
      yield {
        code: 'fullPage',
        key: this.#key('ask'),
        page: 1,
        path: full.path,
        size: full.value,
        ...(counts === undefined ? {} : { total: counts.path }),
      };
    }
  }

  /** Yields findings on paths of the configuration that never matched, although a similar one exists. */
  *missed(near: NearMiss | undefined): Iterable<Doubt> {
    const reason = this.#reason;
    const { pages, rows, first } = this.#history;
    if (pages > 1 || rows === 0 || first?.isSingle === true) return;
    if (reason.code === 'total' && !reason.found && this.#firstIsAll() === undefined)
      yield {
        code: 'notFound',
        key: this.#key('limitStop.field'),
        page: 1,
        looked: reason.field,
        ...nearOf(near),
      };
    else if (near !== undefined && this.#firstIsAll() === undefined)
      yield { code: 'notFound', key: this.#key('ask'), page: 1, ...near };
    else if (reason.code === 'flag' && reason.value === undefined && this.#isFirstFull)
      yield { code: 'notFound', key: this.#key('ask'), page: 1, looked: reason.field };
  }

  /** The first page has as many rows as were asked for, or as many as APIs like to give, and nothing says that they are all. */
  get #isFirstFull(): boolean {
    const rows = this.#history.first?.rows ?? 0;
    const { size } = this.#traits;
    return (size === undefined ? USUAL_SIZES.has(rows) : rows >= size) && this.#firstIsAll() === undefined;
  }

  /** More rows came than there are, by a total. */
  get #isAboveTotal(): boolean {
    const { rows, totals } = this.#history;
    return totals.some(
      ({ strength, last, isOfPage }) =>
        strength !== 'weak' && !isOfPage && last > 0 && last === this.#rows && last < rows,
    );
  }

  get #topTotal(): number {
    return Math.max(0, ...this.#history.totals.map((course) => (this.#isOfAll(course) ? course.top : 0)));
  }

  /**
   * Tells whether a total counts all rows: a weak one, such as `count`, only if it was always above the rows of any
   * page.
   */
  #isOfAll({ strength, least }: Course): boolean {
    return strength !== 'weak' || least > this.#history.largestPage;
  }

  get #isCounted(): boolean {
    return this.#traits.kind === 'count' || this.#history.isNumbered;
  }

  /**
   * Returns the evidence of a total that equals the rows: for a single page, whose own rows it may count, only a clear
   * one.
   */
  #totalProof(): Proof | undefined {
    const rows = this.#rows;
    for (const course of this.#history.totals) {
      const { path, strength, last, first, isRemaining } = course;
      if (strength === 'weak' || course.isBound || this.#mayBeOfPages(course)) continue;
      const total = isRemaining ? first : last;
      // an API that counts rows from 1 was begun at 1, and nothing was left out before that
      const isFromOne = this.#traits.start === 1 && total === rows - 1;
      if (total === rows || isFromOne) return { code: 'totalEquals', path, total };
    }
    return undefined;
  }

  /** The only page is as long as pages commonly are, so that a total that equals it may be the number of its rows. */
  get #isUsualPage(): boolean {
    const { first, rows } = this.#history;
    return this.#traits.kind === 'none' && first?.isList === true && USUAL_SIZES.has(rows);
  }

  get #isAllByTotal(): boolean {
    return this.#totalProof() !== undefined;
  }

  /**
   * Tells whether a total counts the rows so far, or those of a page that is as long as possible, with none behind it.
   */
  #mayBeOfPages({ last, isSoFar, isOnce }: Course): boolean {
    if (isSoFar && !isOnce) return true;
    const { first, pages, pagesWithRows } = this.#history;
    const isOnly = pagesWithRows === 1 && (pages === 1 || BY_GUARD.has(this.#reason.code));
    return isOnly && last === first?.rows && this.#fullBy() !== undefined;
  }

  /** The pages before the last one, which came again, are all: something says so, or they end with a short one. */
  get #isAllBeforeLast(): boolean {
    const { pages, pagesWithRows, pageCounts, largestPage } = this.#history;
    if (this.#totalProof() !== undefined) return true;
    if (pages === 2) return this.#firstIsAll() !== undefined;
    if (this.#lastSign('end') !== undefined || this.#lastSign('noNext') !== undefined) return true;
    if (pageCounts.some(({ last }) => last > 0 && last === pagesWithRows)) return true;
    return (this.#traits.kind === 'count' || this.#mayOverlap) && (this.#last?.rows ?? 0) < largestPage;
  }

  /** Rows at the borders of pages come twice by nature, and do no harm. */
  get #mayOverlap(): boolean {
    const { overlaps = false, mayOverlap = false } = this.#traits;
    return mayOverlap || (overlaps && this.#beside.hasKey === true);
  }

  /** Returns the size that the rows of the first page reach: one that was requested, or that the answer names. */
  #fullBy(): { readonly path: string; readonly value: number } | undefined {
    const { first } = this.#history;
    if (first === undefined || first.isSingle || first.rows < 2) return undefined;
    const { size, at } = this.#traits;
    const asked = first.asked.find(({ value }) => value === first.rows);
    if (asked !== undefined) return asked;
    if (size === first.rows) return { path: `${at.replace(/^parameters\.api\./, '')}.limit`, value: size };
    const named = first.signs.find(
      (sign) =>
        sign.kind === 'size' &&
        sign.value > 1 &&
        first.rows >= sign.value &&
        (USUAL_SIZES.has(sign.value) || !isRowsOfPage(sign)),
    );
    return named !== undefined && 'value' in named ? named : undefined;
  }

  /** Returns evidence that the first page is everything; used if it is the only one. */
  #firstIsAll(): Proof | undefined {
    const first = this.#history.first;
    const total = this.#totalProof();
    if (total !== undefined) return total;
    const said = first?.signs.find(({ kind }) => kind === 'end' || kind === 'noNext');
    if (said !== undefined) return { code: 'saidEnd', path: said.path };
    const count = this.#history.pageCounts.find(({ last }) => last === 1);
    if (count !== undefined) return { code: 'pagesEqual', path: count.path, pages: 1 };
    const size = first?.signs.find(({ kind }) => kind === 'size');
    return size !== undefined && 'value' in size && first !== undefined && first.rows < size.value
      ? { code: 'saidEnd', path: size.path }
      : undefined;
  }

  #totalAbove(): { readonly path: string; readonly value: number; readonly isBound?: true } | undefined {
    if (this.#totalProof() !== undefined) return undefined;
    const rows = this.#rows;
    const { totals, largestPage } = this.#history;
    const isClear = totals.some(({ strength, last }) => strength !== 'weak' && last > 0);
    for (const course of totals) {
      const { path, strength, isRemaining, first, last, isOfPage, isBound } = course;
      if (isBound && last > 0 && this.#isBelow(last)) return { path, value: last, isBound };
      if (isOfPage && last <= largestPage) continue;
      const value = isRemaining ? first : last;
      if (strength === 'weak' && (isClear || last === this.#traits.size || last === largestPage)) continue;
      if (value > rows) return { path, value };
    }
    const remaining = this.#lastSign('remaining');
    return remaining !== undefined && 'value' in remaining && remaining.value > 0
      ? { path: remaining.path, value: rows + remaining.value }
      : undefined;
  }

  /** The rows do not go beyond a bound of the total, or ended where they reached it. */
  #isBelow(bound: number): boolean {
    const isEnd = this.#endPath !== undefined || this.#lastSign('noNext') !== undefined;
    return bound > this.#rows || this.#reason.code === 'total' || (bound === this.#rows && !isEnd);
  }

  #pagesAbove(): Course | undefined {
    if (this.#history.pages > 1 && this.#totalProof() !== undefined) return undefined;
    const { rows, pages, pagesWithRows, pageCounts } = this.#history;
    // an empty list is one page to some
    const came = rows === 0 ? pages : pagesWithRows;
    return pageCounts.find(({ last }) => last > Math.min(1, came) && last > pagesWithRows);
  }

  #moreFlag(): Sign | undefined {
    const flag = this.#last?.signs.find(({ kind, path }) => kind === 'more' && path !== this.#saidBy);
    // a total that was reached page by page is believed more than a flag that is true on every full page
    const isReached =
      this.#history.pages > 1 &&
      this.#reason.code !== 'total' &&
      !this.#isUnled &&
      this.#totalProof() !== undefined;
    return isReached ? undefined : flag;
  }

  /** A page with rows that has nothing to follow, where pages before it had. */
  get #isUnled(): boolean {
    return this.#traits.kind === 'follow' && IN_VAIN.has(this.#reason.code) && (this.#last?.rows ?? 0) > 0;
  }

  /** Path of the signal that marks the end: a flag, or a value that the configuration treats as one. */
  get #endPath(): string | undefined {
    return this.#saidBy ?? this.#lastSign('end')?.path;
  }

  #nextSign(): Sign | undefined {
    const reason = this.#reason;
    if (reason.code === 'recentStart') return undefined;
    const { kind: way, follows } = this.#traits;
    // it was followed, and led nowhere; but of two answers without rows the headers may lead to different pages
    const isEmpty = this.#last?.rows === 0;
    const isDead = ({ path }: Sign): boolean => !(isEmpty && path.startsWith('header '));
    const isStuck = BY_GUARD.has(reason.code) && way === 'follow';
    const isEnded = this.#history.rows === 0 || (this.#history.pages > 1 && !this.#isUnled);
    if (isEnded && this.#isAllByTotal) return undefined;
    const isSaid = this.#endPath !== undefined;
    // some give a token with the last page, too, or a link beside it: the configuration knows what else to end by
    const isLed = ({ path }: Sign): boolean =>
      this.#saidBy !== undefined &&
      way === 'follow' &&
      (this.#history.nextBefore.includes(path) || (follows?.some((own) => isWithin(own, path)) ?? true));
    const own = reason.code === 'endValue' ? reason.path : undefined;
    const isWeakEnough = reason.code === 'noPagination' || IN_VAIN.has(reason.code) || reason.code === 'flag';
    return this.#last?.signs.find(
      (sign) =>
        sign.kind === 'next' &&
        !isLed(sign) &&
        !(isStuck && isDead(sign)) &&
        sign.path !== own &&
        (sign.strength !== 'weak' ||
          (isWeakEnough && !isSaid && !isEmpty && this.#totalProof() === undefined)),
    );
  }

  /**
   * Returns the size of a short page that is full by the size which the API itself gives, or by a limit that many APIs
   * have.
   */
  #capped(): { readonly asked: number; readonly size: number } | undefined {
    const reason = this.#reason;
    if (reason.code === 'noPagination') return this.#cappedByUse();
    if (reason.code !== 'shortPage' || reason.rows === 0) return undefined;
    const size = this.#lastSign('size');
    if (size === undefined || !('value' in size))
      return this.#history.pages === 1 && this.#isCap(reason.rows, reason.size)
        ? { asked: reason.size, size: reason.rows }
        : undefined;
    // a size that is another one on every page is the number of its rows
    const before = this.#history.first?.signs.find(({ kind, path }) => kind === 'size' && path === size.path);
    if (before === undefined || !('value' in before) || before.value !== size.value) return undefined;
    return size.value > 0 && size.value < reason.size && reason.rows >= size.value
      ? { asked: reason.size, size: size.value }
      : undefined;
  }

  /** Returns the usual limit of APIs that a request without pagination hit, although it asked for more. */
  #cappedByUse(): { readonly asked: number; readonly size: number } | undefined {
    const { first } = this.#history;
    const asked = first?.asked.find(({ value }) => this.#isCap(first.rows, value));
    return first === undefined || asked === undefined ? undefined : { asked: asked.value, size: first.rows };
  }

  /** Fewer than 100 are the rows of many a short list; of 50, a job that has only this one run is doubted. */
  #isCap(rows: number, asked: number): boolean {
    if (rows >= asked) return false;
    return USUAL_CAPS.has(rows) || (rows === 50 && asked >= 100 && this.#beside.isAlone === true);
  }

  /** Returns the size of a short first page, if a total shows that it is not the last. */
  #shortFirst(): { readonly asked: number; readonly size: number } | undefined {
    const reason = this.#reason;
    return reason.code === 'shortPage' && reason.rows > 0 && this.#history.pages === 1
      ? { asked: reason.size, size: reason.rows }
      : undefined;
  }

  /** Returns the size of the only page, if it is as long as possible and nothing marks it as the last one. */
  #fullPage(): { readonly path: string; readonly value: number } | undefined {
    const { first, pages } = this.#history;
    if (pages !== 1 || first === undefined || first.isSingle || this.#firstIsAll() !== undefined)
      return undefined;
    const reason = this.#reason;
    if (this.#traits.kind === 'none') {
      const size = this.#lastSign('size');
      const isFull = size !== undefined && 'value' in size && size.value > 1 && first.rows >= size.value;
      return this.#fullBy() ?? (isFull ? size : undefined);
    }
    // a job that runs often has runs that end just there, and others that show the way on
    if (this.#beside.isAlone !== true) return undefined;
    if (reason.code === 'total') return reason.found ? this.#fullBy() : undefined;
    return IN_VAIN.has(reason.code) ? first.asked.find(({ value }) => value === first.rows) : undefined;
  }

  #lastSign(kind: SignKind): Sign | undefined {
    return this.#last?.signs.find((sign) => sign.kind === kind);
  }

  #key(what: 'ask' | 'size' | 'start' | 'limitStop.field'): string {
    const { at, kind, looks = 'responseParam', asks = 'queryParam' } = this.#traits;
    const reason = this.#reason;
    // several pages without a pagination are the files of an export
    if (kind === 'none') return this.#history.pages > 1 ? 'export' : `${at}.method`;
    if (what === 'start' && kind === 'follow') return 'params';
    if (what === 'limitStop.field') return `${at}.limitStop.field`;
    if (reason.code === 'total') return `${at}.limitStop.field`;
    if (reason.code === 'flag') return `${at}.nextPageFlag.field`;
    if (what === 'size') return `${at}.limit`;
    if (reason.code === 'noLink') return `${at}.urlKey`;
    if (reason.code === 'condition') return `${at}.stopWhen`;
    if (reason.code === 'noValue' || reason.code === 'endValue') return `${at}.${looks}`;
    if (reason.code === 'noLinkHeader') return `${at}.method`;
    if (kind === 'follow') return `${at}.${asks}`;
    if (what === 'start') return this.#traits.countsRows === true ? `${at}.offsetParam` : `${at}.firstPage`;
    if (reason.code === 'shortPage') return `${at}.limit`;
    return this.#traits.countsRows === true ? `${at}.offsetParam` : `${at}.pageParam`;
  }
}

/** Tells whether a size is the number of the page's rows, as some standards have it. */
function isRowsOfPage({ path }: Sign): boolean {
  return ROWS_OF_PAGE.has(canonical(path.slice(path.lastIndexOf('.') + 1)));
}

const ROWS_OF_PAGE = new Set(ROWS_OF_PAGE_NAMES);

/** Tells whether one of two paths leads through the other. */
function isWithin(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

function nearOf(near: NearMiss | undefined): { readonly near?: string } {
  return near === undefined ? {} : { near: near.near };
}

/**
 * Tells whether a signal of a previous page is reliable with links and tokens: some APIs send a token of the page
 * before with every page.
 */
function isClearlyBehind({ kind, path }: Sign): boolean {
  return kind === 'page' || kind === 'offset' || path === 'header link';
}

/** Tells whether the first page is not the start: there is one before it, or it begins behind the first row. */
function isBehindStart(sign: Sign, rows: number): boolean {
  if (sign.kind === 'previous') return true;
  if (sign.kind === 'page') return sign.value > 1;
  if (sign.kind === 'offset') return sign.value > 0 && sign.value !== rows;
  return sign.kind === 'position' && sign.value > 1 && sign.value !== rows;
}
