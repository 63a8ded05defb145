import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMPILE_CACHE, gexHere } from '../../cli/support.ts';
import { MAIN } from '../../support/command.ts';

const PORTS = ['--port', '0', '--s3-port', '0', '--importer-port', '0'];

let dir: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'serve-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly printed: Readonly<Record<string, string>>;
}

/** Starts the command, and reads what it prints up to its last address and its token, if there is one. */
async function serve(folder: string, isFirst: boolean, ...options: string[]): Promise<Started> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--dir', folder, ...PORTS, ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  children.push(child);
  const printed: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', value = ''] = line.split(/\s+/);
    printed[name] = value;
    if (name === (isFirst ? 'token' : 'importer')) break;
  }
  return { child, printed };
}

async function stop({ child }: Started): Promise<number | null> {
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

async function ask(
  url: string,
  token: string,
  path: string,
  form?: Record<string, string>,
): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    headers: { 'X-StorageApi-Token': token },
    ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
  });
  const type = response.headers.get('content-type');
  return type === 'application/json' ? await response.json() : await response.text();
}

/** Runs the command in this process, as a start of another takes seconds. @throws {Error} with what it said */
async function gex(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await gexHere(...args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

test(
  'the first start prints a token, SIGTERM ends in order, and a backup unpacked elsewhere is the same service',
  { tags: 'thorough' },
  async () => {
    const folder = join(dir, 'storage');
    const first = await serve(folder, true, '--s3-public-url', 'https://s3.example.com/');
    const { api = '', token = '' } = first.printed;
    expect(await ask(api, token, '/health')).toEqual({ status: 'ok' });
    await ask(api, token, '/v2/storage/buckets', { name: 'main' });
    await ask(api, token, '/v2/storage/buckets/in.c-main/tables', { name: 't', dataString: 'id\n1\n' });
    const file = await ask(api, token, '/v2/storage/files/prepare', { name: 'x' });
    expect(file).toMatchObject({
      url: expect.stringMatching(/^https:\/\/s3\.example\.com\/files\//) as unknown,
    });

    await expect(gex('serve', '--dir', folder, ...PORTS)).rejects.toThrow(`process ${first.child.pid} on`);
    const further = (await gex('serve', '--dir', folder, '--new-token')).trim();
    expect(await ask(api, further, '/v2/storage/tokens/verify')).toMatchObject({ isMasterToken: true });
    expect(await stop(first)).toBe(0);

    await gex('serve', '--dir', folder, '--backup', join(dir, 'backup.tar'));
    const copy = join(dir, 'copy');
    await mkdir(copy);
    execFileSync('tar', ['-xf', join(dir, 'backup.tar'), '-C', copy]);
    const second = await serve(copy, false);
    expect(second.printed).not.toHaveProperty('token');
    const preview = '/v2/storage/tables/in.c-main.t/data-preview';
    expect(await ask(second.printed['api'] ?? '', token, preview)).toBe('"id"\n"1"\n');
    expect(await stop(second)).toBe(0);
  },
);

test.each([
  [['--port', '99999'], 'a port from 0 to 65535'],
  [['--public-url', 'example'], 'is an address'],
  [['--s3-public-url', 'https://example.com/s3'], 'cannot have a path'],
])('%j is refused with a way out', async (options, message) => {
  await expect(gex('serve', '--dir', join(dir, 'x'), ...options)).rejects.toThrow(message);
});

test('a data folder, a file, or what is no storage yet is refused and stays as it is', async () => {
  const data = join(dir, 'data');
  await mkdir(data);
  await writeFile(join(data, 'config.json'), '{}');
  await expect(gex('serve', '--dir', data, ...PORTS)).rejects.toThrow(
    'it holds config.json, and no meta.sqlite',
  );
  await expect(gex('serve', '--dir', join(data, 'config.json'), ...PORTS)).rejects.toThrow('is a file');
  const nowhere = join(dir, 'nowhere');
  for (const option of [['--new-token'], ['--backup', join(dir, 'x.tar')]])
    await expect(gex('serve', '--dir', nowhere, ...option)).rejects.toThrow('is not there');
  expect(await readdir(data)).toEqual(['config.json']);
  expect(await readdir(dir)).not.toContain('nowhere');
});

test('a host that is none, and a backup that cannot be written, are told as what they are', async () => {
  const folder = join(dir, 'hosts');
  await expect(gex('serve', '--dir', folder, ...PORTS, '--host', 'no..host')).rejects.toThrow(
    'There is no address for the host “no..host”.',
  );
  await expect(gex('serve', '--dir', folder, '--backup', join(dir, 'none', 'x.tar'))).rejects.toThrow(
    'x.tar” could not be written: ENOENT',
  );
});

test('a folder that the file system refuses is named, with the reason', async () => {
  await writeFile(join(dir, 'file'), '');
  const folder = join(dir, 'file', 'storage');
  await expect(gex('serve', '--dir', folder, ...PORTS)).rejects.toThrow(
    `The storage folder cannot be used: a part of its path is a file. (${folder})`,
  );
});
