import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGex, type Running } from '../../../cli/support.ts';
import { createService } from '../../../../src/service/start/service.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from '../../database.ts';
import { request } from '../../harness.ts';

interface Served {
  readonly process: Running;
  readonly url: string;
}

/** `gex serve` in a process of its own. */
async function serve(dir: string, database: string): Promise<Served> {
  const ports = ['--port=0', '--s3-port=0', '--importer-port=0', '--runs=0'];
  const process = startGex(['serve', '--dir', dir, '--database', database, ...ports]);
  onTestFinished(() => process.kill('SIGKILL'));
  let url: string | undefined;
  const look = async (): Promise<boolean> => {
    const text = await readFile(path.join(dir, 'service.json'), 'utf8').catch(() => '{}');
    const found = JSON.parse(text) as { pid?: number; address?: string };
    url = found.pid === process.pid ? found.address : undefined;
    return url !== undefined;
  };
  await expect.poll(look).toBe(true);
  return { process, url: url ?? '' };
}

describe.runIf(isOnPostgres)('a service that is killed between a change and its answer', () => {
  test('gives the answer when the request comes again', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'killed-'));
    onTestFinished(async () => await rm(dir, { recursive: true, force: true, maxRetries: 5 }));
    const name = randomUUID();
    const { url: database } = (await databaseOf(name)) ?? { url: '' };
    onTestFinished(async () => await forgetDatabase(name));
    const made = createService({ dir, database: { url: database } });
    const { masterToken: token = '' } = await made.start();
    await made.stop();
    const first = await serve(dir, database);
    const ask = async (url: string) =>
      await request(url, token, 'POST', 'buckets', { name: 'once' }, { 'Idempotency-Key': 'killed' });
    const watcher = new Client({ connectionString: database });
    await watcher.connect();
    onTestFinished(async () => await watcher.end());
    // Behind the change, what the bucket has is read for the answer.
    await watcher.query('begin; lock table gex.metadata in access exclusive mode');
    const cut = expect(ask(first.url)).rejects.toThrow();
    const keys = async (): Promise<number | null> =>
      (await watcher.query("select from gex.request_keys where key = 'killed'")).rowCount;
    await expect.poll(keys).toBe(1);
    first.process.kill('SIGKILL');
    await cut;
    await watcher.query('rollback');
    const second = createService({ dir, database: { url: database } });
    onTestFinished(async () => await second.stop());
    const answer = await ask((await second.start()).url);
    expect(answer).toMatchObject({ status: 201, body: { id: 'in.c-once', displayName: 'once' } });
    expect(answer.headers.get('idempotency-replayed')).toBe('true');
  });
});
