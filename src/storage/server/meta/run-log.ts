import type { Meta } from './database.ts';
import type { HeldRun } from './runs.ts';
import { inTurn } from './transaction.ts';

/** Pieces of one answer: some megabytes at most. */
const PIECES_AT_ONCE = 50;

/**
 * Adds lines to the log of a run, each a JSON object without a line break.
 *
 * @param lines one piece: some 64 kB at most
 * @returns the bytes that the log has now; undefined when the run is not the taker's any more
 */
export async function appendLog(
  meta: Meta,
  { id, fencing }: HeldRun,
  lines: readonly string[],
): Promise<number | undefined> {
  const text = lines.join('\n');
  return await inTurn(meta, [], async (tx) => {
    const run = await tx
      .updateTable('runs')
      .set((update) => ({
        log_lines: update('log_lines', '+', lines.length),
        log_bytes: update('log_bytes', '+', Buffer.byteLength(text)),
      }))
      .where((where) => where.and({ id, fencing, status: 'processing' }))
      .returning(['log_lines', 'log_bytes'])
      .executeTakeFirst();
    if (run === undefined) return undefined;
    const first_line = run.log_lines - lines.length;
    await tx.insertInto('run_log').values({ run_id: id, first_line, lines: lines.length, text }).execute();
    return run.log_bytes;
  });
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
