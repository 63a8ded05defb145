import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isOpen } from '../engine/completeness/index.ts';
import { reachOf } from '../engine/http/trust/reach.ts';
import { writeFileAtomic } from '../engine/sink/atomic.ts';
import { systemEnv } from '../lib/env.ts';
import { exitCodeOf, ExtractorError, reasonOf } from '../lib/errors.ts';
import { isoTime } from '../lib/iso-time.ts';
import type { RunError } from '../storage/protocol/run.ts';
import { messageBody, type AlertSource } from '../service/domain/alerts/message.ts';
import { postMessage } from '../service/domain/alerts/post.ts';
import { causeOf, errorOf } from '../service/domain/runs/cause.ts';
import type { Args, Io } from './command.ts';
import type { RunOutcome } from './run.ts';
import { openLog } from './shared.ts';

/** Longest time that a command waits for the receiver, when all is done. */
const TIMEOUT_MS = 5000;

/** Problem of the run before: `.gex/notify.json` of the data folder, while something is wrong. */
interface Told {
  readonly cause: string;
  readonly since: string;
}

/**
 * Posts a message of a run that failed or is in doubt, or that went well after one that did not, in the form of the
 * alerts of a service. It comes when the run is over, and whatever becomes of it changes nothing of the run.
 */
export async function notifyOf(
  outcome: RunOutcome,
  url: string,
  { args, io }: { readonly args: Args; readonly io: Io },
): Promise<void> {
  // Somebody has ended it, or nothing was run: that says nothing of the source.
  if (io.signal.aborted || (outcome.error === undefined && outcome.rows.length === 0)) return;
  try {
    const file = path.join(outcome.dataFolder, '.gex', 'notify.json');
    const before = toldIn(file);
    const wrong = wrongIn(outcome, io);
    if (wrong === undefined && before === undefined) return;
    const time = isoTime(systemEnv.now());
    const isSame = wrong?.cause === before?.cause;
    const since = isSame ? (before?.since ?? time) : time;
    // Kept before it is sent: a message that is lost is in the log.
    if (existsSync(path.dirname(file)))
      writeFileAtomic(file, JSON.stringify(wrong === undefined ? {} : { cause: wrong.cause, since }), 0o600);
    const body = messageBody(
      {
        event: wrong?.event ?? 'recovered',
        severity: wrong?.event === 'doubtful' ? 'warning' : 'error',
        cause: wrong?.cause ?? before?.cause ?? '',
        sources: [
          { ...sourceOf(outcome, args), since: wrong === undefined ? (before?.since ?? time) : since },
        ],
        error: wrong?.error,
        isReminder: wrong !== undefined && isSame,
        time,
      },
      { uuid: randomUUID(), project: os.hostname() },
    );
    const secret = process.env['GEX_NOTIFY_SECRET'] ?? '';
    if (secret !== '') io.secrets.add(secret);
    const status = await postMessage(
      new URL(url),
      { id: body.id, body: JSON.stringify(body) },
      {
        reach: reachOf(process.env),
        ...(secret === '' ? {} : { secret }),
        signal: AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      },
    );
    if (status < 200 || status >= 300) throw new Error(`It answered ${status}.`);
  } catch (error) {
    const log = await openLog(args, io);
    log.warn('The message of --notify could not be sent', {
      detail: io.secrets.redactMessage(reasonOf(error)),
    });
  }
}

function wrongIn(
  { error, rows }: RunOutcome,
  io: Io,
): { readonly event: 'doubtful' | 'failed'; readonly cause: string; readonly error: RunError } | undefined {
  const isDoubtful = rows.some(({ jobs }) => jobs.some(isOpen));
  if (error === undefined && !isDoubtful) return undefined;
  const run =
    error === undefined
      ? { status: 'success', error: null }
      : { status: 'error', error: JSON.stringify(runError(error, io)) };
  return { event: error === undefined ? 'doubtful' : 'failed', cause: causeOf(run), error: errorOf(run) };
}

function runError(error: unknown, { secrets }: Io): RunError {
  const audience = exitCodeOf(error) === 1 ? 'user' : 'application';
  if (!(error instanceof ExtractorError))
    return { code: 'internal', message: secrets.redactMessage(reasonOf(error)), audience };
  const { code, message, hint, where } = error;
  return {
    code,
    message: secrets.redactMessage(message),
    audience,
    ...(hint === undefined ? {} : { hint: secrets.redactMessage(hint) }),
    where,
  };
}

function sourceOf({ dataFolder }: RunOutcome, args: Args): Omit<AlertSource, 'since'> {
  const [component, configuration] = [args.text('component'), args.text('config')];
  return {
    ...(component === undefined || configuration === undefined ? {} : { component, configuration }),
    folder: path.resolve(dataFolder),
  };
}

function toldIn(file: string): Told | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof read !== 'object' || read === null) return undefined;
    const { cause, since } = read as Partial<Record<string, unknown>>; // what is in it is looked at here
    return typeof cause === 'string' && typeof since === 'string' ? { cause, since } : undefined;
  } catch {
    return undefined; // what was cut off by hand is as if it had never been
  }
}
