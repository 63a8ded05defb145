import { randomBytes } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { startService } from '../harness.ts';
import { clientOf } from './client.ts';
import { isOnPostgres } from '../database.ts';

const DAY = 86_400_000;

// Over PostgreSQL upkeep is handed on when a process ends, and its time is told by the clock of the database.
test.runIf(!isOnPostgres)(
  'finished jobs and events go after 90 days, or after as many as are said',
  { tags: 'thorough' },
  async () => {
    let ahead = 0;
    const env = { ...systemEnv, now: () => Date.now() + ahead };
    const first = await startService({ env });
    const client = clientOf(first);
    await first.call('POST', 'buckets', { name: 'main' });
    const job = await client.create('in.c-main', 't', 'id\n1\n');
    const event = await client.call<{ id: number }>('POST', 'events', {
      component: 'wr-db',
      message: 'told',
    });
    await first.service.stop();
    const found = async (days: number, keepDays?: number): Promise<number[]> => {
      ahead = days * DAY;
      const again = await startService({
        dir: first.dir,
        env,
        ...(keepDays === undefined ? {} : { keepDays }),
      });
      // The first sweep runs beside the start, and is waited for at the end.
      await again.service.stop();
      const looking = await startService({ dir: first.dir, env });
      const look = clientOf(looking);
      const statuses = [
        (await look.call('GET', `jobs/${job.id}`)).status,
        (await look.call('GET', `events/${event.body.id}`)).status,
      ];
      await looking.service.stop();
      return statuses;
    };
    expect(await found(60)).toEqual([200, 200]);
    expect(await found(60, 30)).toEqual([404, 404]);
    await rm(first.dir, { recursive: true });
  },
);

test.runIf(!isOnPostgres)(
  'space of a deleted table is given back when the service stops, not only after its next sweep',
  { tags: 'thorough' },
  async () => {
    const api = await startService();
    const client = clientOf(api);
    await api.call('POST', 'buckets', { name: 'main' });
    const rows = randomBytes(30_000_000)
      .toString('base64')
      .replaceAll(/.{100}/g, '$&\n');
    await client.create('in.c-main', 'large', `text\n${rows}\n`);
    await client.create('in.c-main', 'small', 'id\n1\n');
    await client.run('DELETE', 'tables/in.c-main.large?async=1');
    await api.service.stop();
    const { size } = await stat(path.join(api.dir, 'tables', 'tables.duckdb'));
    expect(size).toBeLessThan(10_000_000);
    const again = await startService({ dir: api.dir });
    expect(await clientOf(again).rowsOf('in.c-main.small')).toBe('"1"\n');
    await again.stop();
  },
);
