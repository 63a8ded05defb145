import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RunError } from '../lib/errors.ts';
import { getKey, isList, isObject, parseExact, type Json } from '../lib/json/index.ts';
import { shellWord } from '../lib/shell-word.ts';
import { writeFileAtomic } from '../engine/sink/atomic.ts';
import { reportText } from '../engine/sink/report.ts';
import { describeDoubt, isOpen, type JobReport } from '../engine/completeness/index.ts';

/** Row with the facts that decide whether its completeness fails the command. */
export interface DoubtfulRow {
  readonly id?: string;
  readonly out: string;
  readonly jobs: readonly JobReport[];
  /** Not pushed because of a doubt. */
  readonly isHeld?: boolean;
}

/** Tells whether {@link refuseDoubt} refuses them. */
export function isRefused(jobs: readonly JobReport[]): boolean {
  return refusedOf(jobs) !== undefined;
}

function refusedOf(jobs: readonly JobReport[]): JobReport | undefined {
  return jobs.find((job) => job.required === true && isOpen(job));
}

/** Refuses jobs with `"completeness": "require"` that may be incomplete. */
export function refuseDoubt(jobs: readonly JobReport[]): void {
  const refused = refusedOf(jobs);
  if (refused === undefined) return;
  throw new RunError('run.doubtful', describeDoubt(refused), {
    where: { job: refused.job, path: refused.at },
    hint: 'The configuration has `"completeness": "require"`: correct what is named, or take that out.',
  });
}

/**
 * Returns the error that a command ends with if rows may be incomplete: those that were held back, and with `isStrict`
 * all of them.
 *
 * @returns undefined when there is nothing to say
 */
export function doubtError(
  rows: readonly DoubtfulRow[],
  { dataFolder, isStrict }: { readonly dataFolder: string; readonly isStrict: boolean },
): RunError | undefined {
  const doubtful = rows.filter(({ jobs, isHeld }) => isHeld === true || (isStrict && jobs.some(isOpen)));
  const [first] = doubtful;
  const job = first?.jobs.find(isOpen);
  if (first === undefined || job === undefined) return undefined;
  const names = doubtful.flatMap(({ jobs }) => jobs.filter(isOpen).map((each) => `“${each.job}”`));
  const isHeld = first.isHeld === true;
  const place = `he tables are in ${doubtful.map(({ out }) => out).join(', ')}.`;
  const why = isHeld ? ', so nothing of it was pushed.' : `: t${place}`;
  const message = `${names.join(', ')} may not have everything${why}`;
  const row = doubtful.length === 1 && first.id !== undefined ? ` --row ${shellWord(first.id)}` : '';
  const accept =
    'run again with --accept-doubtful, or write `"completeness": {"mode": "accept", "because": "…"}` into the job';
  return new RunError('run.doubtful', message, {
    where: { job: job.job, path: job.at, ...(first.id === undefined ? {} : { row: first.id }) },
    hint: isHeld
      ? `T${place} Correct what the warnings name; or push all the same with: gex storage push ${shellWord(dataFolder)}${row}; or ${accept}.`
      : `Correct what the warnings name; or ${accept}.`,
  });
}

/** Writes into an output that it was not pushed, so that its state follows when it is. */
export function holdBack(out: string, jobs: readonly JobReport[]): void {
  const types = readReport(out, 'types');
  const text = reportText(jobs, { held: true, ...(isList(types) ? { types } : {}) });
  writeFileAtomic(path.join(out, 'report.json'), text);
}

/** Tells whether an output was held back: its state has not moved on. */
export function wasHeld(out: string): boolean {
  return readReport(out, 'held') === true;
}

function readReport(out: string, key: string): Json | undefined {
  const file = path.join(out, 'report.json');
  if (!existsSync(file)) return undefined;
  try {
    const report = parseExact(readFileSync(file, 'utf8'));
    return isObject(report) ? getKey(report, key) : undefined;
  } catch {
    return undefined; // not what a run wrote
  }
}
