import type { Meta } from './database.ts';
import type { RunRow } from './tables.ts';
import { withLocks } from './transaction.ts';

/** Pieces of one answer: some megabytes at most. */
const PIECES_AT_ONCE = 50;

/** How long the log of a run is. */
export type LogEnd = Pick<RunRow, 'log_bytes' | 'log_lines'>;

type Writer = Pick<RunRow, 'fencing' | 'id' | 'runner'>;

/**
 * Adds lines to the log of a run, each a JSON object without a line break. Repeating it when the outcome is unknown
 * changes nothing: only the runner that has claimed the run writes.
 *
 * @param end where the log ended before
 * @param lines one piece: some 64 kB at most
 * @returns where it ends now; undefined when the run is not the taker's any more
 */
export async function appendLog(
  meta: Meta,
  run: Writer,
  end: LogEnd,
  lines: readonly string[],
): Promise<LogEnd | undefined> {
  return await withLocks(meta, [], async (tx) => await appendWithin(tx, run, end, lines));
}

/** The same in a transaction of the caller. */
export async function appendWithin(
  tx: Meta,
  { id, fencing, runner }: Writer,
  { log_lines: first_line, log_bytes }: LogEnd,
  lines: readonly string[],
): Promise<LogEnd | undefined> {
  const text = lines.join('\n');
  const now = { log_lines: first_line + lines.length, log_bytes: log_bytes + Buffer.byteLength(text) };
  const { numUpdatedRows } = await tx
    .updateTable('runs')
    .set(now)
    .where((where) => where.and({ id, fencing, runner, status: 'processing' }))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return undefined;
  await tx
    .insertInto('run_log')
    .values({ run_id: id, first_line, lines: lines.length, text })
    .onConflict((conflict) => conflict.columns(['run_id', 'first_line']).doNothing())
    .execute();
  return now;
}

/** Lines of the log from an offset on, as many as there are, up to a limit. */
export async function readLog(
  meta: Meta,
  id: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<string[]> {
  const start = await meta
    .selectFrom('run_log')
    .select('first_line')
    .where('run_id', '=', id)
    .where('first_line', '<=', offset)
    .orderBy('first_line', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (start === undefined) return [];
  const pieces = await meta
    .selectFrom('run_log')
    .select(['first_line', 'text'])
    .where('run_id', '=', id)
    .where('first_line', '>=', start.first_line)
    .orderBy('first_line')
    .limit(PIECES_AT_ONCE)
    .execute();
  const lines: string[] = [];
  for (const { first_line, text } of pieces) {
    const left = limit - lines.length;
    if (left <= 0) break;
    const skip = Math.max(0, offset - first_line);
    lines.push(...text.split('\n').slice(skip, skip + left));
  }
  return lines;
}
