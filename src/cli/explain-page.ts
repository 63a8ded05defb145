import { RunError } from '../lib/errors.ts';
import type { JobTrace, ToldPage } from '../engine/explain/trace.ts';
import { parseExact } from '../lib/json/index.ts';
import { RecordedBody } from '../engine/recording/large.ts';
import type { OpenRecording } from '../runner/recordings.ts';
import type { Secrets } from '../lib/secrets.ts';
import { shownLines } from '../lib/shown-text.ts';
import { leadText } from '../engine/explain/value-origin-text.ts';
import type { ToldText } from './explain-text.ts';
import { formatBytes, plural } from './format.ts';
import { formatJson } from '../lib/json/format-json.ts';

export interface PageChoice {
  readonly page: number;
  /** Which run of a child, from 1. */
  readonly parent: number | undefined;
  readonly isJson: boolean;
  readonly secrets: Secrets;
}

/** Describes one exchange completely, without secrets. */
export function describePage(told: readonly ToldText[], choice: PageChoice): string {
  const { recording, job } = theJob(told);
  const { runs } = job;
  const run = runs[(choice.parent ?? 1) - 1];
  if (run === undefined)
    throw missing(recording, job, `It has ${plural(runs.length, 'run')}.`, `a run ${choice.parent ?? 1}`);
  const pagesOnly = run.pages.filter(({ step }) => step === undefined);
  const page = pagesOnly.find((each) => each.page === choice.page);
  if (page === undefined) {
    const pages = pagesOnly.map((each) => each.page);
    const has =
      pages.length === 1
        ? `It has page ${pages[0]} alone.`
        : `It has the pages ${pages[0]} to ${pages.at(-1)}.`;
    throw missing(recording, job, has, `a page ${choice.page}`);
  }
  const body = bodyOf(recording, page, choice.secrets);
  if (choice.isJson) return asJson(job, page, body);
  const which =
    runs.length === 1
      ? []
      : [`This is run ${choice.parent ?? 1} of ${runs.length}; --parent N shows another one.`];
  return [...which, ...asText(page, body)].join('\n');
}

function theJob(told: readonly ToldText[]): { recording: OpenRecording; job: JobTrace } {
  const all = told.flatMap(({ recording, story }) => story.jobs.map((job) => ({ recording, job })));
  const [first] = all;
  if (first !== undefined && all.length === 1) return first;
  const rows = new Set(told.map(({ recording }) => recording.row));
  const names = [...new Set(all.map(({ job }) => `“${job.name}”`))].join(', ');
  throw new RunError(
    'command.invalid',
    first === undefined
      ? 'The recording has no answers.'
      : `--page is of one job, and there are several: ${names}.`,
    {
      hint: rows.size > 1 ? 'Name the job with --job, and the row with --row.' : 'Name the job with --job.',
    },
  );
}

function missing({ source, row }: OpenRecording, { name }: JobTrace, hint: string, what: string): RunError {
  return new RunError('command.invalid', `“${name}” has no such answer in the recording: ${what}.`, {
    where: { file: source, ...(row === undefined ? {} : { row }) },
    hint,
  });
}

const SHOWN_BYTES = 2 ** 14;

function bodyOf({ file }: OpenRecording, { body, exchange }: ToldPage, secrets: Secrets): string {
  const { large } = exchange;
  // of what is too large to look at, the beginning
  const bytes =
    large === undefined
      ? file.bytes(body.at, body.bytes)
      : new RecordedBody(file, large).read(0, SHOWN_BYTES);
  const text = Buffer.from(bytes).toString('utf8') + (large === undefined ? '' : '\n…');
  const kind = exchange.headers['content-type'] ?? '';
  return /json/i.test(kind) || /^\s*[[{]/.test(text) ? secrets.redactBody(text) : secrets.redactMessage(text);
}

function asText({ exchange, body: { bytes: held }, from, page }: ToldPage, body: string): string[] {
  const bytes = exchange.large?.bytes ?? held;
  const { request, status, headers, url, ms, attempts = 1, at } = exchange;
  const why = from.length === 0 ? (page === 1 ? 'the configuration' : '') : from.map(leadText).join('; ');
  const retries = attempts > 1 ? ` after ${plural(attempts - 1, 'retry').replace(/retrys$/, 'retries')}` : '';
  return [
    `${request.method} ${request.url}`,
    ...headerLines(request.headers),
    ...(request.body === undefined ? [] : ['', pretty(request.body)]),
    ...(why === '' ? [] : ['', `It came about by: ${why}`]),
    '',
    `${status} in ${ms} ms${retries}, ${formatBytes(bytes)}, at ${new Date(at).toISOString()}`,
    ...(url === undefined ? [] : [`answered by ${url}`]),
    ...headerLines(headers),
    '',
    bytes === 0 ? '(no body)' : pretty(body),
  ].map(shownLines);
}

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

function pretty(body: string): string {
  try {
    return formatJson(parseExact(body));
  } catch {
    return body;
  }
}

function asJson(job: JobTrace, { page, exchange, from }: ToldPage, body: string): string {
  const { request, status, headers, url, ms, attempts = 1, at } = exchange;
  const answer = { status, ...(url === undefined ? {} : { url }), headers, body };
  return JSON.stringify(
    { job: job.name, page, from, request, answer, at: new Date(at).toISOString(), ms, retries: attempts - 1 },
    null,
    2,
  );
}
