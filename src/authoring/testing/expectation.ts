import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describeError, exitCodeOf, ExtractorError } from '../../lib/errors.ts';
import { getKey, isObject, parseExact, toText } from '../../lib/json/index.ts';
import { describeDoubt, type JobReport } from '../../engine/completeness/index.ts';
import { compareFolders, compareJson, compareLines } from './compare.ts';

/** Result of running a fixture. */
export interface ExampleOutcome {
  /** The data folder that it ran over. */
  readonly dataFolder: string;
  /** `GET /books`, in order. */
  readonly requests: readonly string[];
  /** `warn: text`, in order. */
  readonly log: readonly string[];
  readonly error: unknown;
  /** The verdicts on the jobs, in order. */
  readonly jobs: readonly JobReport[];
  /** Folders below the data folder with an `out` of their own: `''`, or `rows/<id>`. */
  readonly runs: readonly string[];
}

/** Returns all differences between a run and the expectation of the fixture. */
export function compareOutcome(fixture: string, outcome: ExampleOutcome): string[] {
  const expected = path.join(fixture, 'expected');
  return [
    ...compareError(path.join(expected, 'error.json'), outcome.error),
    ...outcome.runs.flatMap((run) => compareRun(fixture, run, outcome)),
    ...compareRequests(path.join(expected, 'requests'), outcome.requests),
    ...compareVerdicts(path.join(expected, 'verdicts'), outcome.jobs),
    ...compareLog(path.join(expected, 'log'), outcome.log),
  ];
}

function compareRun(fixture: string, run: string, { dataFolder }: ExampleOutcome): string[] {
  const out = path.join(dataFolder, run, 'out');
  const own = path.join(fixture, 'expected', run);
  const sample = path.join(fixture, '_sample_out');
  const tables = run === '' && existsSync(sample) ? sample : path.join(own, 'tables');
  const problems = compareFolders(tables, path.join(out, 'tables'), path.join(run, 'tables'));
  const state = path.join(own, 'state.json');
  if (!existsSync(state)) return problems;
  const written = path.join(out, 'state.json');
  if (!existsSync(written)) return [...problems, `${path.join(run, 'state.json')} was not written.`];
  const difference = compareJson(
    readFileSync(state, 'utf8'),
    readFileSync(written, 'utf8'),
    path.join(run, 'state.json'),
  );
  return difference === undefined ? problems : [...problems, difference];
}

function compareError(file: string, error: unknown): string[] {
  if (!existsSync(file))
    return error === undefined ? [] : [`The run failed:\n${indented(describeError(error))}`];
  if (error === undefined) return ['The run succeeded, and error.json expects that it fails.'];
  const expected = parseExact(readFileSync(file, 'utf8'));
  if (!isObject(expected)) return ['error.json must be an object with exitCode, code and message.'];
  const text = describeError(error);
  const got = {
    exitCode: String(exitCodeOf(error)),
    code: error instanceof ExtractorError ? error.code : '',
  };
  const problems: string[] = [];
  for (const key of ['exitCode', 'code'] as const) {
    const wanted = getKey(expected, key);
    if (wanted === undefined || toText(wanted) === got[key]) continue;
    problems.push(
      `${key} differs:\n  expected: ${toText(wanted)}\n  got:      ${got[key]}\n${indented(text)}`,
    );
  }
  const message = toText(getKey(expected, 'message'));
  if (text.includes(message)) return problems;
  return [
    ...problems,
    `The error does not say what error.json expects:\n  expected: ${message}\n  got:      ${text}`,
  ];
}

function compareRequests(file: string, requests: readonly string[]): string[] {
  if (!existsSync(file)) return [];
  const difference = compareLines(linesOf(file), requests, 'requests');
  return difference === undefined ? [] : [difference];
}

/** Compares one line for each job: `books: complete`. */
function compareVerdicts(file: string, jobs: readonly JobReport[]): string[] {
  if (!existsSync(file)) return [];
  const got = jobs.map(({ job, verdict }) => `${job}: ${verdict}`);
  const difference = compareLines(linesOf(file), got, 'verdicts');
  if (difference === undefined) return [];
  const doubts = jobs.filter(({ verdict }) => verdict === 'doubtful').map(describeDoubt);
  return [[difference, ...doubts].join('\n')];
}

/** Compares the log: each line of the file must be in a line of the log. */
function compareLog(file: string, log: readonly string[]): string[] {
  if (!existsSync(file)) return [];
  return linesOf(file)
    .filter((wanted) => !log.some((line) => line.includes(wanted)))
    .map((wanted) => `The log has no line with: ${wanted}\n${log.map((line) => `  ${line}`).join('\n')}`);
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '');
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}
