import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { silentLog, type Log } from '../../../../src/lib/log.ts';
import { runnerPart } from '../../../../src/service/start/runner.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import { MAIN } from '../../../support/command.ts';
import { isOnPostgres } from '../../database.ts';
import { ask, share } from './shared.ts';

const RUNS = { command: [process.execPath, MAIN], concurrency: 1, pollMs: 500, checkMs: 500 } as const;

describe.runIf(isOnPostgres)('a database that takes no changes any more', () => {
  test('makes the service unready until it does again, and each change is told of once', async () => {
    const told: string[] = [];
    const note = (text: string, fields?: object): void => void told.push(`${text} ${JSON.stringify(fields)}`);
    const log: Log = { ...silentLog, info: note, warn: note, error: note };
    const shared = await share();
    try {
      const { addresses } = await shared.start({ log, parts: [dataPart, runnerPart(RUNS)] });
      const token = addresses.masterToken ?? '';
      const ready = async (): Promise<{ status: number; body: unknown }> => {
        const response = await fetch(`${addresses.url}/ready`);
        return { status: response.status, body: await response.json() };
      };
      const lines = (text: string): string[] => told.filter((line) => line.startsWith(text));
      const isReadOnly = {
        check: 'database',
        message: 'It takes no changes: it is a replica, or read-only.',
      };
      expect((await ready()).status).toBe(200);

      await change(shared.options.database?.url, 'set default_transaction_read_only = on');
      await expect.poll(ready).toEqual({
        status: 503,
        body: { status: 'unready', reasons: [isReadOnly] },
      });
      // Reads continue while writes fail.
      expect((await ask(addresses.url, token, 'GET', 'buckets')).status).toBe(200);
      expect((await ask(addresses.url, token, 'POST', 'buckets', { name: 'main' })).status).toBe(503);
      await sleep(7000);
      expect((await ready()).status).toBe(503);
      expect(lines('The service is not ready')).toHaveLength(1);
      // One of the workers for jobs, one of that for upkeep.
      const ofJobs = (): number => lines('Job queue unavailable').length;
      await expect.poll(ofJobs).toBeGreaterThan(0);
      expect(ofJobs()).toBeLessThanOrEqual(2);
      // As long as no run waits, a look for one only reads.
      expect(lines('Run queue unavailable')).toEqual([]);
      const worksAgain = (): number => lines('Recovered').filter((line) => line.includes('Job queue')).length;
      expect(worksAgain()).toBe(0);

      await change(shared.options.database?.url, 'reset default_transaction_read_only');
      await expect.poll(ready).toEqual({ status: 200, body: { status: 'ready' } });
      await expect.poll(() => ofJobs() - worksAgain()).toBe(0);
      expect(ofJobs()).toBeLessThanOrEqual(2);
      expect(lines('The service is ready again')).toHaveLength(1);
      expect((await ask(addresses.url, token, 'POST', 'buckets', { name: 'main' })).status).toBe(201);
    } finally {
      await shared.stop();
    }
  });
});

/** Changes what connections begin with, and ends those that began before, as when another server takes over. */
async function change(url: string | undefined, what: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `begin read write; do $$ begin execute format('alter database %I ${what}', current_database()); end $$; commit`,
    );
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  } finally {
    await client.end();
  }
}
