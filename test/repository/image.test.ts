import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
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
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';

// The image as it was built: TEST_IMAGE names a container of it that buildah runs without a daemon (scripts/image.sh).

const CONTAINER = process.env['TEST_IMAGE'];
const root = fileURLToPath(new URL('../..', import.meta.url));
const USER = 1000;
const ENTRYPOINT = '/app/docker/entrypoint.sh';
const work = mkdtempSync(path.join(os.tmpdir(), 'gex-image-'));
let folders = 0;

const api = http.createServer(({ url }, response) => {
  if (url === '/slow') return; // until the connection is closed
  response.setHeader('content-type', 'application/json');
  response.end(url === '/bikes' ? '[{"id":1,"name":"Gravel"},{"id":2,"name":"City"}]' : '{');
});
beforeAll(async () => {
  chmodSync(work, 0o755);
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
});
afterAll(() => {
  api.close();
  api.closeAllConnections();
  rmSync(work, { recursive: true, force: true });
});

describe.skipIf(CONTAINER === undefined)('the image', () => {
  test('has the pinned runtime, the command, and nothing that only its build needs', async () => {
    expect(await container(['id', '-u'])).toMatchObject({ code: 0, stdout: `${USER}\n` });
    const { version, devDependencies } = packageJson();
    expect((await container([ENTRYPOINT, '--version'])).stdout).toBe(`${version}\n`);
    const runtime = (await container(['node', '--version'])).stdout;
    expect(runtime.split('.')[0]).toBe(`v${devDependencies['node']?.split('.')[0]}`);
    const listed = (await container(['ls', '/app', '/app/node_modules'])).stdout.split(/\s+/);
    expect(listed).toEqual(expect.arrayContaining(['dist', 'schemas', 'bin', 'fastify']));
    for (const name of ['src', 'test', 'fixtures', 'console', 'typescript', 'vitest', 'vite'])
      expect(listed).not.toContain(name);
  });

  test('runs the component as a user without privileges', async () => {
    const data = dataFolder('bikes');
    const { code, stdout, stderr } = await container([ENTRYPOINT], { data });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain('finished successfully');
    const table = path.join(data, 'out/tables/workshop.bikes');
    expect(readFileSync(table, 'utf8')).toBe('"id","name"\n"1","Gravel"\n"2","City"\n');
    expect(statSync(table)).toMatchObject({ uid: USER });
    expect(existsSync(path.join(data, 'out/state.json'))).toBe(true);
  });

  test('ends with 1 for a mistake of the user and with 2 without a configuration', async () => {
    const broken = await refusal([ENTRYPOINT], { data: dataFolder('broken') });
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(/^The response is not JSON/);
    const wrong = emptyFolder();
    writeFileSync(path.join(wrong, 'config.json'), '{"parameters":{"api":{},"config":{"jobs":[]}}}');
    const refused = await refusal([ENTRYPOINT], { data: wrong });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('baseUrl');
    const none = await refusal([ENTRYPOINT], { data: emptyFolder() });
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('config.json');
  });

  test('leaves no table behind when it is told to stop', async () => {
    const data = dataFolder('slow');
    const asked = once(api, 'request');
    const run = start([ENTRYPOINT], { data });
    await asked;
    process.kill(run.inner('component.js'), 'SIGTERM');
    expect((await run.ended).code).not.toBe(0);
    const tables = path.join(data, 'out/tables');
    expect(existsSync(tables) ? readdirSync(tables) : []).toEqual([]);
  });

  test('serves, is found in order, takes the tables of a run, and stops when it is told to', async () => {
    const dir = emptyFolder();
    const serve = ['serve', '--dir', '/mnt/data', '--port', '0', '--s3-port', '0', '--importer-port', '0'];
    const service = start([ENTRYPOINT, ...serve], { data: dir });
    const printed = await vi.waitUntil(
      () => /(?<url>http:\/\/127\.0\.0\.1:\d+)[\s\S]*^token +(?<token>\S+)$/m.exec(service.output())?.groups,
      { timeout: 40_000 },
    );
    const { url = '', token = '' } = printed;
    expect(await container(['/app/docker/health.sh', `${url}/health`])).toMatchObject({ code: 0 });
    const secret = path.join(emptyFolder(), 'token');
    writeFileSync(secret, `${token}\n`);
    const data = dataFolder('bikes');
    const run = await container([ENTRYPOINT, 'run', '--data', '/mnt/data', '--storage', url], {
      data,
      secrets: path.dirname(secret),
      env: { KBC_TOKEN_FILE: '/mnt/secrets/token' },
    });
    expect(run.code, run.stderr).toBe(0);
    const list = await container([ENTRYPOINT, 'storage', 'tables', 'list', '--storage', url], {
      secrets: path.dirname(secret),
      env: { KBC_TOKEN_FILE: '/mnt/secrets/token' },
    });
    expect(list.stdout).toContain('in.c-workshop.bikes');
    const missing = await container([ENTRYPOINT, 'storage', 'tables', 'list', '--storage', url], {
      env: { KBC_TOKEN_FILE: '/mnt/secrets/nothing' },
    });
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toContain('KBC_TOKEN_FILE cannot be read');
    process.kill(service.inner('gex.js'), 'SIGTERM');
    expect((await service.ended).code).toBe(0);
    const gone = await container(['/app/docker/health.sh', `${url}/health`]);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain('is not in order');
  });

  test('reads the secrets of a service on several machines from files, and shows none', async () => {
    const folder = emptyFolder();
    const secrets = { db: 'postgres://gex:swordfish@127.0.0.1:1/gex', access: 'anchovy', secret: 'mackerel' };
    for (const [name, text] of Object.entries(secrets)) writeFileSync(path.join(folder, name), text);
    const serve = ['serve', '--role=api', '--s3=http://127.0.0.1:2', '--s3-bucket=files'];
    const { code, stdout, stderr } = await container(
      [ENTRYPOINT, ...serve, '--s3-role-arn=arn:aws:iam:::role/files'],
      {
        secrets: folder,
        env: {
          GEX_DATABASE_URL_FILE: '/mnt/secrets/db',
          GEX_S3_ACCESS_KEY_FILE: '/mnt/secrets/access',
          GEX_S3_SECRET_KEY_FILE: '/mnt/secrets/secret',
        },
      },
    );
    expect(code).toBe(1);
    expect(stderr).toContain('The bucket “files” of the object store');
    expect(stdout + stderr).not.toMatch(/swordfish|anchovy|mackerel/);
  });

  test('knows every command and option of the compose files', async () => {
    const lines = ['compose.yaml', 'several-machines.yaml'].flatMap((name) => {
      // our own files
      const { services } = parse(readFileSync(path.join(root, 'docker', name), 'utf8'), { merge: true }) as {
        services: Record<string, { image: string; command?: string[] }>;
      };
      return Object.values(services)
        .filter(({ image, command }) => image === 'generic-extractor' && command !== undefined)
        .map(({ command = [] }) => command);
    });
    expect(lines.length).toBeGreaterThan(4);
    const help = new Map<string, string>();
    for (const [name = '', ...words] of lines) {
      if (!help.has(name)) help.set(name, (await container([ENTRYPOINT, name, '--help'])).stdout);
      for (const word of words)
        expect(help.get(name), `${name} ${word}`).toMatch(new RegExp(String.raw`${word.split('=')[0]}\b`));
    }
  });
});

interface Mounts {
  /** A folder that stands at /mnt/data, and is the data folder. */
  readonly data?: string;
  /** A folder that stands at /mnt/secrets. */
  readonly secrets?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function container(command: readonly string[], mounts: Mounts = {}): Promise<Ended> {
  return start(command, mounts).ended;
}

/** Runs a command that ends with a message; `buildah run` may end before it has handed on the last of it. */
async function refusal(command: readonly string[], mounts: Mounts): Promise<Ended> {
  return await vi.waitUntil(
    async () => {
      const ended = await container(command, mounts);
      return ended.stderr === '' ? undefined : ended;
    },
    { timeout: 60_000 },
  );
}

const RUN = '--storage-driver vfs run --isolation chroot --network host --user node'.split(' ');

function start(command: readonly string[], { data, secrets, env = {} }: Mounts) {
  const volumes = [
    ...(data === undefined ? [] : ['--env', 'KBC_DATADIR=/mnt/data', '--volume', `${data}:/mnt/data`]),
    ...(secrets === undefined ? [] : ['--volume', `${secrets}:/mnt/secrets`]),
    ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ];
  const child = spawn('buildah', [...RUN, ...volumes, CONTAINER ?? '', '--', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code]): Ended => ({
    code: code as number | null, // as the event is defined
    stdout,
    stderr: stderr.replaceAll(/^(?:subprocess exited .*|Error: exit status \d+|exit status \d+)\n/gm, ''),
  }));
  return {
    ended,
    output: () => stdout + stderr,
    /** The process in the container that runs this file: signals to buildah end it and are not passed on. */
    inner: (file: string): number => {
      const found = descendants(child.pid ?? 0).find((pid) =>
        readFileSync(`/proc/${pid}/cmdline`, 'utf8')
          .split('\0')
          .some((word) => word.endsWith(`/${file}`)),
      );
      if (found === undefined) throw new Error(`no process runs ${file}`);
      return found;
    },
  };
}

/** The processes below one that run a program of the container: the innermost first. */
function descendants(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [...children.flatMap((child) => descendants(child)), ...children];
}

function packageJson(): { version: string; devDependencies: Record<string, string> } {
  // our own file
  return JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as ReturnType<typeof packageJson>;
}

/** A folder of the user that the container runs as. */
function emptyFolder(): string {
  const folder = path.join(work, String(folders++));
  mkdirSync(folder);
  chownSync(folder, USER, USER);
  return folder;
}

/** A data folder with one job, for this endpoint of the API. */
function dataFolder(endpoint: string): string {
  const folder = emptyFolder();
  const { port } = api.address() as AddressInfo; // a TCP server has an address of this kind
  const parameters = {
    api: { baseUrl: `http://127.0.0.1:${port}/` },
    config: { outputBucket: 'workshop', jobs: [{ endpoint }] },
  };
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ parameters }));
  return folder;
}
