import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../src/lib/env.ts';
import { silentLog } from '../../src/lib/log.ts';
import type { Meta } from '../../src/service/stores/metadata/database.ts';
import { insertRun } from '../../src/service/stores/metadata/runs.ts';
import { isTaken } from '../../src/service/stores/metadata/is-taken.ts';
import { advanceSchedule, listDue } from '../../src/service/stores/metadata/schedules.ts';
import { lastTime, nextTime } from '../../src/service/domain/schedules/cron.ts';
import { runDue } from '../../src/service/domain/schedules/scheduler.ts';
import { createQueue, type Queue } from '../../src/service/stores/queue/queue.ts';
import { metaOf } from './database.ts';
import { startService, type Running } from './harness.ts';

const PRAGUE = 'Europe/Prague';

/** The next times of an expression in Prague, after a moment. */
function timesIn(cron: string, after: string, count: number): string[] {
  const times: string[] = [];
  for (let at = Date.parse(after); times.length < count;) {
    at = nextTime({ cron, timeZone: PRAGUE }, at) ?? Number.NaN;
    times.push(new Date(at).toISOString());
  }
  return times;
}

describe('daylight saving in Europe/Prague', () => {
  test('a time of day that is left out is the first moment behind the gap', () => {
    expect(timesIn('30 2 * * *', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z', // 3:00 in summer
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  test('a time of day that comes twice is its first coming', () => {
    expect(timesIn('30 2 * * *', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z', // 2:30 in summer
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  test('every half hour goes on in both', () => {
    expect(timesIn('*/30 * * * *', '2026-03-29T00:15:00Z', 3)).toEqual([
      '2026-03-29T00:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:30:00.000Z',
    ]);
    expect(timesIn('*/30 * * * *', '2026-10-25T00:15:00Z', 3)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T01:30:00.000Z',
    ]);
  });

  test('the last time up to a moment is found in both', () => {
    const timing = { cron: '30 2 * * *', timeZone: PRAGUE };
    const last = (from: string, until: string): string =>
      new Date(lastTime(timing, Date.parse(from), Date.parse(until))).toISOString();
    expect(last('2026-03-28T01:30:00Z', '2026-03-29T01:00:00Z')).toBe('2026-03-29T01:00:00.000Z');
    expect(last('2026-10-24T00:30:00Z', '2026-10-25T01:45:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(last('2026-10-24T00:30:00Z', '2026-10-24T00:30:00Z')).toBe('2026-10-24T00:30:00.000Z');
  });
});

/** The queue, by the clock of the test over PostgreSQL too. */
function queueOf(meta: Meta, env: Env): Queue {
  const queue = createQueue(meta, env);
  const due = {
    now: async () => await Promise.resolve(env.now()),
    listDue: async () => await listDue(meta, new Date(env.now()).toISOString()),
  };
  return { ...queue, runs: { ...queue.runs, ...due } };
}

describe('runs whose time has come', () => {
  const open: (Running | Meta | string)[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) {
      if (typeof each === 'string') await rm(each, { recursive: true, force: true });
      else if ('stop' in each) await each.stop();
      else await each.destroy();
    }
  });

  /**
   * A service with a schedule for every hour, looked at from two processes at times that are set by hand. Those of the API
   * are its own: over PostgreSQL nobody can set its clock. Times are told in hours from the first of the schedule on.
   */
  async function world() {
    const clock = { now: Date.now() };
    const env: Env = { ...systemEnv, now: () => clock.now };
    const dir = await mkdtemp(join(tmpdir(), 'scheduler-'));
    open.push(dir);
    const service = await startService({ dir, env });
    open.push(service);
    const configs = 'components/ex-generic-v2/configs';
    await service.call('POST', configs, { configurationId: 'c', name: 'c', configuration: {} });
    const made = await service.call('POST', `${configs}/c/schedules`, { cron: '0 * * * *' });
    const { id, nextTime } = made.body as { id: string; nextTime: string };
    const first = Date.parse(nextTime);
    const metas = [await metaOf(dir), await metaOf(dir)];
    open.push(...metas);
    return {
      service,
      schedule: `${configs}/c/schedules/${id}`,
      configuration: `${configs}/c`,
      metas,
      at: (hours: number): string => new Date(first + hours * 3_600_000).toISOString(),
      shownAt: (hours: number): string =>
        new Date(first + hours * 3_600_000).toISOString().replace('.000Z', '+0000'),
      /**
       * Lets both processes run due schedules, one after the other: a connection that waits for another would block
       * this thread.
       */
      tick: async (hours: number) => {
        clock.now = first + hours * 3_600_000;
        let asked = 0;
        for (const meta of metas)
          asked += await runDue({ meta, env, log: silentLog, queue: queueOf(meta, env) });
        return asked;
      },
      times: async () =>
        (
          (await service.call('GET', 'runs')).body as { scheduledTime: string; status: string; id: string }[]
        ).map(({ scheduledTime }) => scheduledTime),
      cancelAll: async () => {
        for (const { id: run } of (await service.call('GET', 'runs?status[]=waiting')).body as {
          id: string;
        }[])
          await service.call('POST', `runs/${run}/cancel`);
      },
    };
  }

  test('are asked for once by two processes', async () => {
    const { tick, times, shownAt } = await world();
    expect(await tick(-0.01)).toBe(0);
    expect(await tick(0)).toBe(1);
    expect(await tick(0)).toBe(0);
    expect(await times()).toEqual([shownAt(0)]);
  });

  test('are not asked for by a process that saw them due before another one asked', async () => {
    const { tick, times, metas, at } = await world();
    const [, late] = metas;
    const [due] = late === undefined ? [] : await listDue(late, at(0));
    expect(await tick(0)).toBe(1);
    if (late === undefined || due === undefined) throw new Error('Nothing was due.');
    const to = { last: due.next_occurrence, next: at(1) };
    expect(await late.transaction().execute(async (tx) => await advanceSchedule(tx, due, to))).toBe(false);
    const again = { id: due.id, time: due.next_occurrence ?? '' };
    const asked = late.transaction().execute(
      async (tx) =>
        await insertRun(tx, systemEnv, {
          configuration: due,
          asked: {},
          schedule: again,
          author: { creator_id: 1, creator_description: '' },
        }),
    );
    await expect(asked).rejects.toSatisfy(isTaken);
    expect(await times()).toHaveLength(1);
  });

  test('give one run for all the times that nobody was there for: the last', async () => {
    const { tick, times, service, schedule, shownAt } = await world();
    expect(await tick(46.5)).toBe(1);
    expect(await times()).toEqual([shownAt(46)]);
    expect((await service.call('GET', schedule)).body).toMatchObject({
      lastTime: shownAt(46),
      nextTime: shownAt(47),
    });
    expect((await service.call('GET', `runs/problems?since=2000-01-01&until=2100-01-01`)).body).toMatchObject(
      {
        missed: [
          {
            configuration: 'c',
            cron: '0 * * * *',
            reason: 'away',
            times: 46,
            firstTime: shownAt(0),
            lastTime: shownAt(45),
          },
        ],
      },
    );
  });

  test('do not come again when the clock is set back, nor when the schedule is changed then', async () => {
    const { tick, times, cancelAll, service, schedule, shownAt } = await world();
    expect(await tick(0.01)).toBe(1);
    await cancelAll();
    expect(await tick(-0.5)).toBe(0);
    await service.call('PUT', schedule, { isEnabled: true });
    expect(await tick(0.01)).toBe(0);
    expect(await times()).toEqual([shownAt(0)]);
  });

  test('wait for nobody twice: a schedule whose last run still waits is left out', async () => {
    const { tick, times, cancelAll, service, shownAt } = await world();
    expect(await tick(0)).toBe(1);
    expect(await tick(1)).toBe(0);
    const { body } = await service.call('GET', 'runs/problems?since=2000-01-01&until=2100-01-01');
    expect(body).toMatchObject({ missed: [{ reason: 'waiting', times: 1, firstTime: shownAt(1) }] });
    await cancelAll();
    expect(await tick(2)).toBe(1);
    expect(await times()).toEqual([shownAt(2), shownAt(0)]);
  });

  test('are not asked for while the schedule or the configuration is disabled, or in the trash', async () => {
    const { tick, service, schedule, configuration } = await world();
    await service.call('PUT', schedule, { isEnabled: false });
    expect(await tick(0)).toBe(0);
    await service.call('PUT', schedule, { isEnabled: true });
    await service.call('PUT', configuration, { isDisabled: true });
    expect(await tick(1)).toBe(0);
    await service.call('PUT', configuration, { isDisabled: false });
    await service.call('DELETE', configuration);
    expect(await tick(2)).toBe(0);
    await service.call('POST', `${configuration}/restore`);
    expect(await tick(3)).toBe(1);
  });

  test('end with the schedule of a configuration that is gone for good', async () => {
    const { service, configuration, schedule, tick } = await world();
    await service.call('DELETE', configuration);
    await service.call('DELETE', configuration);
    await service.call('POST', 'components/ex-generic-v2/configs', { configurationId: 'c', name: 'again' });
    expect((await service.call('GET', schedule)).status).toBe(404);
    expect(await tick(2)).toBe(0);
  });
});
