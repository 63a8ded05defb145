// @module-tag thorough
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { StorageClient } from '../../src/storage/client/index.ts';

// There may be no Docker here: what the services of docker/compose.yaml run is run as it stands there, by the entrypoint
// of the image, over other ports and folders.

const root = fileURLToPath(new URL('../..', import.meta.url));
const work = mkdtempSync(path.join(os.tmpdir(), 'gex-compose-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));
/** Encrypted by the service, and decrypted by the run. */
const PASSWORD = 'open sesame';

interface ComposeService {
  readonly image: string;
  readonly build: string;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly network_mode?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface Compose {
  readonly services: Readonly<Record<'component' | 'extractor' | 'storage', ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const file = path.join(root, 'docker/compose.yaml');
const compose = parse(readFileSync(file, 'utf8'), { merge: true }) as Compose; // our own file
const { storage, extractor, component } = compose.services;

describe('docker/compose.yaml', () => {
  test('builds one image, from the folder of the Dockerfile', () => {
    for (const { image, build } of [storage, extractor, component]) {
      expect(image).toBe('generic-extractor');
      expect(existsSync(path.join(path.dirname(file), build, 'Dockerfile'))).toBe(true);
    }
  });

  test('has every named volume that is used, and no other', () => {
    const used = [storage, extractor, component]
      .flatMap(({ volumes }) => volumes.map((volume) => volume.replace(/:\/.*$/, '')))
      .filter((name) => /^\w+$/.test(name));
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
    expect(component.volumes).toContain('${DATA:-./data}:/data');
  });

  test('opens the ports of the addresses that the service gives, on this machine alone', () => {
    const ports = [8080, 8081, 8082];
    expect(storage.ports).toEqual(ports.map((port) => `127.0.0.1:${port}:${port}`));
    const exposed = /^EXPOSE (.*)$/m.exec(readFileSync(path.join(root, 'Dockerfile'), 'utf8'))?.[1];
    expect(exposed?.split(' ').map(Number)).toEqual(ports);
  });

  test('runs begin when the service is in order, and reach it under the address that the host knows', () => {
    for (const { network_mode, depends_on, environment } of [extractor, component]) {
      expect({ network_mode, depends_on }).toEqual({
        network_mode: 'service:storage',
        depends_on: { storage: { condition: 'service_healthy' } },
      });
      expect(environment).toHaveProperty('KBC_TOKEN', null);
    }
  });

  test('the commands work together: a configuration of the service is run, and its tables are loaded', async () => {
    const api = await startApi();
    const ports = await freePorts();
    const dir = folder('storage');
    const serve = [
      ...commandOf(storage, ports).map((word) => word.replace('/data', dir)),
      ...['port', 's3-port', 'importer-port'].map((name, i) => `--${name}=${ports[i]}`),
    ];
    const service = start('/app/docker/entrypoint.sh', serve, { cwd: work });
    try {
      const token = await service.printed(/^token +(\S+)$/m);
      const [, script = '', address = ''] = storage.healthcheck?.test ?? [];
      const health = start(script, [withPorts(address, ports)], { cwd: work });
      expect(await health.ended).toBe(0);

      const url = `http://127.0.0.1:${ports[0]}`;
      const client = new StorageClient({ url, token });
      const authentication = { type: 'bearer', '#token': PASSWORD };
      const config = { outputBucket: 'workshop', jobs: [{ endpoint: 'bikes' }] };
      await client.configurations('ex-generic-v2').create({
        configurationId: 'bikes',
        name: 'Bikes',
        configuration: { parameters: { api: { baseUrl: api, authentication }, config } },
      });
      const args = commandOf(extractor, ports).map((word) => word.replace('${CONFIG:-main}', 'bikes'));
      expect(extractor.volumes).toContain('storage:/storage:ro');
      const key = extractor.environment?.['GEX_ENCRYPTION_KEY_FILE']?.replace('/storage', dir) ?? '';
      const env = { KBC_TOKEN: token, GEX_ENCRYPTION_KEY_FILE: key };
      const run = start('/app/docker/entrypoint.sh', args, { cwd: folder('runs'), env });
      expect(await run.ended, run.output()).toBe(0);
      expect(existsSync(path.join(work, 'runs/runs/ex-generic-v2/bikes/out/push.json'))).toBe(true);
      expect(await text(await client.tables.read('in.c-workshop.bikes'))).toBe('"id"\n"1"\n"2"\n');
      client.close();
    } finally {
      service.process.kill('SIGTERM');
    }
    expect(await service.ended).toBe(0);
  });
});

function commandOf({ command = [] }: ComposeService, ports: readonly number[]): string[] {
  return command.map((word) => withPorts(word, ports));
}

/** The ports of the file may be taken here. */
function withPorts(word: string, ports: readonly number[]): string {
  return word.replaceAll(/\b808([012])\b/g, (_, i: string) => String(ports[Number(i)]));
}

function folder(name: string): string {
  const at = path.join(work, name);
  mkdirSync(at, { recursive: true });
  return at;
}

async function startApi(): Promise<string> {
  const server = http.createServer(({ headers }, response) => {
    response.statusCode = headers.authorization === `Bearer ${PASSWORD}` ? 200 : 401;
    response.setHeader('content-type', 'application/json').end('[{"id":1},{"id":2}]');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server)}/`;
}

/** Three ports that nobody listens on at the moment. */
async function freePorts(): Promise<number[]> {
  const servers = await Promise.all(
    [0, 1, 2].map(async () => {
      const server = net.createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map(portOf);
  for (const server of servers) await once(server.close(), 'close');
  return ports;
}

function portOf(server: net.Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
  /** The first group of what it prints. */
  printed(pattern: RegExp): Promise<string>;
}

/** A script of the image, as it is in the repository. */
function start(
  script: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Started {
  const at = path.join(root, script.replace(/^\/app\//, ''));
  expect(statSync(at).mode & 0o111, script).toBe(0o111);
  const child = spawn(at, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null); // as documented for the event
  return {
    process: child,
    ended,
    output: () => output,
    printed: async (pattern) =>
      await new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(output)?.[1];
          if (found !== undefined) resolve(found);
        };
        child.stdout.on('data', look);
        void ended.then(() => reject(new Error(`It ended: ${output}`)));
      }),
  };
}
