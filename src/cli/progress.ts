import type { Env } from '../lib/env.ts';
import { endText, type EndEvent, type PageEvent, type Progress } from '../engine/extract/progress.ts';
import type { Log } from '../lib/log.ts';
import type { RunProgress } from '../runner/run.ts';
import type { OnProgress } from '../storage/client/transfer/progress.ts';
import type { Io } from './command.ts';
import { formatBytes, plural } from './format.ts';

const LIVE_MS = 100;
const PLAIN_MS = 10_000;

/** Progress of a job and its children so far. */
interface Tally {
  readonly startedMs: number;
  pages: number;
  rows: number;
  bytes: number;
}

export type ShownProgress = RunProgress & { readonly transfer: OnProgress; stop(): void };

/** Combines two progress listeners. */
export function withProgress(shown: ShownProgress, other: ShownProgress | undefined): ShownProgress {
  if (other === undefined) return shown;
  return {
    ...both(shown, other),
    ofRow: (row) => both(shown.ofRow?.(row) ?? {}, other.ofRow?.(row) ?? {}),
    request: (event) => other.request?.(event),
    wait: (event) => other.wait?.(event),
    transfer(event) {
      shown.transfer(event);
      other.transfer(event);
    },
    stop() {
      shown.stop();
      other.stop();
    },
  };
}

function both(shown: Progress, other: Progress): Progress {
  return {
    page(event) {
      shown.page?.(event);
      other.page?.(event);
    },
    end(event) {
      shown.end?.(event);
      other.end?.(event);
    },
  };
}

/**
 * Tells how a run goes on. On a terminal one line shows the job at work, and stays with the reason when it ended;
 * elsewhere the log gets a line at the end of each job, and one every ten seconds until then.
 *
 * A renderer of our own: there is one line to draw, and a spinner package would take longer to load than a short run.
 */
export function createProgress(io: Io, log: Log, env: Env, isLive: boolean): ShownProgress {
  let row = '';
  let saidMs = env.now();

  const listenerOf = (place: string): Pick<Progress, 'end' | 'page'> => {
    let tally = newTally(env.now());
    let current = '';
    const line = (): string => `${place}${current}: ${describe(tally, env.now())}`;
    const fields = (): Record<string, number> => ({
      pages: tally.pages,
      rows: tally.rows,
      bytes: tally.bytes,
      ms: env.now() - tally.startedMs,
    });
    const say = (): void => {
      const wait = isLive ? LIVE_MS : PLAIN_MS;
      if (env.now() - saidMs < wait) return;
      saidMs = env.now();
      if (isLive) io.live(line());
      else log.info(`“${current}” goes on: ${describe(tally, env.now())}`, fields());
    };
    return {
      page({ job, level, rows, bytes }: PageEvent) {
        if (level === 0) current = job;
        tally.pages++;
        tally.rows += rows;
        tally.bytes += bytes;
        say();
      },
      end({ job, level, window, reason, judgement }: EndEvent) {
        if (level > 0) return;
        current = window === undefined ? job : `${job} ${window}`;
        if (isLive) {
          io.live('');
          io.note(`${line()}; ${endText(reason, judgement)}`);
        } else
          log.info(`“${current}” ended after ${describe(tally, env.now())}: ${endText(reason, judgement)}`, {
            job,
            ...fields(),
          });
        tally = newTally(env.now());
        saidMs = env.now();
      },
    };
  };

  return {
    ...listenerOf(''),
    ofRow({ id, name }) {
      row = id === undefined ? '' : `${name ?? id} / `;
      saidMs = env.now();
      if (isLive) io.live(`${row}waiting for the first page …`);
      return listenerOf(row);
    },
    transfer({ direction, name, bytes, totalBytes }) {
      if (!isLive || env.now() - saidMs < LIVE_MS) return;
      saidMs = env.now();
      const of = totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`;
      io.live(`${row}${direction === 'upload' ? 'pushing' : 'fetching'} ${name}: ${formatBytes(bytes)}${of}`);
    },
    stop() {
      if (isLive) io.live('');
    },
  };
}

function newTally(startedMs: number): Tally {
  return { startedMs, pages: 0, rows: 0, bytes: 0 };
}

function describe({ pages, rows, bytes, startedMs }: Tally, nowMs: number): string {
  const seconds = Math.max(nowMs - startedMs, 1) / 1000;
  return `${plural(pages, 'page')}, ${plural(rows, 'row')}, ${plural(Math.round(rows / seconds), 'row')}/s, ${formatBytes(bytes)}`;
}
