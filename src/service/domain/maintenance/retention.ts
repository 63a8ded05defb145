import type { DataContext } from '../data-context.ts';
import { removeFile } from '../files/remove.ts';
import { forgetSessions } from '../../stores/metadata/console-sessions.ts';
import { isDue } from '../../stores/metadata/due.ts';
import { reclaimSpace } from '../../stores/metadata/database.ts';
import { listExpired } from '../../stores/metadata/files.ts';
import { knownObjects } from '../../stores/metadata/known-objects.ts';
import { forgetEvents, forgetJobs, forgetKeys, forgetRuns } from '../../stores/metadata/retention.ts';
import { recordingsOf } from '../../../storage/protocol/recordings.ts';
import { isoTime } from '../../../lib/iso-time.ts';

export interface UpkeepOptions {
  /** Days after which finished jobs and events are deleted. */
  readonly keepDays: number;
  /** Ends it after the current step; the rest is for the next time. */
  readonly signal: AbortSignal;
}

type Task = readonly [kind: string, step: () => Promise<number>];

/** Rows of one step: so few that other requests do not wait long. */
const STEP = 200;

/** Age of an upload that cannot be completed any more: credentials live for 12 hours. */
const UPLOAD_MS = 13 * 3_600_000;

/** Age of an idempotency key that is deleted: by then the files of a push are gone, too. */
const KEYS_MS = 15 * 86_400_000;

const DAY_MS = 86_400_000;

/**
 * Removes expired data: expired files, uploads that were never completed, objects without a file, finished jobs,
 * runs, events and idempotency keys, all by the clock of the database where there is one; and gives freed space back
 * to the disk.
 *
 * It works in small steps with pauses between them, so that requests are served, and may be ended and begun again at
 * any point. One process at a time should do it: several would only hinder each other. Data with objects comes last:
 * while their store is unavailable, the rest is removed all the same.
 */
export async function upkeep(context: DataContext, { keepDays, signal }: UpkeepOptions): Promise<void> {
  const { meta, objects, engine, env } = context;
  const before = isoTime(env.now() - keepDays * DAY_MS);
  const removeRecording = async (run: number): Promise<void> =>
    await objects.deletePrefix(recordingsOf(String(run)));
  const ofDatabase: readonly Task[] = [
    ['request keys', async () => await forgetKeys(meta, isoTime(env.now() - KEYS_MS), STEP)],
    ['sessions', async () => await forgetSessions(meta, isoTime(env.now()), STEP)],
    ['jobs', async () => await forgetJobs(meta, before, STEP)],
    ['events', async () => await forgetEvents(meta, before, STEP)],
  ];
  const withObjects: readonly Task[] = [
    ['files', async () => await removeExpired(context, signal)],
    ['runs', async () => await forgetRuns(meta, before, STEP, removeRecording)],
  ];
  for (const [kind, step] of ofDatabase) await inSteps(context, kind, step, signal);
  if (signal.aborted) return;
  // Nothing is deleted of a bucket that has become another storage's.
  await objects.ready();
  for (const [kind, step] of withObjects) await inSteps(context, kind, step, signal);
  if (signal.aborted) return;
  await objects.dropUnfinished(new Date(env.now() - UPLOAD_MS));
  // A check of every object takes a while.
  if (await isDue(meta, 'unknown objects', env.now(), DAY_MS))
    await objects.dropUnknown(new Date(env.now() - UPLOAD_MS), (keys) => knownObjects(meta, keys));
  if (signal.aborted) return;
  await engine.compact();
  await inSteps(context, undefined, async () => await reclaimSpace(meta), signal);
}

/** Runs steps one after the other, until one has nothing to do; half of the time is left to other work. */
async function inSteps(
  { env, metrics }: DataContext,
  kind: string | undefined,
  step: () => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const begin = performance.now();
    const count = await step();
    if (count === 0) return;
    if (kind !== undefined) metrics.removed(kind, count);
    await env.sleep(Math.max(1, performance.now() - begin), signal).catch(() => undefined);
  }
}

async function removeExpired(context: DataContext, signal: AbortSignal): Promise<number> {
  const { meta, env } = context;
  const expired = await listExpired(meta, isoTime(env.now()), STEP);
  let removed = 0;
  for (const file of expired) {
    if (signal.aborted) break;
    await removeFile(context, file);
    removed += 1;
  }
  return removed;
}
