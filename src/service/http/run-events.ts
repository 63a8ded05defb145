import type { Context } from '../domain/context.ts';
import { encodeReply } from '../domain/encode-reply.ts';
import { ApiError } from '../domain/api-error.ts';
import type { ServerEvent } from './event-stream.ts';
import { readLog } from '../stores/metadata/run-log.ts';
import { findRun } from '../stores/metadata/runs.ts';
import { wholeRunReply } from '../domain/presenters/run.ts';

/** Milliseconds between two polls of a run. */
const LOOK_MS = 500;
/** Milliseconds after which a client must connect again, with its credentials. */
const LONGEST_MS = 10 * 60_000;
const LINES = 1000;
/** Clients of one process that follow runs: each holds the place of a request. */
const MOST = 100;
const MOST_OF_TOKEN = MOST / 2;

const open: number[] = [];

/**
 * Reserves a place to follow a run or changes, for a token.
 *
 * @returns a function that releases it
 * @throws {ApiError} 503 when too many clients follow something already
 */
export function takePlace(token: number): () => void {
  const isFull = open.length >= MOST;
  if (isFull || open.filter((each) => each === token).length >= MOST_OF_TOKEN)
    throw new ApiError(
      503,
      'storage.busy',
      `${isFull ? MOST : MOST_OF_TOKEN} clients follow runs and changes${isFull ? '' : ' with this token'} already. Ask from time to time instead.`,
      { retryAfter: 10 },
    );
  open.push(token);
  return () => open.splice(open.indexOf(token), 1);
}

/**
 * Yields the events of a run, in any process that sees the database: `run` with its current status whenever that
 * changes, `log` with lines and the offset behind them, which is the id of the event, and `end`.
 */
export async function* followRun(
  { env, meta }: Pick<Context, 'env' | 'meta'>,
  { run: id, offset: from }: { readonly run: number; readonly offset: number },
  gone: AbortSignal,
): AsyncGenerator<ServerEvent, void> {
  const until = env.now() + LONGEST_MS;
  let offset = from;
  let shown = '';
  while (!gone.aborted && env.now() < until) {
    // Read before the lines: whatever is written in between is still to come then.
    const run = await findRun(meta, id);
    if (run === undefined) return;
    const lines = await readLog(meta, id, { offset, limit: LINES });
    if (lines.length > 0) {
      offset += lines.length;
      const told = lines.map((line): unknown => JSON.parse(line));
      yield { id: String(offset), event: 'log', data: { lines: told, next: offset } };
    }
    const text = encodeReply(wholeRunReply(run));
    if (text !== shown) yield { id: String(offset), event: 'run', data: JSON.parse(text) as unknown };
    shown = text;
    if (run.ended !== null && offset >= run.log_lines) {
      yield { id: String(offset), event: 'end', data: {} };
      return;
    }
    if (lines.length < LINES) await env.sleep(LOOK_MS, gone).catch(() => undefined);
  }
}
