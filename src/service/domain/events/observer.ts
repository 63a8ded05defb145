import { AsyncResource } from 'node:async_hooks';
import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { insertEvent, keepNewest, type NewEvent } from '../../stores/metadata/events.ts';
import { eventRow, type Doer, type SystemEvent } from './system-event.ts';
import { withLocks } from '../../stores/metadata/transaction.ts';

/** Collector of events about reads: these change nothing, so that nobody waits until they are on the disk. */
export interface Observer {
  observe(doer: Doer, event: SystemEvent): void;
  /** Stores the events collected so far. */
  flush(): Promise<void>;
}

const WAIT_MS = 1000;

/** More than that are not kept in memory. */
const MAX_WAITING = 10_000;

/** @param keep that many of a kind stay in a branch: a page that asks for a list every second would fill the disk */
export function createObserver(meta: Meta, env: Env, log: Log, keep = 10_000): Observer {
  const waiting: NewEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let flushing = Promise.resolve();

  async function write(): Promise<void> {
    const rows = waiting.splice(0);
    if (rows.length === 0) return;
    try {
      await withLocks(meta, [], async (tx) => {
        for (const row of rows) await insertEvent(tx, row);
        for (const [branchId, ofBranch] of Map.groupBy(rows, (row) => row.branch_id)) {
          for (const event of new Set(ofBranch.map((row) => row.event)))
            await keepNewest(tx, { branchId, event, count: keep });
        }
      });
    } catch (error) {
      log.error('Read events lost', { count: rows.length, detail: String(error) });
    }
  }

  // Not a part of the request that it happens to be called in: that may hold its transactions together by a key.
  const flush = AsyncResource.bind(async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(write);
    await flushing;
  });

  return {
    observe(doer, event) {
      if (waiting.length >= MAX_WAITING) waiting.shift();
      waiting.push(eventRow(env, doer, event));
      timer ??= setTimeout(() => void flush(), WAIT_MS).unref();
    },
    flush,
  };
}
