import { sql } from 'kysely';
import type { Meta } from './database.ts';
import { isTaken } from './is-taken.ts';
import { momentOf } from './timestamp.ts';
import { appendWithin } from './run-log.ts';
import { insertRunTables } from './run-tables.ts';
import { acceptanceText, acceptRun, type AskedOfRun } from './runs.ts';
import type { RunRow } from './tables.ts';
import { deleteToken, revokeToken } from './tokens.ts';
import { withLocks, runOf, type Transact } from './transaction.ts';
import { isoTime } from '../../../lib/iso-time.ts';

/** Runner that claims a run, and the time of the claim. */
export interface Taker {
  readonly runner: string;
  readonly now: number;
  /** How many runs of one token this runner does at once; default: any number. */
  readonly ofToken?: number;
}

/**
 * Takes a run that may begin now and is not put off: no other run of its configuration is at work, or waits before it. It
 * is that of the token of which the fewest are at work, and of those the oldest; of a token of which the runner has as many
 * as it does at once, none. Of several runners one gets it.
 */
export async function takeRun(meta: Meta, taker: Taker): Promise<RunRow | undefined> {
  for (;;) {
    const next = await nextRun(meta, taker);
    if (next === undefined) return undefined;
    const run = await beginRun(meta, next, taker).catch((error: unknown) => {
      // Another run of the configuration was taken at the same moment.
      if (isTaken(error)) return undefined;
      throw error;
    });
    // The second of two takes another run, or none.
    if (run !== undefined) return run;
  }
}

async function nextRun(meta: Meta, { runner, now, ofToken }: Taker): Promise<WaitingRun | undefined> {
  const atWork = meta
    .selectFrom('runs')
    .select((build) => [
      'creator_id',
      build.fn.countAll<number>().as('everywhere'),
      build.fn.sum<number>(sql`case when runner = ${runner} then 1 else 0 end`).as('here'),
    ])
    .where('status', '=', 'processing')
    // Runs without a known creator don't count against a limit.
    .where('creator_id', 'is not', null)
    .groupBy('creator_id');
  return await meta
    .selectFrom('runs as r')
    .leftJoin(atWork.as('w'), 'w.creator_id', 'r.creator_id')
    .select(['r.id', 'r.fencing'])
    .where('r.status', '=', 'waiting')
    .where((where) =>
      where.or([where('r.not_before', 'is', null), where('r.not_before', '<=', momentOf(meta, now, 0))]),
    )
    .where((build) =>
      build.not(
        build.exists(
          build
            .selectFrom('runs as o')
            .select('o.id')
            .whereRef('o.lock_key', '=', 'r.lock_key')
            .where((other) =>
              other.or([
                other('o.status', '=', 'processing'),
                other.and([other('o.status', '=', 'waiting'), other('o.id', '<', other.ref('r.id'))]),
              ]),
            ),
        ),
      ),
    )
    .$if(ofToken !== undefined, (runs) =>
      runs.where((build) => sql<boolean>`${build.fn.coalesce('w.here', build.val(0))} < ${ofToken}`),
    )
    .orderBy((build) => build.fn.coalesce('w.everywhere', build.val(0)))
    .orderBy('r.id')
    .limit(1)
    .executeTakeFirst();
}

type WaitingRun = Pick<RunRow, 'fencing' | 'id'>;

async function beginRun(meta: Meta, next: WaitingRun, { runner, now }: Taker): Promise<RunRow | undefined> {
  return await meta
    .updateTable('runs')
    .set((update) => ({
      status: 'processing' as const,
      // The start of the first attempt: the duration of a run doesn't begin again when a runner was lost.
      started: update.fn.coalesce('started', update.val(isoTime(now))),
      runner,
      attempt: update('attempt', '+', 1),
      beat: update('beat', '+', 1),
      fencing: update('fencing', '+', 1),
    }))
    .where((where) => where.and({ id: next.id, fencing: next.fencing, status: 'waiting' }))
    .returningAll()
    .executeTakeFirst();
}

/** A run as its runner knows it. Two of them may have the same number, after a standby that had missed one has taken over. */
export type HeldRun = Pick<RunRow, 'fencing' | 'id' | 'runner'>;

/**
 * Says that the runner is alive and at work on the run.
 *
 * @param progress JSON of how far it is; undefined where that is as it was
 * @returns whether it is to be cancelled; undefined when it is not the runner's any more
 */
export async function beatRun(
  meta: Meta,
  run: HeldRun,
  progress?: string,
): Promise<{ isCancelled: boolean } | undefined> {
  const beaten = await meta
    .updateTable('runs')
    .set((update) => ({
      beat: update('beat', '+', 1),
      // One row is written all the same.
      ...(progress === undefined ? {} : { report: progress }),
    }))
    .where((where) => where.and(held(run)))
    .returning('cancel_asked')
    .executeTakeFirst();
  return beaten === undefined ? undefined : { isCancelled: beaten.cancel_asked !== null };
}

/** Returns the condition under which a run is still its runner's. */
export const held = ({ id, fencing, runner }: HeldRun) => ({
  id,
  fencing,
  runner,
  status: 'processing' as const,
});

/** Result of a run. */
export interface RunEnd {
  readonly status: 'cancelled' | 'error' | 'success';
  readonly exitCode: number | null;
  readonly verdict: string | null;
  /** JSON, {@link RunRow.accepted}. */
  readonly accepted?: string | null;
  /** JSON. */
  readonly error: string | null;
  /** JSON. */
  readonly report: string | null;
  /** JSON. */
  readonly spent?: string | null | undefined;
  /** Line at the end of its log, as JSON. */
  readonly line?: string;
}

/**
 * Ends a run, and with it what its token is good for. The id of the token stays with a run that has not succeeded and has asked for
 * something, for the one that goes on with it ({@link inheritToken}).
 *
 * @returns whether it was still the taker's; what comes back late is turned away
 */
export async function finishRun(meta: Meta, run: HeldRun, end: RunEnd, now: number): Promise<boolean> {
  const { exitCode, line, ...rest } = end;
  return await withLocks(meta, [runOf(run.id)], async (tx) => {
    const known = await tx
      .selectFrom('runs')
      .select([
        'id',
        'branch_id',
        'component_id',
        'configuration_id',
        'asked',
        'creator_id',
        'creator_description',
        'token_id',
        'log_lines',
        'log_bytes',
      ])
      .where((where) => where.and(held(run)))
      .executeTakeFirst();
    if (known !== undefined && line !== undefined) await appendWithin(tx, run, known, [line]);
    const isDone = rest.status === 'success' || !(await hasAsked(tx, known?.token_id));
    const { numUpdatedRows } = await tx
      .updateTable('runs')
      .set({ ...rest, exit_code: exitCode, ended: isoTime(now), ...(isDone ? { token_id: null } : {}) })
      .where((where) => where.and(held(run)))
      .executeTakeFirst();
    if (numUpdatedRows === 0n || known === undefined) return false;
    await insertRunTables(tx, known, { report: end.report, loaded: isoTime(now) });
    // Written by this service.
    const { accepts } = JSON.parse(known.asked) as AskedOfRun;
    if (accepts !== undefined && rest.status === 'success')
      await acceptRun(tx, Number(accepts.run), acceptanceText(accepts.because, known, known.id));
    if (known.token_id !== null) await (isDone ? deleteToken : revokeToken)(tx, known.token_id);
    return true;
  });
}

/**
 * Tells whether the service has a request or a job of a token: without one, a later run has nothing to continue by its
 * id.
 */
async function hasAsked(tx: Meta, token: number | null | undefined): Promise<boolean> {
  if (token == null) return false;
  const keys = tx.selectFrom('request_keys').select('key').where('token_id', '=', token);
  const jobs = tx.selectFrom('jobs').select('id').where('creator_id', '=', token);
  if ((await keys.limit(1).executeTakeFirst()) !== undefined) return true;
  return (await jobs.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Takes the token over that the last run of the configuration has left: by its id the service knows what that one asked
 * for, so that a push which it did not bring to its end is not begun a second time.
 *
 * @returns its id; undefined when there is none
 */
export async function inheritToken(
  tx: Meta,
  run: Pick<RunRow, 'id' | 'lock_key'>,
): Promise<number | undefined> {
  const last = await tx
    .selectFrom('runs')
    .select(['id', 'token_id'])
    .where('lock_key', '=', run.lock_key)
    .where('id', '<', run.id)
    .where('ended', 'is not', null)
    .where('token_id', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last?.token_id == null) return undefined;
  await tx.updateTable('runs').set({ token_id: null }).where('id', '=', last.id).execute();
  return last.token_id;
}

/** Puts a run back into its place, for any runner. What its last runner has of it is worth nothing from then on. */
export async function requeueRun(meta: Meta, run: HeldRun): Promise<boolean> {
  return await withLocks(meta, [runOf(run.id)], async (tx) => {
    const requeued = await tx
      .updateTable('runs')
      .set({ status: 'waiting', runner: null, not_before: null, fencing: run.fencing + 1 })
      .where((where) => where.and(held(run)))
      .returning('token_id')
      .executeTakeFirst();
    if (requeued === undefined) return false;
    if (requeued.token_id !== null) await revokeToken(tx, requeued.token_id);
    return true;
  });
}

export interface PutOff {
  readonly now: number;
  /** Milliseconds during which no runner claims it. */
  readonly waitMs: number;
  /** True when it could not even begin; else the attempt counts as an interrupted one. */
  readonly isBeforeStart: boolean;
  /** Line for its log, as JSON. */
  readonly line: string;
}

/**
 * Puts a run back into its place, as {@link requeueRun}, but for a while. One that is asked to end is not put back.
 *
 * @returns whether it waits now; when not, it is as it was
 */
export async function putOffRun(
  meta: Meta,
  run: HeldRun,
  { now, waitMs, isBeforeStart, line }: PutOff,
): Promise<'cancelled' | 'lost' | 'waiting'> {
  return await withLocks(meta, [runOf(run.id)], async (tx) => {
    const known = await tx
      .selectFrom('runs')
      .select(['cancel_asked', 'log_lines', 'log_bytes', 'token_id'])
      .where((where) => where.and(held(run)))
      .executeTakeFirst();
    if (known === undefined) return 'lost';
    if (known.cancel_asked !== null) return 'cancelled';
    await appendWithin(tx, run, known, [line]);
    await tx
      .updateTable('runs')
      .set((update) => ({
        status: 'waiting' as const,
        runner: null,
        fencing: run.fencing + 1,
        not_before: momentOf(meta, now, waitMs),
        ...(isBeforeStart ? { put_offs: update('put_offs', '+', 1) } : {}),
      }))
      .where((where) => where.and(held(run)))
      .execute();
    if (known.token_id !== null) await revokeToken(tx, known.token_id);
    return 'waiting';
  });
}

/**
 * Asks a run to end. A waiting one ends at once, one that is running learns it with its next heartbeat.
 *
 * @returns false when it had ended
 */
export async function cancelRun(transact: Transact, id: number, now: number): Promise<boolean> {
  return await transact([runOf(id)], async (tx) => {
    const time = isoTime(now);
    const waited = await tx
      .updateTable('runs')
      .set({ status: 'cancelled', cancel_asked: time, ended: time })
      .where((where) => where.and({ id, status: 'waiting' }))
      .returning('token_id')
      .executeTakeFirst();
    if (waited !== undefined) {
      await tx.updateTable('runs').set({ token_id: null }).where('id', '=', id).execute();
      if (waited.token_id !== null) await deleteToken(tx, waited.token_id);
      return true;
    }
    const { numUpdatedRows } = await tx
      .updateTable('runs')
      .set((update) => ({ cancel_asked: update.fn.coalesce('cancel_asked', update.val(time)) }))
      .where((where) => where.and({ id, status: 'processing' }))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  });
}

/** Notes the token of a run. @returns false when the run is not the taker's any more */
export async function setRunToken(tx: Meta, run: HeldRun, token: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('runs')
    .set({ token_id: token })
    .where((where) => where.and(held(run)))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
