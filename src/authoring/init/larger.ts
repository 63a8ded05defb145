import { entriesOf, objectOf, type AnyObject } from '../../lib/json/index.ts';
import type { Candidate, Observed } from './candidate.ts';
import { overlapOf } from './compare.ts';
import { offsetCandidate, pageCandidate } from './count.ts';
import { isRefusal } from './endings.ts';
import { besideSize, isSizeName } from './guesses.ts';
import {
  configurationFor,
  failureText,
  runOf,
  type ProbeContext,
  type ProbedList,
  type TriedSource,
} from './laboratory.ts';
import { counted } from '../../lib/counted.ts';
import { placeOfSize, queryOf, topNames } from './params.ts';
import { signOf } from './signs.ts';

/** Candidate with more rows on a page, which begins with the rows that are known. */
export interface Larger {
  readonly candidate: Candidate;
  readonly seen: Observed;
  readonly subject: ProbedList;
  readonly evidence: string;
}

/** Requests that must be left for a list that is too long to be read, so that its end can be looked at. */
const FOR_THE_END = 4;
/** Pages of a list that is worth it. */
const MANY = 3;
/** Rows that are asked for, where a page has fewer; then those that are, where an API refuses so many. */
const SIZES = [
  [100, 50],
  [1000, 500, 200],
];

/**
 * Asks for a longer page, where the request has no size of its own and the list has several pages. It counts when it
 * begins with the rows of the first two pages.
 *
 * @param expected pages of the list, where the answer says it
 */
export async function largerPages(
  candidate: Candidate,
  expected: number | undefined,
  {
    seen,
    subject,
    lab,
    tried,
  }: { seen: Observed; subject: ProbedList; lab: ProbeContext; tried: TriedSource[] },
): Promise<Larger | undefined> {
  if (placeOfSize(seen.target).length > 0 || (expected ?? MANY) < MANY) return undefined;
  // a list that can be read to its end must stay so
  const needed = expected === undefined || expected > lab.wire.left ? FOR_THE_END : expected;
  // both pages were asked for already
  const small = configurationFor(subject, { params: candidate.params, pagination: candidate.pagination });
  for (const name of namesOf(candidate, seen, expected !== undefined)) {
    for (const size of sizesAbove(subject.rows.length)) {
      if (lab.wire.left - 1 < needed) return undefined;
      const { pages } = await runOf(lab, small, 2);
      const known = pages.flatMap(({ rows }) => rows);
      // a second page that is short is the last one
      if (expected === undefined && known.length < 2 * subject.rows.length) return undefined;
      lab.onStep?.(`asking for ${size} rows at once by \`${name}\``);
      const what = `\`${name}\` for ${size} rows at once`;
      const first = sized(candidate, name, size, seen);
      const trial = await runOf(lab, configurationFor(subject, first.candidate), 1);
      if (trial.failure !== undefined) {
        tried.push({ what, result: failureText(trial.failure) });
        if (isRefusal(trial.failure.details['status'])) continue;
        break;
      }
      const rows = trial.pages[0]?.rows ?? [];
      if (rows.length <= subject.rows.length) {
        tried.push({ what, result: 'the page stays as long' });
        break;
      }
      if (!overlapOf(known, rows.slice(0, known.length), subject).isSame) {
        tried.push({ what, result: 'it does not begin with the rows that are known' });
        break;
      }
      const all = expected === undefined ? Infinity : expected * subject.rows.length;
      // fewer than were asked for, and yet not all: the most that the API gives
      const isCapped = rows.length < size && rows.length + subject.rows.length < all;
      const own = isCapped ? sized(candidate, name, rows.length, seen) : first;
      const cap = isCapped ? `, the most that the API gives of ${size}` : '';
      return {
        ...own,
        subject: { ...subject, target: own.seen.target, rows },
        evidence: `\`${name}\` asks for ${isCapped ? rows.length : size} rows at once${cap}, in place of ${subject.rows.length}: they begin with the ${counted(known.length, 'row')} that came in ${counted(pages.length, 'page')} without it`,
      };
    }
  }
  return undefined;
}

/** Returns sizes to ask for: a smaller one where the API refuses the first. */
function sizesAbove(rows: number): readonly number[] {
  const first = SIZES.findIndex(([size]) => size !== undefined && size > rows);
  return (SIZES[first] ?? []).filter((size) => size > rows);
}

/**
 * Returns names of the size: as the answer or its links have it, else usual ones.
 *
 * @param isLong the answer says that there are several pages: then a guess is worth a request
 */
function namesOf(
  { counts, kind }: Candidate,
  { signs, target }: Observed,
  isLong: boolean,
): readonly string[] {
  const echo = signOf(signs, 'size');
  const inAll = signs.links.flatMap(({ url }) => queryOf(url).map(([name]) => name));
  const said = [
    ...[...(target.documented ?? []), ...inAll].filter(isSizeName),
    ...(echo === undefined
      ? []
      : [
          echo.path
            .replace(/^header (?:x-)?/, '')
            .split('.')
            .at(-1) ?? '',
        ]),
    ...(isLong && counts !== undefined && kind === 'offset' && counts.param.length === 1
      ? [counts.sizeParam]
      : []),
  ].map((name) => (/^[a-z]+-[a-z-]+$/.test(name) ? name.replaceAll('-', '_') : name));
  const beside = besideSize([...topNames(target.params), ...inAll]);
  const usual = beside === undefined ? ['limit', 'per_page'] : [beside('limit'), beside('size')];
  if (said.length === 0) return isLong ? usual : [];
  return [...new Set(said)].slice(0, 2);
}

function sized(
  candidate: Candidate,
  name: string,
  size: number,
  seen: Observed,
): Pick<Larger, 'candidate' | 'seen'> {
  const params = withSize(seen.target.params, name, size);
  const own: Observed = { ...seen, target: { ...seen.target, params }, rows: size };
  const { counts, kind } = candidate;
  if (counts !== undefined)
    return {
      candidate:
        kind === 'page'
          ? pageCandidate(counts.param, counts.first, own)
          : offsetCandidate(counts.param, counts.first, own),
      seen: own,
    };
  const isToken = kind === 'token' || kind === 'row';
  return {
    candidate: {
      ...candidate,
      pagination: isToken ? { ...candidate.pagination, includeParams: true } : candidate.pagination,
      params: withSize(candidate.params, name, size),
    },
    seen: own,
  };
}

function withSize(params: AnyObject, name: string, size: number): AnyObject {
  return objectOf([...entriesOf(params), [name, size]]);
}
