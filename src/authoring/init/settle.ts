import { encodeExact, isObject, sizeOf, type AnyObject, type Json } from '../../lib/json/index.ts';
import type { JobReport } from '../../engine/completeness/index.ts';
import { leavesOf } from './params.ts';
import { offsetCandidate, pageCandidate } from './count.ts';
import type { Candidate, Observed } from './candidate.ts';
import { overlapOf } from './compare.ts';
import {
  configurationFor,
  failureText,
  runOf,
  type ProbeContext,
  type ProbedList,
  type TriedSource,
} from './laboratory.ts';
import { endingAfter, endingsOf, isTrouble } from './endings.ts';
import { largerPages } from './larger.ts';
import { signOf, valueOf } from './signs.ts';
import type { Trial, TriedPage } from './trial.ts';
import { counted } from '../../lib/counted.ts';

/** A configuration that was run, and how far it is right. */
export interface Settled {
  readonly candidate: Candidate;
  readonly configuration: AnyObject;
  readonly trial: Trial;
  /**
   * `complete`: something in the answers says that these are all; `ended`: it came to an honest end; `cut`: it is right
   * as far as it was tried; `doubtful`: something speaks against it.
   */
  readonly verdict: 'complete' | 'ended' | 'cut' | 'doubtful';
  /** Evidence from beside the run itself. */
  readonly evidence: readonly string[];
  readonly against: readonly string[];
  /** Why there may be more rows, where nothing says that these are all. */
  readonly doubt?: string | undefined;
}

/** Requests that are kept for a look at the end of a long list. */
const FOR_THE_END = 3;

/**
 * Makes a candidate whose second page was good into a configuration: its first page must be the known one, and the run
 * must come to an end, or to what the requests allow.
 *
 * @returns undefined where it turned out to be wrong
 */
export async function settle(
  candidate: Candidate,
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
  tried: TriedSource[],
): Promise<Settled | undefined> {
  const begun = await beginningOf(candidate, seen, subject, lab, tried);
  if (begun === undefined || !(await isByRows(begun, seen, subject, lab, tried))) return undefined;
  const larger = await largerPages(begun, expectedPages(begun, seen), { seen, subject, lab, tried });
  if (larger !== undefined) {
    const settled = await readToEnd(larger.candidate, larger.seen, larger.subject, lab, tried);
    if (settled !== undefined && settled.verdict !== 'doubtful')
      return { ...settled, evidence: [...settled.evidence, larger.evidence] };
  }
  return await readToEnd(begun, seen, subject, lab, tried);
}

/** Runs a candidate to its end, or as far as the requests allow: with the least rule that ends it. */
async function readToEnd(
  begun: Candidate,
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
  tried: TriedSource[],
): Promise<Settled | undefined> {
  const expected = expectedPages(begun, seen);
  // the first page is there already; page numbers end at one that is empty
  const needed = (expected ?? 0) - (begun.kind === 'page' ? 0 : 1);
  const isLong = needed > lab.wire.left;
  const limit = isLong ? Math.max(3, lab.wire.left - FOR_THE_END) : undefined;
  let best: Settled | undefined;
  const endings = [...endingsOf(begun, seen)];
  for (const ending of endings) {
    const pagination = { ...begun.pagination, ...ending.pagination };
    const configuration = configurationFor(subject, {
      params: begun.params,
      pagination,
      ...(ending.job === undefined ? {} : { job: ending.job }),
    });
    lab.onStep?.(`reading to the end by ${begun.says}${ending.says}`);
    const trial = await runOf(lab, configuration, limit);
    const judgement = judged({ ...begun, pagination, says: begun.says + ending.says }, configuration, trial, {
      isCut: isLong && (trial.isSpent || trial.pages.length === limit),
      hasId: subject.id.length > 0,
    });
    const settled = { ...judgement, doubt: ending.doubt };
    if (isBetter(settled, best)) best = settled;
    if (settled.verdict !== 'doubtful') break;
    tried.push({ what: settled.candidate.says, result: settled.against.join('; ') });
    const next = endingAfter(trial, begun, seen);
    if (next !== undefined && !endings.some(({ job }) => job !== undefined)) endings.push(next);
    if (isTrouble(trial)) break;
    if (lab.wire.left === 0 && trial.isSpent) break;
  }
  if (best?.verdict === 'cut' && expected !== undefined)
    return await withFarEnd(best, expected, seen, subject, lab);
  return best?.verdict === 'ended' ? await behindShortPage(best, subject, lab, tried) : best;
}

/**
 * Looks behind a page that ended a run by being short: APIs that leave out rows of a page, such as those that one may
 * not see, go on behind it.
 */
async function behindShortPage(
  settled: Settled,
  subject: ProbedList,
  lab: ProbeContext,
  tried: TriedSource[],
): Promise<Settled> {
  const { candidate, trial } = settled;
  const { counts, kind, params } = candidate;
  const isShort = trial.report?.reasons.some(({ reason }) => reason.code === 'shortPage') === true;
  if (!isShort || counts === undefined || lab.wire.left === 0) return settled;
  const pages = trial.pages.length;
  const behind =
    kind === 'page'
      ? { firstPage: counts.first + pages }
      : { firstOffset: counts.first + pages * counts.size };
  const look = await runOf(
    lab,
    configurationFor(subject, { params, pagination: { ...candidate.pagination, ...behind } }),
    1,
  );
  const rows = look.pages[0]?.rows ?? [];
  const known = trial.pages.flatMap((page) => page.rows);
  if (rows.length === 0 || overlapOf(known, rows, subject).known > 0) return settled;
  const what = `page ${pages} is short, and the page behind it has ${counted(rows.length, 'other row')}`;
  const pagination = { ...candidate.pagination, limitParam: false };
  if (kind !== 'page' || 'limit' in pagination) return { ...settled, verdict: 'doubtful', against: [what] };
  tried.push({ what: `${candidate.says}, until a page is short`, result: what });
  const says = `${candidate.says}, until a page is empty`;
  const configuration = configurationFor(subject, { params, pagination });
  lab.onStep?.(`reading to the end by ${says}`);
  const whole = await runOf(lab, configuration, undefined);
  return judged({ ...candidate, pagination, says }, configuration, whole, {
    isCut: whole.isSpent,
    hasId: subject.id.length > 0,
  });
}

/** Result of trying a parameter that only cuts a list, which comes whole without it. */
export const WHOLE = 'it only cuts the list, which comes whole without it';

/** Tells whether an answer has fewer rows, all of them in the known list. */
export function isPartOf(rows: readonly Json[], subject: ProbedList): boolean {
  if (rows.length === 0 || rows.length >= subject.rows.length) return false;
  return overlapOf(subject.rows, rows, subject).known === rows.length;
}

/** Returns the candidate whose first page is the known page: page numbers may begin with 0 or 1. */
async function beginningOf(
  candidate: Candidate,
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
  tried: TriedSource[],
): Promise<Candidate | undefined> {
  const { counts, kind } = candidate;
  if (counts === undefined) return candidate;
  const others =
    kind === 'page'
      ? [pageCandidate(counts.param, counts.first === 0 ? 1 : 0, seen)]
      : [offsetCandidate(counts.param, counts.first === 0 ? 1 : 0, seen)];
  if (kind === 'page' && counts.first === 1 && isGiven(counts.param, seen) && !saysWhere(seen)) {
    const [zero] = others;
    const trial = await runOf(
      lab,
      configurationFor(subject, { params: zero?.params ?? {}, pagination: zero?.pagination }),
      1,
    );
    const rows = trial.pages[0]?.rows ?? [];
    if (zero !== undefined && rows.length > 0 && overlapOf(subject.rows, rows, subject).known === 0) {
      tried.push({ what: candidate.says, result: 'there is a page 0, with other rows' });
      return zero;
    }
  }
  for (const each of [candidate, ...others]) {
    const { params, pagination } = each;
    const trial = await runOf(lab, configurationFor(subject, { params, pagination }), 1);
    const [first] = trial.pages;
    if (trial.isSpent) return candidate.isGuess ? undefined : candidate;
    if (first !== undefined && overlapOf(subject.rows, first.rows, subject).isSame) return each;
    if (first !== undefined && isPartOf(first.rows, subject)) {
      tried.push({ what: each.says, result: WHOLE });
      return undefined;
    }
    const why =
      trial.failure === undefined ? 'its first page is not the first one' : failureText(trial.failure);
    tried.push({ what: each.says, result: why });
  }
  return undefined;
}

/** Tells whether an offset counts single rows, where no total shows it. */
async function isByRows(
  candidate: Candidate,
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
  tried: TriedSource[],
): Promise<boolean> {
  if (candidate.kind !== 'offset' || lab.wire.left === 0) return true;
  if (signOf(seen.signs, 'total') !== undefined || subject.rows.length < 2) return true;
  if (await skipsRows(candidate, subject, lab)) return true;
  tried.push({ what: candidate.says, result: 'it does not skip row by row' });
  return false;
}

/** Tells whether a page begins with the last row of page 1, where one row less is skipped than page 1 has. */
export async function skipsRows(
  { counts, params, pagination }: Candidate,
  subject: ProbedList,
  lab: ProbeContext,
): Promise<boolean> {
  const last = subject.rows.at(-1);
  if (counts === undefined || last === undefined) return false;
  const firstOffset = counts.first + subject.rows.length - 1;
  const trial = await runOf(
    lab,
    configurationFor(subject, { params, pagination: { ...pagination, firstOffset } }),
    1,
  );
  const first = trial.pages[0]?.rows[0];
  return first !== undefined && overlapOf([last], [first], subject).isSame;
}

/** Tells whether the request has the parameter: its first page is only the requested part. */
function isGiven(param: readonly string[], { target }: Observed): boolean {
  return leavesOf(target.params).some(({ keys }) => keys.join('.') === param.join('.'));
}

/** Tells whether the answer has the place of the page, or the number of rows: a missing page would show. */
function saysWhere({ signs }: Observed): boolean {
  return signs.all.some(
    ({ kind }) => kind === 'page' || kind === 'offset' || kind === 'total' || kind === 'pages',
  );
}

/** Returns the number of pages that the answer implies. */
function expectedPages({ counts }: Candidate, { signs, rows }: Observed): number | undefined {
  const total = valueOf(signOf(signs, 'total'));
  const size = counts?.size ?? rows;
  return total === undefined || size === 0 ? valueOf(signOf(signs, 'pages')) : Math.ceil(total / size);
}

function judged(
  candidate: Candidate,
  configuration: AnyObject,
  trial: Trial,
  { isCut, hasId }: { readonly isCut: boolean; readonly hasId: boolean },
): Settled {
  const { failure, repeated, pages, report } = trial;
  const base = { candidate, configuration, trial, evidence: [] as readonly string[] };
  if (failure !== undefined) {
    const page = failure.where.page ?? pages.length + 1;
    return { ...base, verdict: 'doubtful', against: [`page ${page}: ${failureText(failure)}`] };
  }
  if (repeated !== undefined) {
    const how =
      pages[repeated.of - 1]?.rows.length === 0
        ? 'is empty, as those before'
        : `brings page ${repeated.of} again`;
    return { ...base, verdict: 'doubtful', against: [`page ${repeated.page} ${how}`] };
  }
  const twice = rowsTwice(pages);
  const again = twice === 0 ? [] : [`${counted(twice, 'row')} came twice, on different pages`];
  const doubts = doubtsOf(report, isCut);
  const against = doubts.length === 0 && hasId ? again : doubts;
  if (against.length > 0) return { ...base, verdict: 'doubtful', against };
  if (trial.isSpent && pages.length < 2)
    return {
      ...base,
      verdict: 'doubtful',
      against: ['page 2 has other rows, but no requests are left to try the configuration'],
    };
  const verdict = report === undefined || report.verdict === 'doubtful' ? 'cut' : report.verdict;
  return { ...base, verdict, against, evidence: again };
}

/** Counts rows of a page that were on an earlier one, equal in every value. */
function rowsTwice(pages: readonly TriedPage[]): number {
  const known = new Set<string>();
  let twice = 0;
  for (const { rows } of pages) {
    const texts = rows.filter((row) => isObject(row) && sizeOf(row) > 1).map((row) => encodeExact(row));
    twice += texts.filter((text) => known.has(text)).length;
    for (const text of texts) known.add(text);
  }
  return twice;
}

/** Returns the findings against a run; for a run that was cut, only those that its pages show. */
function doubtsOf(report: JobReport | undefined, isCut: boolean): string[] {
  const doubts = report?.doubtful[0]?.doubts ?? [];
  return doubts.filter(({ code }) => !isCut || !OF_THE_END.has(code)).map(({ text }) => text);
}

const OF_THE_END = new Set<string>([
  'totalAbove',
  'pagesAbove',
  'nextPage',
  'moreFlag',
  'contradiction',
  'fullPage',
]);

const RANK = { doubtful: 0, cut: 1, ended: 2, complete: 3 } as const;

function isBetter(one: Settled, other: Settled | undefined): boolean {
  if (other === undefined || RANK[one.verdict] > RANK[other.verdict]) return true;
  return RANK[one.verdict] === RANK[other.verdict] && one.trial.pages.length > other.trial.pages.length;
}

/** Checks the far end of a list that is too long to be read: its last page, and the page behind it. */
async function withFarEnd(
  settled: Settled,
  pages: number,
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
): Promise<Settled> {
  const { candidate } = settled;
  const { counts, kind } = candidate;
  const total = valueOf(signOf(seen.signs, 'total'));
  if (counts === undefined || total === undefined || lab.wire.left === 0) return settled;
  const start = kind === 'page' ? counts.first + pages - 1 : counts.first + (pages - 1) * counts.size;
  const far =
    kind === 'page'
      ? { params: candidate.params, pagination: { ...candidate.pagination, firstPage: start } }
      : {
          params: candidate.params,
          pagination: { ...candidate.pagination, firstOffset: start },
        };
  lab.onStep?.('looking at the last page');
  const trial = await runOf(lab, configurationFor(subject, far), 2);
  const [last, behind] = trial.pages;
  if (last === undefined) return settled;
  const expected = total - (pages - 1) * counts.size;
  const { known } = overlapOf(subject.rows, last.rows, subject);
  if (known > 0 || last.rows.length !== expected) {
    const against =
      known > 0
        ? 'it brings rows of page 1'
        : `it has ${counted(last.rows.length, 'row')}, and ${expected} were to come`;
    return {
      ...settled,
      verdict: 'doubtful',
      against: [`page ${pages}, the last one by the total, is not right: ${against}`],
    };
  }
  const evidence = [`page ${pages}, the last one by the total, has its ${counted(expected, 'row')}`];
  if (behind?.rows.length === 0) evidence.push('the page behind it is empty');
  if (trial.failure !== undefined || trial.repeated !== undefined) {
    const what = trial.failure === undefined ? 'brings it again' : failureText(trial.failure);
    const ending = endingsOf(candidate, seen).find(
      ({ pagination }) => 'stopWhen' in pagination || 'limitStop' in pagination,
    );
    if (ending === undefined)
      return {
        ...settled,
        verdict: 'doubtful',
        against: [`behind the last page ${what}, and nothing says where the end is`],
      };
    const pagination = { ...candidate.pagination, ...ending.pagination };
    return {
      ...settled,
      candidate: { ...candidate, pagination, says: candidate.says + ending.says },
      configuration: configurationFor(subject, { params: candidate.params, pagination }),
      evidence: [...evidence, `behind it the API ${what}`],
    };
  }
  return { ...settled, evidence };
}
