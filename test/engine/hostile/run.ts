import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { systemEnv, type Env } from '../../../src/lib/env.ts';
import { extract } from '../../../src/engine/extract/extract.ts';
import { parseExact, type AnyObject } from '../../../src/lib/json/index.ts';
import type { Log } from '../../../src/lib/log.ts';
import { Secrets } from '../../../src/lib/secrets.ts';

/** Request to a server that answers as it likes. */
export interface Asked {
  readonly target: string;
  readonly params: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** From 1. */
  readonly count: number;
}

export interface Api {
  readonly url: string;
  readonly asked: readonly Asked[];
}

/** A real server on loopback that ends with the test. */
export async function startApi(answer: (response: ServerResponse, asked: Asked) => void): Promise<Api> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const target = request.url ?? '';
    const params = new URL(target, 'http://any').searchParams;
    const one = { target, params, headers: request.headers, count: asked.length + 1 };
    asked.push(one);
    request.resume();
    answer(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { url: `http://127.0.0.1:${port}/`, asked };
}

export function sendJson(response: ServerResponse, body: unknown): void {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(body));
}

export interface Ran {
  readonly error: unknown;
  /** Lines of the tables, manifests left out. Empty when nothing was published. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  readonly log: readonly string[];
}

/** Waiting takes no time. */
const impatient: Env = { ...systemEnv, sleep: async (_waitMs, signal) => signal?.throwIfAborted() };

/** One job, `rows`, over an API; `api` is merged into the `api` section. */
export async function run(
  url: string,
  api: object,
  {
    env = impatient,
    signal = new AbortController().signal,
    job = {},
  }: { env?: Env; signal?: AbortSignal; job?: object } = {},
): Promise<Ran> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-hostile-'));
  const configuration = {
    parameters: { api: { baseUrl: url, ...api }, config: { jobs: [{ endpoint: 'rows', ...job }] } },
  };
  const log: string[] = [];
  const write = (message: string): number => log.push(message);
  const lines: Log = { debug: write, info: write, warn: write, error: write };
  const out = path.join(folder, 'out');
  let error: unknown;
  try {
    await extract({
      configuration: parseExact(JSON.stringify(configuration)) as AnyObject, // an object by construction
      state: {},
      outFolder: out,
      workFolder: path.join(folder, 'work'),
      cacheFolder: path.join(folder, 'cache'),
      env,
      log: lines,
      debug: true,
      secrets: new Secrets(),
      signal,
    });
  } catch (caught) {
    error = caught;
  }
  const tables = path.join(out, 'tables');
  const names = existsSync(tables) ? readdirSync(tables).filter((name) => !name.endsWith('.manifest')) : [];
  const read = (name: string): string[] =>
    readFileSync(path.join(tables, name), 'utf8').trimEnd().split('\n').slice(1);
  const result = { error, tables: Object.fromEntries(names.map((name) => [name, read(name)])), log };
  rmSync(folder, { recursive: true });
  return result;
}
