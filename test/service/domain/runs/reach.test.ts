// @module-tag thorough
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { json, startApi, startGex } from '../../../cli/support.ts';
import { request } from '../../harness.ts';
import { books, worldOf, type World } from './support.ts';

/** `gex serve` in a process of its own, with options that say where its runs may go. */
async function serve(...options: readonly string[]): Promise<World> {
  const dir = mkdtempSync(path.join(tmpdir(), 'reach-'));
  const ports = ['--port=0', '--s3-port=0', '--importer-port=0'];
  const process = startGex(['serve', '--dir', dir, ...ports, ...options]);
  onTestFinished(async () => {
    process.kill('SIGTERM');
    await process.ended;
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  const port = (): string | undefined => {
    try {
      const { address } = JSON.parse(readFileSync(path.join(dir, 'service.json'), 'utf8')) as {
        address?: string;
      };
      return address === undefined ? undefined : new URL(address).port;
    } catch {
      return undefined;
    }
  };
  await expect.poll(port).toBeDefined();
  const url = `http://127.0.0.1:${port()}`;
  const token = (await startGex(['serve', '--dir', dir, '--new-token']).ended).stdout.trim();
  const call = async (method: string, at: string, body?: unknown, headers?: Record<string, string>) =>
    await request(url, token, method, at, body, headers);
  return worldOf({ dir, token, addresses: { url, parts: {} }, call });
}

const ended = (text: string): string =>
  text.includes('"http.forbiddenHost"')
    ? 'http.forbiddenHost'
    : /"(?:found|tried)":/.test(text)
      ? 'success'
      : text;

/** Returns the results of a run, a trial and a probe of an API, each in a process of its own. */
async function askAll(world: World, url: string): Promise<readonly string[]> {
  const configuration = books(url);
  await world.configure('a', configuration);
  const run = await world.ended((await world.start('a')).id);
  const tried = await world.call('POST', 'workshop/try', { document: configuration });
  const explored = await world.call('POST', 'workshop/explore', { source: `${url}/books` });
  return [run.error?.code ?? run.status, ended(tried.text), ended(explored.text)];
}

const REFUSED = ['http.forbiddenHost', 'http.forbiddenHost', 'http.forbiddenHost'];
const DONE = ['success', 'success', 'success'];

test('a service that others may reach keeps its runs from what is near, and pushes to itself all the same', async () => {
  const api = await startApi((_request, response) => json(response, [{ id: 1 }, { id: 2 }]));
  const guarded = await serve('--host=0.0.0.0');
  expect(await askAll(guarded, api.url)).toEqual(REFUSED);
  expect(api.seen).toEqual([]);
  // A configuration has no say in it, whatever it calls the rules.
  const own = { ...books(api.url), image_parameters: { allowed_hosts: [{ host: '127.0.0.1' }] } };
  await guarded.configure('b', own);
  expect((await guarded.ended((await guarded.start('b')).id)).error).toMatchObject({
    code: 'http.forbiddenHost',
    message: 'Requests to “127.0.0.1” are not allowed here: loopback addresses are denied.',
    hint: expect.stringContaining('--allow-host') as string,
  });
  const allowed = await serve('--host=0.0.0.0', '--allow-host=127.0.0.1');
  expect(await askAll(allowed, api.url)).toEqual(DONE);
  expect(await allowed.rows('in.c-library.books')).toEqual(['"1"', '"2"']);
}, 120_000);

test('one behind a public address does so, too, and one of this machine alone does as it is told', async () => {
  const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
  expect(await askAll(await serve('--public-url=https://storage.example.com'), api.url)).toEqual(REFUSED);
  expect(await askAll(await serve(), api.url)).toEqual(DONE);
  expect(await askAll(await serve('--deny-host=10.0.0.0/8', '--deny-host=127.0.0.0/8'), api.url)).toEqual(
    REFUSED,
  );
  expect(await askAll(await serve('--deny-host=*', '--allow-host=127.0.0.1'), api.url)).toEqual(DONE);
}, 120_000);

test('one that trusts a proxy does so, too, on whatever machine that is', async () => {
  const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
  const named = await serve('--trust-proxy=127.0.0.1');
  expect(await askAll(named, api.url)).toEqual(REFUSED);
  vi.stubEnv('GEX_TRUST_PROXY', '127.0.0.1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const found = await serve();
  expect(await askAll(found, api.url)).toEqual(REFUSED);
  expect(api.seen).toEqual([]);
}, 120_000);

test('a rule that cannot be read is refused at the start', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'reach-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const { code, stderr } = await startGex(['serve', '--dir', dir, '--deny-host=10.0.0.0/99']).ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('“10.0.0.0/99” is no rule for hosts') as string,
  });
});
