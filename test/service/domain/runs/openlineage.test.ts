import { expect, onTestFinished, test } from 'vitest';
import { json, startApi } from '../../../cli/support.ts';
import { receiver } from '../../../support/lineage-receiver.ts';
import { systemEnv } from '../../../../src/lib/env.ts';
import { isoTime } from '../../../../src/lib/iso-time.ts';
import { isOnPostgres, metaOf } from '../../database.ts';
import { books, startWorld } from './support.ts';

const KEY = 'key of the catalogue';
const HOUR_MS = 3_600_000;

async function startTold() {
  const { got, url } = await receiver();
  for (const [name, value] of [
    ['GEX_OPENLINEAGE_URL', url],
    ['GEX_OPENLINEAGE_KEY', KEY],
  ] as const) {
    process.env[name] = value;
    onTestFinished(() => void delete process.env[name]);
  }
  return got;
}

test('each run of a service tells of itself, and no configuration can read the key', async () => {
  const got = await startTold();
  const api = await startApi((_, response) => json(response, [{ id: 1 }]));
  const world = await startWorld({ publicUrl: 'https://tables.example.com/' });
  const good = await world.configure('good', books(api.url));
  const { id, status } = await world.ended((await world.start(good)).id);
  expect(status).toBe('success');
  expect(got.map(({ event, authorization }) => [event.eventType, authorization])).toEqual([
    ['START', `Bearer ${KEY}`],
    ['COMPLETE', `Bearer ${KEY}`],
  ]);
  const [start, complete] = got.map(({ event }) => event);
  expect(complete?.run.runId).toBe(start?.run.runId);
  expect(complete?.job).toMatchObject({
    namespace: 'https://tables.example.com',
    name: 'ex-generic-v2/good',
  });
  expect(complete?.outputs).toMatchObject([
    { namespace: 'https://tables.example.com', name: 'in.c-library.books' },
  ]);
  const thief = books(api.url, { '#key': '$env:GEX_OPENLINEAGE_KEY' });
  const failed = await world.ended((await world.start(await world.configure('thief', thief))).id);
  expect(failed.error?.message).toContain('GEX_OPENLINEAGE_KEY');
  expect(got.at(-1)?.event.eventType).toBe('FAIL');
  const told = JSON.stringify([await world.log(id), await world.log(failed.id), got.map(({ text }) => text)]);
  expect(told).not.toContain(KEY);
});

test('a run of a schedule tells the time that it is for', { timeout: 150_000 }, async () => {
  const got = await startTold();
  const api = await startApi((_, response) => json(response, [{ id: 1 }]));
  let ahead = 0;
  const env = { ...systemEnv, now: () => systemEnv.now() + ahead };
  const world = await startWorld({ env });
  const id = await world.configure('hourly', books(api.url));
  const { body } = await world.call('POST', `components/ex-generic-v2/configs/${id}/schedules`, {
    cron: '0 * * * *',
  });
  const { nextTime } = body as { readonly nextTime: string };
  if (isOnPostgres) await makeDue(world.dir, Date.parse(nextTime) - HOUR_MS);
  else ahead = Date.parse(nextTime) - systemEnv.now() + 1000;
  await expect
    .poll(() => got.map(({ event }) => event.eventType), { timeout: 120_000, interval: 100 })
    .toEqual(['START', 'COMPLETE']);
  const facet = got[1]?.event.run.facets['nominalTime'] as { readonly nominalStartTime: string };
  const { body: runs } = await world.call('GET', 'runs');
  const [run] = runs as readonly { readonly scheduledTime: string }[];
  expect(Date.parse(facet.nominalStartTime)).toBe(Date.parse(run?.scheduledTime ?? ''));
});

/** Lets the last time of a schedule be the next one: a test has no hand on the clock of a database. */
async function makeDue(dir: string, time: number): Promise<void> {
  const meta = await metaOf(dir);
  await meta
    .updateTable('schedules')
    .set({ next_occurrence: isoTime(time) })
    .execute();
  await meta.destroy();
}
