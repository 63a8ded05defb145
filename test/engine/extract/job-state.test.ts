import { expect, test } from 'vitest';
import { JobState } from '../../../src/engine/extract/incremental/job-state.ts';
import { RunCursor } from '../../../src/engine/extract/incremental/run-cursor.ts';
import { parseJobs, type Job, type JobInvocation } from '../../../src/engine/jobs/index.ts';
import {
  entriesOf,
  getKey,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/index.ts';
import type { Log } from '../../../src/lib/log.ts';

const BEGAN = { here: 5_000_000, there: 5_000_000 };

const child = {
  id: 'orders',
  endpoint: 'shops/{id}/orders',
  placeholders: { id: 'id' },
  incremental: { cursor: 'at', to: 'since' },
};

function childJob(): Job {
  const [parent] = parseJobs([{ endpoint: 'shops', children: [child] }], 'config.jobs');
  const [job] = parent?.children ?? [];
  if (job?.incremental === undefined) throw new Error('no child');
  return job;
}

function stateOf(job: Job, stored: AnyObject | undefined, startedAt: number): JobState {
  if (job.incremental === undefined) throw new Error('no state');
  return new JobState(job, job.incremental, { stored, of: 'x', asked: 'y', startedAt });
}

const runOf = (id: string): JobInvocation => ({
  parameters: [{ name: 'id', path: 'id', value: id }],
  rows: [],
});

const stored = (count: number): AnyObject =>
  objectOf([
    [
      'parents',
      objectOf(
        Array.from({ length: count }, (_, i): [string, Json] => [
          `p${i}`,
          objectOf([
            ['cursor', i],
            ['at', 1000 + i],
          ]),
        ]),
      ),
    ],
  ]);

function parentsOf(state: AnyObject | undefined): readonly string[] {
  const parents = state && getKey(state, 'parents');
  return parents !== undefined && isObject(parents) ? entriesOf(parents).map(([key]) => key) : [];
}

test('of too many parent rows, those that were not there the longest are forgotten, and that is said', () => {
  const job = childJob();
  const state = stateOf(job, stored(20_002), 5000);
  // the oldest of all is there again
  state.finish(state.begin(runOf('p0')));
  const left = parentsOf(state.next(BEGAN));
  expect(left).toHaveLength(20_000);
  expect(left).toContain('p0');
  expect(left).not.toContain('p1');
  expect(left).not.toContain('p2');
  expect(left).toContain('p3');
  const said: string[] = [];
  const add = (message: string): void => void said.push(message);
  const log: Log = { debug: add, info: add, warn: add, error: add };
  state.tell(log);
  expect(said.join()).toContain('states of more than 20000 parent rows: those of the 2');
});

test('a job that did not run keeps what it had', () => {
  const before = stored(2);
  expect(stateOf(childJob(), before, 5000).next(BEGAN)).toBe(before);
});

const ignore = (): void => {};

test('a state ahead of the clock leaves rows out, and that is said', () => {
  const [job] = parseJobs(
    [{ id: 'orders', endpoint: 'orders', incremental: { cursor: 'at' } }],
    'config.jobs',
  );
  if (job === undefined) throw new Error('no job');
  const warned = (cursor: Json): string => {
    const state = stateOf(job, objectOf([['cursor', cursor]]), 1_774_000_000); // 2026-03-20
    state.begin({ parameters: [], rows: [] });
    const said: string[] = [];
    state.tell({ debug: ignore, info: ignore, warn: (message) => void said.push(message), error: ignore });
    return said.join();
  };
  expect(warned('2031-01-01T00:00:00Z')).toContain(
    'The state of “orders” that this run began with is more than a day ahead of the clock, “2031-01-01T00:00:00Z”',
  );
  expect(warned('2026-03-19T00:00:00Z')).toBe('');
  expect(warned(9_999_999_999)).toBe(''); // a number, and no time
});

test('parent rows with the same key are asked for from where the run began, and the older of their states is kept', () => {
  const job = childJob();
  const { incremental } = job;
  if (incremental === undefined) throw new Error('no state');
  const state = stateOf(job, stored(1), 5000);
  const finished = (newest: number): Json | undefined => {
    const progress = state.begin(runOf('p0'));
    const cursor = new RunCursor(incremental, { config: objectOf([]) }, '', undefined);
    cursor.take([objectOf([['at', newest]])], 5_000_000);
    state.end(progress, { facts: cursor.facts(), kept: undefined, isComplete: true });
    state.finish(progress);
    return progress.stored;
  };
  expect([finished(9), finished(5), finished(7)]).toEqual([0, 0, 0]);
  expect(state.next(BEGAN)).toEqual(stateAt('p0', 5));
});

test('rows at the newest value are known by their digests, unless there are very many', () => {
  const { incremental } = childJob();
  if (incremental === undefined) throw new Error('no state');
  const known = (count: number): number => {
    const cursor = new RunCursor(
      { ...incremental, dropsKnown: true },
      { config: objectOf([]) },
      '',
      undefined,
    );
    const rows = Array.from({ length: count }, (_, id) =>
      objectOf([
        ['at', 5],
        ['id', id],
      ]),
    );
    cursor.take([objectOf([['at', 4]]), ...rows, objectOf([['at', 3]])], 5_000_000);
    return cursor.facts().equal.length;
  };
  expect([known(1), known(1000), known(1001), known(5000)]).toEqual([1, 1000, 0, 0]);
});

function stateAt(key: string, cursor: number): AnyObject {
  const parent = objectOf([
    ['cursor', cursor],
    ['at', 5000],
  ]);
  return objectOf([
    ['of', 'x'],
    ['asked', 'y'],
    ['parents', objectOf([[key, parent]])],
  ]);
}
