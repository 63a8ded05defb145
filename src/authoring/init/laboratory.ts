import type { LoginKeeper } from '../../engine/http/auth/index.ts';
import type { Env } from '../../lib/env.ts';
import type { ExtractorError } from '../../lib/errors.ts';
import { type AnyObject, type Json } from '../../lib/json/index.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Candidate } from './candidate.ts';
import { overlapOf, type RowIdentity } from './compare.ts';
import { configurationOf, type FoundJobParts } from './configure.ts';
import type { FoundRequest } from './target.ts';
import { tryOut, type Trial, type TriedPage } from './trial.ts';
import type { Wire } from './budgeted-client.ts';
import { counted } from '../../lib/counted.ts';

/** Dependencies for trying out configurations. */
export interface ProbeContext {
  readonly wire: Wire;
  readonly env: Env;
  readonly secrets: Secrets;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Keeps logins of persons. */
  readonly logins?: LoginKeeper | undefined;
  /** Told what is done, for people who wait. */
  readonly onStep?: (text: string) => void;
}

/** The list that was found, as it came with the first answer. */
export interface ProbedList extends RowIdentity {
  readonly target: FoundRequest;
  /** Keys of the job that say where the rows are. */
  readonly rowsKeys: AnyObject;
  readonly rows: readonly Json[];
}

/** Attempt with its result; JSON. */
export interface TriedSource {
  readonly what: string;
  readonly result: string;
}

/** How page 2 came out. `new`: it has other rows; `empty`: it has none; `mixed`: some of page 1 and some others. */
export interface Look {
  readonly outcome: 'new' | 'empty' | 'mixed' | 'wrong' | 'spent';
  /** It begins with the last row of page 1: rows are counted from 1. */
  readonly isByOne?: true;
  /** It is page 1. */
  readonly isAgain?: true;
  readonly why: string;
}

export async function runOf(
  lab: ProbeContext,
  configuration: AnyObject,
  limit: number | undefined,
): Promise<Trial> {
  return await tryOut({ ...lab, configuration, limit });
}

export function configurationFor(
  { target, rowsKeys }: ProbedList,
  parts: Omit<FoundJobParts, 'rows'>,
): AnyObject {
  return configurationOf(target, { ...parts, rows: rowsKeys });
}

/** Asks for page 2 in the way of a candidate. */
export async function lookAt(candidate: Candidate, subject: ProbedList, lab: ProbeContext): Promise<Look> {
  lab.onStep?.(`trying ${candidate.says}`);
  const { pagination, params, counts, kind } = candidate;
  if (counts === undefined)
    return judgeLook(await runOf(lab, configurationFor(subject, { params, pagination }), 2), subject);
  // the first page is the one that is known: it costs no request
  const second =
    kind === 'page' ? { firstPage: counts.first + 1 } : { firstOffset: counts.first + counts.size };
  const trial = await runOf(
    lab,
    configurationFor(subject, { params, pagination: { ...pagination, ...second } }),
    1,
  );
  return judgeSecond(trial, trial.pages[0], subject);
}

function judgeLook(trial: Trial, subject: ProbedList): Look {
  const { pages, report, repeated } = trial;
  if (repeated !== undefined || report?.reasons.some(({ reason }) => REPEATS.has(reason.code)))
    return { outcome: 'wrong', why: 'page 1 comes again' };
  return judgeSecond(trial, pages[1], subject);
}

function judgeSecond(trial: Trial, second: TriedPage | undefined, subject: ProbedList): Look {
  const { failure, report } = trial;
  if (trial.isSpent) return { outcome: 'spent', why: 'no requests are left' };
  if (failure !== undefined) return { outcome: 'wrong', why: failureText(failure) };
  if (second === undefined)
    return { outcome: 'wrong', why: report?.reasons[0]?.text ?? 'it ends after page 1' };
  if (second.rows.length === 0) return { outcome: 'empty', why: 'page 2 is empty' };
  const { known, isSame, isById, rows: came } = overlapOf(subject.rows, second.rows, subject);
  const how = isById ? ' by their ids' : '';
  if (isSame) return { outcome: 'wrong', isAgain: true, why: 'page 1 comes again' };
  if (known === came) return { outcome: 'wrong', why: `page 2 brings rows of page 1${how}` };
  const same = report?.doubtful[0]?.doubts.find(
    ({ code }) => code === 'samePage' || code === 'onlyKnownRows',
  );
  if (same !== undefined)
    return { outcome: 'wrong', why: 'page 2 brings page 1 again, but for changing values' };
  const [first, last] = [second.rows[0], subject.rows.at(-1)];
  const isByOne =
    known === 1 && first !== undefined && last !== undefined && overlapOf([last], [first], subject).isSame;
  if (known > 0)
    return {
      outcome: 'mixed',
      ...(isByOne ? { isByOne } : {}),
      why: `${known} of ${counted(came, 'row')} of page 2 are rows of page 1${how}`,
    };
  return { outcome: 'new', why: `page 2 has ${counted(came, 'other row')}` };
}

const REPEATS = new Set<string>(['sameResponse', 'repeatedRequest', 'repeatedRows']);

/** Describes an answer that could not be used, in a few words. */
export function failureText(failure: ExtractorError): string {
  const { status } = failure.details;
  if (typeof status === 'number') return `the API answers ${status}`;
  if (failure.code === 'response.notJson') return 'the answer is no JSON';
  return failure.message.split('\n', 1)[0] ?? '';
}
