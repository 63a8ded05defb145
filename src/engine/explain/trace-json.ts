import { isoTime } from '../../lib/iso-time.ts';
import { toText } from '../../lib/json/index.ts';
import type { LimitJson } from '../recording/limit.ts';
import { reasonText } from '../shared/stop-reason.ts';
import type { RecordingScan } from '../recording/scan.ts';
import type { Story, JobTrace, ToldPage, ToldRun } from './trace.ts';

/** Recording of one configuration row, and its trace. */
export interface ToldRecording {
  /** Undefined for a configuration without rows. */
  readonly row: string | undefined;
  readonly scanned: Pick<RecordingScan, 'head' | 'isFinished'>;
  /** Bytes of an incomplete record at the end. */
  readonly damagedBytes: number;
  readonly story: Story;
}

/** Returns the whole trace as JSON, for programs. */
export function storyJson(told: ToldRecording & { readonly source: string }): object {
  return {
    recording: told.source,
    ...recordingJson(told),
    ...limitsJson(told.story),
    jobs: told.story.jobs.map((job) => ({
      ...jobJson(job),
      runs: job.runs.map((run) => ({ ...runJson(run), pages: run.pages.map(pageJson) })),
    })),
  };
}

/**
 * Writes a trace in lines of JSON, for reading in parts: one with the facts that `gex explain` shows of the recording
 * and its jobs, and one for each request in the order of the jobs, as many as their `requests` say.
 */
export function* storyLines(told: ToldRecording): Generator<string> {
  const { story } = told;
  const jobs = story.jobs.map((job) => ({
    ...jobJson(job),
    runs: job.runs.length,
    requests: job.runs.reduce((sum, { pages }) => sum + pages.length, 0),
  }));
  const { leftOut } = story;
  yield JSON.stringify({
    ...recordingJson(told),
    ...(leftOut === undefined ? {} : { leftOut }),
    ...limitsJson(story),
    jobs,
  });
  const row = told.row === undefined ? {} : { row: told.row };
  for (const { name, level, runs } of story.jobs)
    for (const run of runs)
      for (const page of run.pages)
        yield JSON.stringify({ ...row, job: name, level, run: runJson(run), ...pageJson(page) });
}

function recordingJson({ row, scanned, damagedBytes }: ToldRecording): object {
  const { head, isFinished } = scanned;
  return {
    version: head.version,
    startedAt: new Date(head.startedAt).toISOString(),
    ...(row === undefined ? {} : { row }),
    finished: isFinished,
    ...(damagedBytes === 0 ? {} : { damagedBytes }),
  };
}

/** A change of the number of requests at once, or what held it where it was. */
export interface LimitLine extends Omit<LimitJson, 'at'> {
  /** When it was. */
  readonly at: string;
}

function limitsJson({ limits }: Story): { readonly limits?: readonly LimitLine[] } {
  if (limits.length === 0) return {};
  return { limits: limits.map((limit) => ({ ...limit, at: isoTime(limit.at) })) };
}

function jobJson({ name, level, report }: JobTrace): object {
  if (report === undefined) return { job: name, level };
  const { verdict, pages, rows, doubtful } = report;
  return { job: name, level, verdict, pages, rows, doubtful };
}

function runJson({ above, row, iteration, window }: ToldRun): object {
  return {
    ...(above.length === 0
      ? { iteration }
      : { above: above.map(({ job, page }) => ({ job, page })), row: (row ?? 0) + 1 }),
    ...(window === undefined ? {} : { window }),
  };
}

function pageJson({ page, step, exchange, body, note, fate, from }: ToldPage): object {
  const { request, status, url, ms, attempts, at } = exchange;
  const { stop, judgement, values } = note;
  return {
    page,
    ...(step === undefined ? {} : { step }),
    request: {
      method: request.method,
      url: request.url,
      ...(request.body === undefined ? {} : { body: request.body }),
    },
    status,
    ...(url === undefined ? {} : { answeredBy: url }),
    at: new Date(at).toISOString(),
    ms,
    retries: (attempts ?? 1) - 1,
    bytes: exchange.large?.bytes ?? body.bytes,
    ...(note.rows === undefined ? {} : { rows: note.rows }),
    fate,
    from,
    ...(values === undefined
      ? {}
      : {
          looked: Object.fromEntries(
            [...values].map(([path, value]) => [path, value === null ? null : toText(value)]),
          ),
        }),
    ...(stop === undefined ? {} : { end: { ...stop, text: reasonText(stop) } }),
    ...(judgement === undefined ? {} : { judgement }),
  };
}
