// @module-tag thorough
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService } from '../service/harness.ts';

// The image cannot be built where there is no Docker; what it runs can be: the same scripts, over the same files.

const root = fileURLToPath(new URL('../..', import.meta.url));
const work = mkdtempSync(path.join(os.tmpdir(), 'gex-docker-'));
let folders = 0;

const server = http.createServer((request, response) => {
  if (request.url === '/slow') return; // until the connection is closed
  response.setHeader('content-type', 'application/json');
  response.end(request.url === '/bikes' ? '[{"id":1,"name":"Gravel"},{"id":2,"name":"City"}]' : '{');
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(work, { recursive: true, force: true });
});

describe('the entrypoint', () => {
  test('runs the configuration of the data folder and ends with 0', async () => {
    const data = dataFolder('bikes');
    const { code, stdout, stderr } = await entrypoint(data);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain('finished successfully');
    expect(readFileSync(path.join(data, 'out/tables/workshop.bikes'), 'utf8')).toBe(
      '"id","name"\n"1","Gravel"\n"2","City"\n',
    );
    const manifest = readFileSync(path.join(data, 'out/tables/workshop.bikes.manifest'), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ destination: 'in.c-workshop.bikes' });
    expect(existsSync(path.join(data, 'out/state.json'))).toBe(true);
  });

  test('writes files that other users may read', async () => {
    const data = dataFolder('bikes');
    await entrypoint(data);
    const entries = readdirSync(path.join(data, 'out'), { recursive: true, withFileTypes: true });
    const modes = entries.map((entry) => ({
      isFolder: entry.isDirectory(),
      mode: (statSync(path.join(entry.parentPath, entry.name)).mode & 0o777).toString(8),
    }));
    expect(modes).toHaveLength(5);
    for (const { isFolder, mode } of modes) expect(mode).toBe(isFolder ? '755' : '644');
  });

  test('ends with 1 for what the user can mend, with that alone on stderr and no table', async () => {
    const data = dataFolder('broken');
    const { code, stdout, stderr } = await entrypoint(data);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The response is not JSON/);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout).toContain('ERROR: The response is not JSON');
    expect(tablesOf(data)).toEqual([]);
  });

  test('ends with 2 where the platform gave no configuration', async () => {
    const data = emptyFolder();
    const { code, stderr } = await entrypoint(data);
    expect(code).toBe(2);
    expect(stderr).toContain('config.json');
    expect(tablesOf(data)).toEqual([]);
  });

  test('passes a signal on, and leaves no table behind', async () => {
    const data = dataFolder('slow');
    const asked = once(server, 'request');
    const child = start('docker/entrypoint.sh', [], data);
    await asked;
    child.process.kill('SIGTERM');
    expect((await child.finished).code).not.toBe(0);
    expect(tablesOf(data)).toEqual([]);
  });

  test('with arguments is the command', async () => {
    const { version } = packageJson();
    const { code, stdout } = await entrypoint(emptyFolder(), ['--version']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${version}\n` });
  });

  test('takes the token of the storage from a file, such as a secret', async () => {
    const service = await startService();
    try {
      const file = path.join(emptyFolder(), 'token');
      writeFileSync(file, `${service.token}\n`);
      const list = ['storage', 'tables', 'list', `--storage=${service.addresses.url}`];
      const { code, stdout } = await entrypoint(work, list, { KBC_TOKEN_FILE: file });
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'There are no tables.\n' });
      const missing = path.join(work, 'no-secret');
      const refused = await entrypoint(work, list, { KBC_TOKEN_FILE: missing });
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(`The file ${missing} of KBC_TOKEN_FILE cannot be read`);
    } finally {
      await service.stop();
    }
  });
});

describe('the health check', () => {
  test('is content when the command starts and the data folder can be used', async () => {
    expect(await start('docker/health.sh', [], dataFolder('bikes')).finished).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('says when there is no data folder', async () => {
    const { code, stderr } = await start('docker/health.sh', [], path.join(work, 'nowhere')).finished;
    expect(code).toBe(1);
    expect(stderr).toContain(path.join(work, 'nowhere'));
  });

  test('with an address is content when the service there answers', async () => {
    const service = await startService();
    const address = `${service.addresses.url}/health`;
    expect(await health(address)).toEqual({ code: 0, stdout: '', stderr: '' });
    const wrong = await health(`${service.addresses.url}/nothing`);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('it answers with status 404');
    await service.stop();
    const gone = await health(address);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain(`${address} is not in order: connect ECONNREFUSED`);
  });
});

describe('the Dockerfile', () => {
  const lines = readFileSync(path.join(root, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ').split('\n');
  const instructions = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1).trim());
  const copies = instructions('COPY').map((line) => line.split(/\s+/));
  const fromHere = copies
    .filter(([first]) => first?.startsWith('--from=') === false)
    .flatMap((words) => words.slice(0, -1));

  test('copies only what is there, and what is not kept from the build', () => {
    const allowed = readFileSync(path.join(root, '.dockerignore'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(fromHere.length).toBeGreaterThan(5);
    for (const file of fromHere) {
      expect(existsSync(path.join(root, file)), file).toBe(true);
      expect(allowed).toContain(file.replace(/^\.\//, '').split('/')[0]);
    }
  });

  test('copies all that the command and the library need at run time', () => {
    const final = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM '))).join('\n');
    for (const need of ['node_modules', 'dist', 'package.json', 'bin', 'schemas', 'docker/entrypoint.sh'])
      expect(final).toContain(need);
  });

  test('runs as a user without privileges, over the volume /data', () => {
    expect(instructions('USER')).toEqual(['node']);
    expect(instructions('VOLUME')).toEqual(['/data']);
    expect(lines.findIndex((line) => line.startsWith('USER '))).toBeLessThan(
      lines.findIndex((line) => line.startsWith('ENTRYPOINT ')),
    );
  });

  test('starts scripts that are there and may be run', () => {
    for (const instruction of ['ENTRYPOINT', 'HEALTHCHECK']) {
      const script = /\["\/app\/([^"]+)"\]/.exec(instructions(instruction)[0] ?? '')?.[1] ?? '';
      expect(fromHere).toContain(script);
      expect(statSync(path.join(root, script)).mode & 0o111, script).toBe(0o111);
    }
  });

  test('has the version and the runtime of the package', () => {
    const { version, devDependencies } = packageJson();
    expect(lines.join('\n')).toContain(`image.version="${version}"`);
    const [major] = devDependencies.node.split('.');
    for (const image of instructions('FROM'))
      expect(image).toMatch(new RegExp(`^node:${major}-slim( AS \\w+)?$`));
  });
});

function packageJson(): { version: string; devDependencies: { node: string } } {
  // our own file
  return JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as ReturnType<typeof packageJson>;
}

function emptyFolder(): string {
  const folder = path.join(work, String(folders++));
  mkdirSync(folder);
  return folder;
}

/** A data folder with one job, for this endpoint of the API. */
function dataFolder(endpoint: string): string {
  const folder = emptyFolder();
  const { port } = server.address() as AddressInfo; // a TCP server has an address of this kind
  const api = { baseUrl: `http://127.0.0.1:${port}/` };
  const config = { outputBucket: 'workshop', jobs: [{ endpoint }] };
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ parameters: { api, config } }));
  return folder;
}

function tablesOf(data: string): string[] {
  const folder = path.join(data, 'out/tables');
  return existsSync(folder) ? readdirSync(folder) : [];
}

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function entrypoint(
  data: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return start('docker/entrypoint.sh', args, data, env).finished;
}

/** Runs the health check on a service. */
function health(address: string): Promise<Finished> {
  return start('docker/health.sh', [address], work).finished;
}

function start(
  script: string,
  args: readonly string[],
  data: string,
  env: Readonly<Record<string, string>> = {},
) {
  const child = spawn(path.join(root, script), args, {
    env: { ...process.env, KBC_DATADIR: data, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  const finished = once(child, 'close').then(([code]): Finished => ({
    code: code as number | null,
    ...output,
  })); // as documented for the event
  return { process: child, finished };
}
