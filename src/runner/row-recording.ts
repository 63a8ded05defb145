import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Env } from '../lib/env.ts';
import { RunError } from '../lib/errors.ts';
import type { AnyObject } from '../lib/json/index.ts';
import type { Log } from '../lib/log.ts';
import type { Recording } from '../engine/recording/exchanges.ts';
import { difference, makeHead, type Subject } from '../engine/recording/head.ts';
import type { RecordingCopy } from '../engine/recording/copy.ts';
import { RecordFile } from '../engine/recording/record-file.ts';
import { Recorder } from '../engine/recording/recorder.ts';
import { scan, type RecordingScan } from '../engine/recording/scan.ts';
import type { Secrets } from '../lib/secrets.ts';
import { guard } from '../engine/sink/file-error.ts';
import type { RowFolder } from './row-folder.ts';
import type { RowPlace } from './row-place.ts';

/** How a run goes on where one over the same configuration and state was stopped. */
export interface ResumeRunOptions {
  /** Milliseconds since the last answer after which the run begins anew. Default: a day. */
  readonly withinMs?: number | undefined;
  /** Begins anew: all of it, or the jobs of these names. Default: false. */
  readonly restart?: boolean | readonly string[] | undefined;
}

export interface RecordingOptions {
  /**
   * Goes on where a run over the same configuration and state was stopped, by whatever it was. With false the run
   * begins anew, and leaves nothing to go on with. Default: true.
   */
  readonly resume?: ResumeRunOptions | boolean | undefined;
  /**
   * Bytes that the recording of the last run that succeeded may have to be kept, for `replay` and explanations; 0 keeps
   * none. Default: 100 MB, and none with the manner `component`.
   */
  readonly keepRecording?: number | undefined;
}

export const DEFAULT_RESUME_MS = 86_400_000;

interface World {
  readonly env: Env;
  readonly secrets: Secrets;
  /** A run with a limit: it neither goes on with what was stopped nor leaves something to go on with. */
  readonly isTrial: boolean;
  readonly keptBytes: number;
}

/** The recording of a row while it runs. */
export interface RowRecording {
  readonly recording: Recording;
  /** The state that the run begins with. */
  readonly state: AnyObject;
  /** The stretch of time that it fills again. */
  readonly period: Subject['period'];
  /**
   * Ends it. What succeeded is kept for a look; what did not, to go on with. Call it once.
   *
   * @param copies get what it has
   */
  end(hasSucceeded: boolean, copies?: readonly RecordingCopy[]): Promise<void>;
}

/** Opens the recording of a run over this configuration and state: one to go on with, or a new one. */
export function openRowRecording(
  at: RowPlace,
  subject: Omit<Subject, 'row'>,
  { resume = true }: RecordingOptions,
  world: World,
): RowRecording {
  const { folder } = at;
  const mayGoOn = resume !== false && !world.isTrial;
  const file = mayGoOn ? folder.unfinished : path.join(folder.work, 'recording');
  const whole = { row: at.row.id, ...subject };
  const options = resume === true || resume === false ? {} : resume;
  const recorder =
    (mayGoOn ? goOn(file, whole, options, at.log, world) : undefined) ?? begin(file, whole, world);
  if (resume === false) rmSync(folder.unfinished, { force: true });
  return {
    recording: recorder,
    state: subject.state,
    period: subject.period,
    async end(hasSucceeded, copies = []) {
      recorder.close();
      await copyInto(copies, file);
      if (!hasSucceeded && recorder.isEmpty) rmSync(file, { force: true });
      if (hasSucceeded) keepLast(folder, file, resume === false ? 0 : world.keptBytes);
    },
  };
}

/** Keeps the recording of a run that succeeded as the last one, if it is not too large. */
export function keepLast({ lastRecording }: RowFolder, file: string, keptBytes: number): void {
  rmSync(lastRecording, { force: true });
  guard(file, () => (statSync(file).size <= keptBytes ? renameSync(file, lastRecording) : rmSync(file)));
}

export async function copyInto(copies: readonly RecordingCopy[], path: string): Promise<void> {
  if (copies.length === 0) return;
  const file = RecordFile.open(path, 'r');
  try {
    const found = scan(file);
    if (found !== undefined) for (const copy of copies) await copy.add(file, found);
  } finally {
    file.close();
  }
}

function begin(file: string, subject: Subject, world: World): Recorder {
  guard(file, () => mkdirSync(path.dirname(file), { recursive: true }));
  return Recorder.create(file, makeHead(subject, world), world);
}

/**
 * Opens a recording to resume; undefined when there is none, and with a log line when there is one that cannot be used.
 */
function goOn(
  path: string,
  subject: Subject,
  { withinMs = DEFAULT_RESUME_MS, restart = false }: ResumeRunOptions,
  log: Log,
  world: World,
): Recorder | undefined {
  if (!existsSync(path)) return undefined;
  const file = RecordFile.open(path, 'r+');
  let recorder: Recorder | undefined;
  try {
    const found = scan(file);
    if (found === undefined) {
      log.warn(
        'The recording of the run that was stopped cannot be read: it is damaged, or of another version. A new run begins',
        { file: path },
      );
      return undefined;
    }
    const why = whyNot(found, subject, withinMs, restart, world.env.now());
    if (found.exchanges > 0 && why !== undefined)
      log.info(`A new run begins, and does not go on with ${describe(found)}: ${why}`);
    if (found.exchanges === 0 || why !== undefined) return undefined;
    const jobs = restart === false || restart === true ? [] : restart;
    checkJobs(jobs, found);
    const cut = file.end - found.end;
    if (cut > 0)
      log.info(`The end of the recording was not whole, and ${cut} bytes of it are not used`, { file: path });
    recorder = Recorder.goOn(file, found, jobs, world);
    const again = jobs.map((job) => `“${job}”`).join(', ');
    log.info(`${goingOn(found)}${again === '' ? '' : `; asked for again: ${again}`}`);
    return recorder;
  } finally {
    if (recorder === undefined) file.close();
  }
}

function whyNot(
  found: RecordingScan,
  subject: Subject,
  withinMs: number,
  restart: ResumeRunOptions['restart'],
  now: number,
): string | undefined {
  if (restart === true) return 'it was asked to begin anew';
  const different = difference(found.head, subject);
  if (different !== undefined) return different;
  const ageMs = now - (found.last?.at ?? found.head.startedAt);
  return ageMs > withinMs ? `its last answer is ${duration(ageMs)} old` : undefined;
}

function describe({ head, exchanges }: RecordingScan): string {
  const answers = exchanges === 1 ? '1 answer' : `${exchanges.toLocaleString('en-US')} answers`;
  return `the run that was begun at ${timeText(head.startedAt)} and stopped after ${answers}`;
}

function goingOn({ furthest, head }: RecordingScan): string {
  const [top] = furthest ?? [];
  const last =
    top?.export === undefined
      ? `page ${(top?.page ?? 0).toLocaleString('en-US')}`
      : 'the export was asked for';
  const where = top === undefined ? '' : ` after ${last} of “${top.job}”`;
  return `Going on${where}, begun at ${timeText(head.startedAt)}`;
}

function checkJobs(jobs: readonly string[], { jobs: known }: RecordingScan): void {
  const unknown = jobs.find((job) => !known.has(job));
  if (unknown === undefined) return;
  throw new RunError('command.invalid', `The run that was stopped has no answers of a job “${unknown}”.`, {
    hint: `It has those of ${[...known].map((job) => `“${job}”`).join(', ')}.`,
  });
}

export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function duration(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  if (hours >= 2) return `${Math.floor(hours)} hours`;
  return `${Math.max(1, Math.floor(ms / 60_000))} minutes`;
}
