import type { Meta } from './database.ts';
import { held, type HeldRun } from './run-leases.ts';
import { runOf, withLocks } from './transaction.ts';

/**
 * Adds requests to those of a run, each a JSON object without a line break. Only the runner that has claimed the run
 * writes; what comes late is dropped. Repeating it when the outcome is unknown changes nothing.
 */
export async function appendRequests(meta: Meta, run: HeldRun, lines: readonly string[]): Promise<void> {
  await withLocks(meta, [runOf(run.id)], async (tx) => {
    const known = await tx
      .selectFrom('runs')
      .select('id')
      .where((where) => where.and(held(run)))
      .executeTakeFirst();
    if (known === undefined) return;
    const last = await tx
      .selectFrom('run_requests')
      .select(['first_line', 'lines', 'text'])
      .where('run_id', '=', run.id)
      .orderBy('first_line', 'desc')
      .limit(1)
      .executeTakeFirst();
    const text = lines.join('\n');
    // Each request has its number and its time, so the same text is the same piece.
    if (last?.text === text) return;
    const first_line = last === undefined ? 0 : last.first_line + last.lines;
    const piece = { run_id: run.id, first_line, lines: lines.length, text };
    await tx.insertInto('run_requests').values(piece).execute();
  });
}

/** Returns all requests that are known of a run, in the order of their answers: some thousand at most. */
export async function readRequests(meta: Meta, id: number): Promise<string[]> {
  const pieces = await meta
    .selectFrom('run_requests')
    .select('text')
    .where('run_id', '=', id)
    .orderBy('first_line')
    .execute();
  return pieces.flatMap(({ text }) => text.split('\n'));
}
