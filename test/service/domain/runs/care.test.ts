// @module-tag thorough
import { expect, test } from 'vitest';
import { silentLog, type Log, type LogFields } from '../../../../src/lib/log.ts';
import { json, startApi } from '../../../cli/support.ts';
import { metaOf } from '../../database.ts';
import { startService } from '../../harness.ts';
import { books, startWorld } from './support.ts';

test('a run carries the id of the request that asked for it, and is counted by its verdict', async () => {
  const lines: { readonly text: string; readonly fields: LogFields }[] = [];
  const log: Log = { ...silentLog, info: (text, fields = {}) => void lines.push({ text, fields }) };
  const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
  const world = await startWorld({ log, healthPort: 0 });
  await world.configure('a', books(api.url));
  const { id } = await world.start('a', {}, { 'x-request-id': 'asked-for-a-run' });
  expect((await world.ended(id)).status).toBe('success');
  const scrape = async (): Promise<string> =>
    await (await fetch(`${world.addresses.parts['health']}/metrics`)).text();
  await expect
    .poll(scrape)
    .toMatch(/^gex_run_duration_seconds_count\{status="success",verdict="ended"\} 1$/m);
  const ofRun = lines.filter(({ fields }) => String(fields['run']) === id);
  expect(ofRun.map(({ text }) => text)).toEqual(['Run started', 'Run ended']);
  for (const { fields } of ofRun) expect(fields['requestId']).toBe('asked-for-a-run');
});

test('a run whose time is over goes with its log, and those after it stay', async () => {
  const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
  const world = await startWorld();
  await world.configure('a', books(api.url));
  const { id } = await world.start('a');
  await world.ended(id);
  const kept = await world.ended((await world.start('a')).id);
  expect(kept).toMatchObject({ status: 'success', error: null });
  expect(await world.log(kept.id)).not.toEqual([]);
  await world.service.stop();
  const meta = await metaOf(world.dir);
  const ended = '2020-01-01T00:00:00.000Z';
  await meta.updateTable('runs').set({ ended }).where('id', '=', Number(id)).execute();
  // Over a database it is not done again by a mere start.
  await meta.deleteFrom('counters').where('name', 'like', 'upkeep %').execute();
  await meta.destroy();
  const again = await startService({ dir: world.dir });
  await expect.poll(async () => (await again.call('GET', `runs/${id}`)).status).toBe(404);
  expect((await again.call('GET', `runs/${kept.id}`)).status).toBe(200);
  await again.service.stop();
  const look = await metaOf(world.dir);
  const logs = await look.selectFrom('run_log').select('run_id').distinct().execute();
  await look.destroy();
  expect(logs).toEqual([{ run_id: Number(kept.id) }]);
});
