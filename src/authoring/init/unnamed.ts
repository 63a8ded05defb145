import { compilePath, isNumber, isScalar, numberOf, toText, type Json } from '../../lib/json/index.ts';
import { numericOf } from '../../lib/read-settings.ts';
import type { Candidate, Observed } from './candidate.ts';
import { overlapOf } from './compare.ts';
import { offsetCandidate, pageCandidate } from './count.ts';
import { fieldsOf } from './fields.ts';
import { isOffsetName, isPageName, isSizeName, ROW_NAMES, TOKEN } from './guesses.ts';
import {
  configurationFor,
  lookAt,
  runOf,
  type ProbeContext,
  type ProbedList,
  type TriedSource,
} from './laboratory.ts';
import { plain } from './names.ts';
import { leavesOf, placeOfSize, type ParameterPath } from './params.ts';
import { settle, type Settled } from './settle.ts';
import { withParameter } from './target.ts';
import type { TriedPage } from './trial.ts';

/** Result of trying the whole numbers of a request. */
export interface UnnamedWay {
  readonly settled: Settled | undefined;
  /** Why there may be more rows: another number brings others, and nothing tells whether it counts pages. */
  readonly doubt: string | undefined;
}

/** A whole number that the request has, under a name that does not say what it is: `?batch=0`. */
interface UnnamedNumber {
  readonly keys: ParameterPath;
  readonly value: number;
}

const NONE: UnnamedWay = { settled: undefined, doubt: undefined };

/**
 * Tries whole numbers of the request whose names say nothing, such as `?batch=0`: one more may be the next page, or
 * skip one row more. As it may as well choose among the rows (`?shop=1`), pages count only when there are three or
 * more, all full but the last one, whose rows go on in one order.
 */
export async function byUnnamed(
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
  tried: TriedSource[],
): Promise<UnnamedWay> {
  let doubt: string | undefined;
  for (const number of unnamedIn(seen)) {
    if (lab.wire.left === 0) break;
    const way =
      number.value > 1
        ? await beforeIt(number, seen, subject, lab)
        : await behindIt(number, seen, subject, lab, tried);
    if (way.settled !== undefined) return way;
    doubt ??= way.doubt;
  }
  return { settled: undefined, doubt };
}

/** Numbers that are worth a request each. */
const MOST = 4;

function unnamedIn({ target, rows }: Observed): readonly UnnamedNumber[] {
  const size = placeOfSize(target).join('.');
  return leavesOf(target.params)
    .flatMap(({ keys, value }) => {
      const [name, number] = [keys.at(-1) ?? '', numericOf(value)];
      if (number === undefined || !Number.isSafeInteger(number) || number < 0) return [];
      const isLow = number <= HIGHEST_PAGE || number % rows === 0;
      return isLow && keys.join('.') !== size && isUnnamed(name) ? [{ keys, value: number }] : [];
    })
    .slice(0, MOST);
}

/** Numbers above it are hardly those of a page. */
const HIGHEST_PAGE = 9;

function isUnnamed(name: string): boolean {
  const words = plain(name);
  return (
    !isPageName(name) &&
    !isOffsetName(name) &&
    !isSizeName(name) &&
    !TOKEN.test(words) &&
    !ROW_NAMES.includes(words) &&
    !CHOOSES.test(words)
  );
}

/** Names of numbers that choose among rows, or say how these are shown. */
const CHOOSES =
  /(?:^|_)(?:ids?|uid|gid|key|years?|quarter|months?|weeks?|days?|hours?|minutes?|dates?|time|ts|timestamp|since|until|before|after|version|ver|v|api|rev|status|state|types?|kind|mode|level|depth|lang|locale|format|active|enabled|deleted|archived|public|private|hidden|visible|min|max|gte?|lte?|lat|lng|lon|zoom|radius|price|amount|rating|stars|age|expand|embed|include|fields?|sort|order|desc|asc|pretty|debug|cache|callback|draw)$/;

/** Asks for what is before a number that is not the first one: a later page may have been given. */
async function beforeIt(
  { keys, value }: UnnamedNumber,
  { target }: Observed,
  subject: ProbedList,
  lab: ProbeContext,
): Promise<UnnamedWay> {
  const shown = keys.join('.');
  lab.onStep?.(`trying ${value - 1} in \`${shown}\``);
  const before = value - 1;
  const given = leavesOf(target.params).find((leaf) => leaf.keys.join('.') === shown)?.value;
  const params = withParameter(target.params, keys, typeof given === 'string' ? String(before) : before);
  const trial = await runOf(lab, configurationFor(subject, { params }), 1);
  const rows = trial.pages[0]?.rows ?? [];
  const isOther = rows.length > 0 && overlapOf(subject.rows, rows, subject).known < rows.length;
  return isOther && columnThatChooses([subject.rows, rows]) === undefined
    ? { ...NONE, doubt: doubtText(shown, value, before) }
    : NONE;
}

async function behindIt(
  { keys, value }: UnnamedNumber,
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
  tried: TriedSource[],
): Promise<UnnamedWay> {
  const shown = keys.join('.');
  let page = pageCandidate(keys, value, seen);
  let look = await lookAt(page, subject, lab);
  if (value === 0 && look.isAgain === true) {
    // some APIs take 0 for the first page, which is 1
    tried.push({ what: page.says, result: look.why });
    page = pageCandidate(keys, 1, seen);
    look = await lookAt(page, subject, lab);
  }
  if (look.outcome !== 'new' && look.outcome !== 'mixed') {
    tried.push({ what: page.says, result: look.why });
    return NONE;
  }
  const doubt = doubtText(shown, value, (page.counts?.first ?? value) + 1);
  const candidate = look.outcome === 'new' ? page : rowsToSkip(keys, value, seen);
  if (look.outcome === 'mixed') {
    tried.push({ what: page.says, result: look.why });
    const behind = await lookAt(candidate, subject, lab);
    if (behind.outcome !== 'new') {
      tried.push({ what: candidate.says, result: behind.why });
      return { ...NONE, doubt };
    }
  }
  const settled = await settle(candidate, seen, subject, lab, tried);
  if (settled === undefined || settled.verdict === 'doubtful') return { ...NONE, doubt };
  // an offset is proved row by row, a total by itself
  if (look.outcome === 'mixed' || settled.verdict === 'complete' || arePages(settled.trial.pages))
    return { settled, doubt: undefined };
  const column = columnThatChooses(settled.trial.pages.map(({ rows }) => rows));
  const why =
    column === undefined
      ? 'other rows come, and nothing shows that they are pages of one list'
      : `it chooses among the rows: \`${column}\` is the same in all of them, and another one with the next number`;
  tried.push({ what: candidate.says, result: why });
  return column === undefined ? { ...NONE, doubt } : NONE;
}

/** Beside a number that nothing names no size is added to the request. */
function rowsToSkip(keys: ParameterPath, first: number, seen: Observed): Candidate {
  const candidate = offsetCandidate(keys, first, seen);
  return placeOfSize(seen.target).length > 0
    ? candidate
    : { ...candidate, pagination: { ...candidate.pagination, limitParam: false } };
}

function doubtText(name: string, value: number, other: number): string {
  return `Whether these are all rows: \`${name}=${other}\` brings others than \`${name}=${value}\`, and nothing tells whether it is the number of a page or chooses among the rows. See the API's documentation.`;
}

/** The fewest pages that show a rhythm. */
const FEWEST = 3;

/** Tells whether pages look like those of one list: full but for the last one, and in one order. Pure. */
function arePages(pages: readonly TriedPage[]): boolean {
  const filled = pages.map(({ rows }) => rows).filter((rows) => rows.length > 0);
  const [first = []] = filled;
  const isFull = filled.slice(0, -1).every((rows) => rows.length === first.length);
  if (filled.length < FEWEST || !isFull || (filled.at(-1)?.length ?? 0) > first.length) return false;
  return columnThatChooses(filled) === undefined && isInOrder(filled.flat());
}

/** Tells whether the values of a field go up, or down, through all rows. */
function isInOrder(rows: readonly Json[]): boolean {
  return fieldsOf(rows).some(({ path, filled, distinct }) => {
    if (filled < rows.length || distinct < rows.length / 2) return false;
    const values = valuesOf(rows, path);
    const signs = new Set(values.slice(1).map((value, i) => compareValues(values[i] ?? null, value)));
    return !(signs.has(-1) && signs.has(1));
  });
}

function compareValues(one: Json, other: Json): -1 | 0 | 1 {
  const [left, right] = [sortable(one), sortable(other)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function sortable(value: Json): number | string {
  if (isNumber(value)) return numberOf(value);
  return numericOf(value) ?? toText(value);
}

/** Returns a field that has one value in all rows of a page, and another one on another page: the number chooses by it. */
function columnThatChooses(pages: readonly (readonly Json[])[]): string | undefined {
  const filled = pages.filter((rows) => rows.length > 1);
  const [first = []] = filled;
  if (filled.length < 2) return undefined;
  return fieldsOf(first).find(({ path, distinct, filled: count }) => {
    if (distinct !== 1 || count !== first.length) return false;
    const perPage = filled.map((rows) => new Set(valuesOf(rows, path).map((value) => toText(value))));
    return (
      perPage.every(({ size }) => size === 1) && new Set(perPage.flatMap((values) => [...values])).size > 1
    );
  })?.path;
}

function valuesOf(rows: readonly Json[], path: string): readonly Json[] {
  const compiled = compilePath(path);
  return rows.map((row) => {
    const value = compiled.find(row);
    return value !== undefined && isScalar(value) ? value : null;
  });
}
