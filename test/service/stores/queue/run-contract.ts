import { beforeEach, describe, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { insertConfiguration } from '../../../../src/service/domain/configurations/model.ts';
import { beatRun } from '../../../../src/service/stores/metadata/run-leases.ts';
import { appendLog } from '../../../../src/service/stores/metadata/run-log.ts';
import { transactionsOf } from '../../../../src/service/stores/metadata/transaction.ts';
import { findRun } from '../../../../src/service/stores/metadata/runs.ts';
import { insertSchedule } from '../../../../src/service/stores/metadata/schedules.ts';
import type { RunRow } from '../../../../src/service/stores/metadata/tables.ts';
import { runDue } from '../../../../src/service/domain/schedules/scheduler.ts';
import type { OpenQueue } from './support.ts';

const configurationOf = (configuration_id: string) => ({
  branch_id: 1,
  component_id: 'ex',
  configuration_id,
});

/** Tests the contract of every queue for runs and schedules. */
export function runContract(here: () => OpenQueue, another: () => Promise<OpenQueue>): void {
  const take = async (on = here()): Promise<RunRow | undefined> =>
    await on.queue.runs.take({ runner: 'runner' });
  const taken = async (on = here()): Promise<RunRow> => {
    const run = await take(on);
    if (run === undefined) throw new Error('There is a run to take.');
    return run;
  };
  const run = async (on = here()): Promise<number> => await runDue({ ...on, env: systemEnv, log: silentLog });
  const nextOf = async (id: number): Promise<number> => {
    const found = here().meta.selectFrom('schedules').select('next_occurrence').where('id', '=', id);
    return Date.parse((await found.executeTakeFirstOrThrow()).next_occurrence ?? '');
  };
  describe('runs', () => {
    const author = { creator_id: 1, creator_description: 'x' };
    const ask = async (configuration: string, on = here(), creator_id = 1): Promise<RunRow> => {
      const by = { ...author, creator_id };
      const run = { configuration: configurationOf(configuration), asked: {}, author: by };
      const row = await on.meta.transaction().execute(async (tx) => await on.queue.runs.submit(tx, run));
      on.queue.wake('runs');
      return row;
    };
    const done = { status: 'success', exitCode: 0, verdict: null, error: null, report: null } as const;
    const putOff = { isBeforeStart: true, line: '{}' };

    test('are taken once each, by whoever comes', async () => {
      const other = await another();
      const asked = [await ask('a'), await ask('b'), await ask('c')].map(({ id }) => id);
      const found = await Promise.all([here(), other, here(), other].map(take));
      expect(found.flatMap((row) => row?.id ?? []).toSorted((a, b) => a - b)).toEqual(asked);
    });

    test('of one configuration are taken one after another: the end of one leads to the next', async () => {
      const asked = [await ask('a'), await ask('a'), await ask('a')];
      for (const { id } of asked) {
        const run = await taken();
        expect(run).toMatchObject({ id, attempt: 1 });
        expect(await take()).toBeUndefined();
        expect(await here().queue.runs.finish(run, done)).toBe(true);
      }
      expect(await take()).toBeUndefined();
    });

    test('that are undone were never there', async () => {
      const undone = here()
        .meta.transaction()
        .execute(async (tx) => {
          await here().queue.runs.submit(tx, { configuration: configurationOf('a'), asked: {}, author });
          throw new Error('undone');
        });
      await expect(undone).rejects.toThrow('undone');
      expect(await take()).toBeUndefined();
    });

    test('that are put back are taken again, and what is left of the attempt before does nothing', async () => {
      const { id } = await ask('a');
      const first = await taken();
      expect(await here().queue.runs.giveBack(first)).toBe(true);
      expect(await here().queue.runs.giveBack(first)).toBe(false);
      expect(await taken()).toMatchObject({ id, attempt: 2 });
      expect(await take()).toBeUndefined();
      const { beat } = (await findRun(here().meta, id)) ?? {};
      expect(await beatRun(here().meta, first, '{"pages":9}')).toBeUndefined();
      expect(await findRun(here().meta, id)).toMatchObject({ beat, report: null, status: 'processing' });
      expect(await here().queue.runs.finish(first, done)).toBe(false);
      expect(await here().queue.runs.putOff(first, { waitMs: 1, ...putOff })).toBe('lost');
    });

    test('are no longer those of a runner whose number was given again by a standby that takes over', async () => {
      await ask('a');
      const lost = await taken();
      await here().meta.updateTable('runs').set({ runner: 'next' }).where('id', '=', lost.id).execute();
      expect(await beatRun(here().meta, lost)).toBeUndefined();
      expect(await appendLog(here().meta, lost, lost, ['{}'])).toBeUndefined();
      expect(await here().queue.runs.giveBack(lost)).toBe(false);
      expect(await here().queue.runs.putOff(lost, { waitMs: 1, ...putOff })).toBe('lost');
      expect(await here().queue.runs.finish(lost, done)).toBe(false);
      expect(await here().queue.runs.finish({ ...lost, runner: 'next' }, done)).toBe(true);
    });

    test('that are put off are taken when their time has come, before the next of the configuration', async () => {
      const [{ id }, next] = [await ask('a'), await ask('a')];
      expect(await here().queue.runs.putOff(await taken(), { waitMs: 700, ...putOff })).toBe('waiting');
      const from = performance.now();
      expect(await take()).toBeUndefined();
      let again: RunRow | undefined;
      await expect.poll(async () => (again = await take())?.id).toBe(id);
      expect(performance.now() - from).toBeGreaterThan(600);
      if (again !== undefined) await here().queue.runs.finish(again, done);
      expect(await taken()).toMatchObject({ id: next.id });
    });

    test('behind one that waits for its time are led to when that one is cancelled', async () => {
      const [{ id }, next] = [await ask('a'), await ask('a')];
      await here().queue.runs.putOff(await taken(), { waitMs: 600_000, ...putOff });
      expect(await take()).toBeUndefined();
      expect(await here().queue.runs.cancel(transactionsOf(here().meta), id)).toBe(true);
      expect(await taken()).toMatchObject({ id: next.id });
    });

    test('of the token with the fewest at work are taken first, and of those the oldest', async () => {
      const asked: number[] = [];
      for (const [index, token] of [1, 1, 1, 2, 2, 3].entries())
        asked.push((await ask(`${index}`, here(), token)).id);
      const order: (number | undefined)[] = [];
      const other = await another();
      for (let n = 0; n < 7; n++) order.push((await take(n % 2 === 0 ? here() : other))?.id);
      const [a, b, c, d, e, f] = asked;
      expect(order).toEqual([a, d, f, b, e, c, undefined]);
    });

    test('of one token that hang leave a runner of the process to another token', async () => {
      const one = { runner: 'one', ofToken: 1 };
      const [hanging, behind] = [await ask('a'), await ask('b')];
      expect(await here().queue.runs.take(one)).toMatchObject({ id: hanging.id });
      expect(await here().queue.runs.take(one)).toBeUndefined();
      const other = await ask('c', here(), 2);
      expect(await here().queue.runs.take(one)).toMatchObject({ id: other.id });
      // Another process has runners of its own.
      expect(await here().queue.runs.take({ ...one, runner: 'two' })).toMatchObject({ id: behind.id });
    });

    test('wake who listens when they are asked for, put back or ended', async () => {
      let woken = 0;
      const stop = here().queue.onNews('runs', () => woken++);
      const told = async (work: () => Promise<unknown>): Promise<void> => {
        const before = woken;
        await work();
        await expect.poll(() => woken).toBeGreaterThan(before);
      };
      await told(async () => await ask('a'));
      const run = await taken();
      await told(async () => await here().queue.runs.giveBack(run));
      const again = await taken();
      await told(async () => await here().queue.runs.finish(again, done));
      stop();
    });
  });

  describe('schedules', () => {
    const MINUTE = 60_000;
    const schedule = async (awayMs: number): Promise<number> => {
      const row = {
        id: ++schedules,
        branch_id: 1,
        component_id: 'ex',
        configuration_id: 'a',
        cron: '* * * * *',
        time_zone: 'UTC',
        rows: '[]',
        is_enabled: 1,
        is_paused: 0,
        next_occurrence: new Date((await here().queue.runs.now()) + awayMs).toISOString(),
        last_occurrence: null,
        approved_version: null,
        approved_id: null,
        created: '',
        creator_id: 1,
        creator_description: '',
      } as const;
      await here()
        .meta.transaction()
        .execute(async (tx) => {
          await insertSchedule(tx, row);
        });
      return row.id;
    };
    let schedules = 0;

    beforeEach(async () => {
      const author = { creator_id: 1, creator_description: '' };
      const key = { branch_id: 1, component_id: 'ex', configuration_id: 'a' };
      await here()
        .meta.transaction()
        .execute(async (tx) => {
          const content = { name: 'a', description: '', isDisabled: false, configuration: '{}', state: '{}' };
          await insertConfiguration(tx, key, content, { env: systemEnv, author, text: undefined });
        });
    });

    test('that are due give one run, which is led to, and move on', async () => {
      const id = await schedule(-10);
      const found = [await run(), await run(await another())];
      expect(found).toEqual([1, 0]);
      expect(await take()).toMatchObject({ schedule_id: id });
      expect(await nextOf(id)).toBeGreaterThan(await here().queue.runs.now());
    });

    test('that are not due give none', async () => {
      await schedule(30 * MINUTE);
      expect(await run()).toBe(0);
    });
  });
}
