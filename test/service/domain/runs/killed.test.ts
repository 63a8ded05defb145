// @module-tag thorough
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { json, startApi, startGex, type Running } from '../../../cli/support.ts';
import { request } from '../../harness.ts';
import type { RunRequests } from '../../../../src/storage/protocol/run-requests.ts';
import { books, worldOf, type World } from './support.ts';

/** `gex serve` over a folder, in a process of its own. */
async function serve(dir: string): Promise<{ process: Running; world: World }> {
  const ports = ['--port=0', '--s3-port=0', '--importer-port=0'];
  const process = startGex(['serve', '--dir', dir, ...ports]);
  onTestFinished(() => process.kill('SIGKILL'));
  const address = (): string | undefined =>
    (textIn(path.join(dir, 'service.json')) as { pid?: number; address?: string } | undefined)?.address;
  const isUp = (): boolean =>
    (textIn(path.join(dir, 'service.json')) as { pid?: number } | undefined)?.pid === process.pid &&
    address() !== undefined;
  await expect.poll(isUp).toBe(true);
  const url = address() ?? '';
  const token = (await startGex(['serve', '--dir', dir, '--new-token']).ended).stdout.trim();
  const call = async (method: string, at: string, body?: unknown, headers?: Record<string, string>) =>
    await request(url, token, method, at, body, headers);
  return { process, world: worldOf({ dir, token, addresses: { url, parts: {} }, call }) };
}

function textIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a run goes on where it was when the service is killed, and its process ends by itself', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'killed-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const api = await startApi(({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    const answer = (): void => json(response, page < 6 ? [{ id: page }] : []);
    if (page === 4) void gate.then(answer);
    else answer();
  });
  const first = await serve(dir);
  const paged = books(api.url) as { parameters: { api: object } };
  Object.assign(paged.parameters.api, { pagination: { method: 'pagenum', firstPage: 1 } });
  await first.world.configure('a', paged);
  const { id } = await first.world.start('a');
  await expect.poll(() => api.seen.length).toBe(4);
  const numbers = async (world: World): Promise<readonly number[]> => {
    const { body } = await world.call('GET', `runs/${id}/requests`);
    return (body as RunRequests).requests.map(({ number }) => number);
  };
  // Told of before the end of their process.
  await expect.poll(async () => await numbers(first.world)).toEqual([1, 2, 3]);
  const [folder = ''] = readdirSync(path.join(dir, 'runs'));
  const holder = textIn(path.join(dir, 'runs', folder, '.gex', 'run.json')) as { pid: number };
  expect(isAlive(holder.pid)).toBe(true);

  first.process.kill('SIGKILL');
  await first.process.ended;
  await expect.poll(() => isAlive(holder.pid)).toBe(false);
  letGo();
  const second = await serve(dir);
  expect(await second.world.ended(id)).toMatchObject({ status: 'success', attempt: 2 });
  expect(await numbers(second.world)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(api.seen.slice(4)).toEqual(['GET /books?page=4', 'GET /books?page=5', 'GET /books?page=6']);
  expect(await second.world.rows('in.c-library.books')).toEqual(['"1"', '"2"', '"3"', '"4"', '"5"']);
  // the folder goes behind the end of the run
  await expect.poll(() => existsSync(path.join(dir, 'runs', folder))).toBe(false);
  second.process.kill('SIGTERM');
  expect((await second.process.ended).code).toBe(0);
});
