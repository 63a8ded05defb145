import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { MappingError } from '../../../../src/lib/errors.ts';
import type { Env } from '../../../../src/lib/env.ts';
import type { Json } from '../../../../src/lib/json/index.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { openJournal, startJournal, type Journal } from '../../../../src/runner/mapping/journal.ts';
import type { MappingContext, Origin, Pushed } from '../../../../src/runner/mapping/mapping-types.ts';
import { pushOutputs } from '../../../../src/runner/mapping/output/push.ts';
import { StorageClient, type StorageClientOptions } from '../../../../src/storage/client/index.ts';
import { startService, type Running } from '../../../service/harness.ts';
import { quickEnv } from '../../../storage/client/support.ts';

export const ORIGIN: Origin = { component: 'ex-generic-v2', configuration: '42', isStored: false };

/** A service for all the tests of one file, with folders that go when they have run. */
export interface World {
  client(options?: Partial<StorageClientOptions>): StorageClient;
  /** Fetch function of its clients. */
  readonly fetch: typeof fetch;
  /** A new folder with what `out/` is to hold: names with their contents. */
  out(files?: Readonly<Record<string, string | Buffer>>): Promise<string>;
  /** Pushes it, going on with the journal that is there. */
  push(out: string, options?: PushOptions): Promise<Pushed>;
  /** The rows of a table, a thousand at most, with commas between the cells, sorted. */
  rows(table: string): Promise<string[]>;
  /** A bucket that no other test has; it is not made. */
  bucket(stage?: 'in' | 'out'): string;
  readonly logged: string[];
}

export interface PushOptions {
  readonly mapping?: Json;
  readonly client?: StorageClient;
  readonly origin?: Origin;
  readonly gzip?: boolean;
  readonly signal?: AbortSignal;
  readonly journal?: Journal;
  readonly env?: Env;
}

export function useWorld(): World {
  let running: Running | undefined;
  const folders: string[] = [];
  const clients: StorageClient[] = [];
  const logged: string[] = [];
  let count = 0;
  beforeAll(async () => {
    running = await startService();
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await running?.stop();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  });
  const log: Log = {
    debug() {},
    info: (message) => void logged.push(message),
    warn: (message) => void logged.push(`warning: ${message}`),
    error: (message) => void logged.push(`error: ${message}`),
  };
  const started = (): Running => {
    if (running === undefined) throw new Error('The service is not running.');
    return running;
  };
  const world: World = {
    logged,
    fetch: async (...given) => await started().service.fetch(...given),
    client(options = {}) {
      const { token } = started();
      const client = new StorageClient({
        url: 'http://storage.invalid',
        token,
        fetch: world.fetch,
        env: quickEnv().env,
        ...options,
      });
      clients.push(client);
      return client;
    },
    async out(files = {}) {
      const folder = await mkdtemp(path.join(tmpdir(), 'outputs-'));
      folders.push(folder);
      const out = path.join(folder, 'out');
      mkdirSync(out);
      writeAll(out, files);
      return out;
    },
    async push(out, options = {}) {
      const context = contextOf(options.client ?? world.client(), log, options);
      const journal = options.journal ?? openJournal(out) ?? startTestJournal(out);
      return await pushOutputs({ ...context, out, journal });
    },
    async rows(table) {
      const { rows } = await world.client().tables.preview(table, { limit: 1000 });
      return rows.map((cells) => cells.join(',')).toSorted();
    },
    bucket: (stage = 'in') => `${stage}.c-test${++count}`,
  };
  return world;
}

export function startTestJournal(out: string, origin: Origin = ORIGIN): Journal {
  return startJournal(out, { id: randomUUID(), target: { project: '1@now', address: 'a folder' }, origin });
}

export function writeAll(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** The error that the work ends with. */
export async function mappingError(work: Promise<unknown>): Promise<MappingError> {
  const error: unknown = await work.then(
    () => new Error('It did not fail.'),
    (reason: unknown) => reason,
  );
  if (error instanceof MappingError) return error;
  throw error;
}

function contextOf(client: StorageClient, log: Log, options: PushOptions): MappingContext {
  const { mapping = {}, origin = ORIGIN, gzip = false, signal = new AbortController().signal } = options;
  return {
    connection: { client, address: 'a folder', project: '1@now', isLocal: !gzip },
    origin,
    mapping: mapping as MappingContext['mapping'], // tests give objects
    env: options.env ?? quickEnv().env,
    log,
    signal,
  };
}
