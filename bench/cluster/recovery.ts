import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { seconds } from '../support/figures.ts';

/** An import as its client sees it; times are milliseconds of the performance clock. */
export interface Import {
  readonly asked: number;
  /** When the service said which job it is. */
  given?: number;
  job?: number;
  /** When the client was told that it is done, or gave up, to try again with another one. */
  ended?: number;
  hasFailed?: boolean;
}

export interface Recovery {
  /** Kind of process that was killed. */
  readonly kind: string;
  readonly struck: number;
  /** The first import to end of those that were asked for after the blow. */
  readonly next: Import | undefined;
  /** Last import to end of those that were under way; undefined when there was none. */
  readonly last: Import | undefined;
}

/** Longer than that nobody waits. */
const PATIENCE_MS = 120_000;

/** Waits until all imports that were under way when it struck have ended, and one that was asked for after it. */
export async function recover(kind: string, struck: number, imports: readonly Import[]): Promise<Recovery> {
  const underWay = imports.filter(({ asked, ended }) => asked < struck && (ended ?? struck) >= struck);
  const next = (): Import | undefined =>
    earliest(imports.filter(({ asked, ended, hasFailed }) => asked > struck && ended && hasFailed !== true));
  const latest = struck + PATIENCE_MS;
  while (performance.now() < latest && (next() === undefined || underWay.some(({ ended }) => !ended)))
    await sleep(20);
  return { kind, struck, next: next(), last: earliest(underWay, -1) };
}

/** Until when a recovery took, from the blow. */
export function timeOf({ struck }: Recovery, one: Import | undefined): number {
  return (one?.ended ?? struck + PATIENCE_MS) - struck;
}

function earliest(imports: readonly Import[], sign = 1): Import | undefined {
  return imports.toSorted((a, b) => sign * ((a.ended ?? Infinity) - (b.ended ?? Infinity)))[0];
}

/** Explains the duration of an import after a kill. */
export async function explain(
  recovery: Recovery,
  one: Import | undefined,
  database: Client,
): Promise<string> {
  const { kind, struck } = recovery;
  const all = `${kind}, ${seconds(timeOf(recovery, one))}`;
  if (one?.ended === undefined) return `${all}: it did not end`;
  if (one.job === undefined || one.given === undefined) return `${all}: it was not begun, and asked for anew`;
  const { rows } = await database.query<Record<'attempt' | 'retries', string> & { from: string; to: string }>(
    'select attempt, retries, started as from, ended as to from gex.jobs where id = $1',
    [one.job],
  );
  const [row] = rows;
  if (row === undefined) return `${all}: its job ${one.job} is gone`;
  const [from, to] = [performanceTime(row.from), performanceTime(row.to)];
  const parts = [
    ['to upload the file and ask for the import', one.given - Math.max(struck, one.asked)],
    ['until its last turn began', from - Math.max(struck, one.given)],
    ['at work', to - Math.max(struck, from)],
    ['until the client was told', one.ended - Math.max(struck, to)],
  ] as const;
  const shown = parts.filter(([, ms]) => ms > 0).map(([name, ms]) => `${seconds(ms)} ${name}`);
  const turns = `turn ${row.attempt}, ${row.retries} of them because something was away`;
  const end = one.hasFailed === true ? '; the client did not see how it ended, and asked for another' : '';
  return `${all}: ${shown.join(', ')} (${turns}${end})`;
}

function performanceTime(text: string): number {
  return Date.parse(text) - performance.timeOrigin;
}
