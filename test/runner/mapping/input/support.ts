import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { MappingError } from '../../../../src/lib/errors.ts';
import { parseExact, type AnyObject } from '../../../../src/lib/json/index.ts';
import type { Log, LogFields } from '../../../../src/lib/log.ts';
import type { PullContext } from '../../../../src/runner/mapping/input/context.ts';
import { pullInputs } from '../../../../src/runner/mapping/input/pull.ts';
import type { Inputs } from '../../../../src/runner/mapping/mapping-types.ts';
import { bytesBody, StorageClient, type StorageClientOptions } from '../../../../src/storage/client/index.ts';
import { startService, type Running } from '../../../service/harness.ts';

/** A mapping as it would be written in a configuration. */
export interface InputMapping {
  readonly tables?: readonly object[];
  readonly files?: readonly object[];
}

export interface Storage {
  client(options?: Partial<StorageClientOptions>): StorageClient;
  /** Makes a table in a bucket of its own and gives its id. */
  table(csv: string, options?: TableOptions): Promise<string>;
  load(id: string, csv: string, incremental?: boolean): Promise<void>;
  /** Uploads a file and gives its id. */
  file(name: string, tags?: readonly string[], content?: string): Promise<number>;
  /** A row folder of its own. */
  folder(): Promise<string>;
  /** The clock of the service goes on. */
  wait(ms: number): void;
  /** A word that no other test uses. */
  unique(word: string): string;
}

export interface TableOptions {
  readonly client?: StorageClient;
  readonly bucket?: string;
  readonly primaryKey?: readonly string[];
}

/** The real service in one process, for all tests of a file. */
export function useStorage(): Storage {
  let running: Running;
  let waited = 0;
  let counter = 0;
  const made: string[] = [];
  const clients: StorageClient[] = [];
  const client = (options: Partial<StorageClientOptions> = {}): StorageClient => {
    const { token, service } = running;
    const made = new StorageClient({
      url: 'http://storage.invalid',
      token,
      fetch: service.fetch,
      ...options,
    });
    clients.push(made);
    return made;
  };
  const unique = (word: string): string => `${word}${++counter}`;
  beforeAll(async () => {
    running = await startService({ env: { ...systemEnv, now: () => systemEnv.now() + waited } });
  });
  afterAll(async () => {
    for (const each of clients) each.close();
    await running.stop();
    for (const folder of made) await rm(folder, { recursive: true, force: true });
  });
  return {
    client,
    unique,
    async table(csv, { client: by = client(), bucket = unique('main'), primaryKey = [] } = {}) {
      const bucketId = `in.c-${bucket}`;
      if ((await by.buckets.find(bucketId)) === undefined) await by.buckets.create({ name: bucket });
      const { id: dataFileId } = await by.files.upload(bytesBody(csv), { name: 'users.csv' });
      return (await by.tables.create(bucketId, { name: 'users', dataFileId, primaryKey })).id;
    },
    async load(id, csv, incremental = true) {
      const { id: dataFileId } = await client().files.upload(bytesBody(csv), { name: 'more.csv' });
      await client().tables.load(id, { dataFileId, incremental });
    },
    file: async (name, tags = [], content = name) =>
      (await client().files.upload(bytesBody(content), { name, tags })).id,
    async folder() {
      const folder = await mkdtemp(path.join(tmpdir(), 'input-'));
      made.push(folder);
      return folder;
    },
    wait(ms) {
      waited += ms;
    },
  };
}

export interface Line {
  readonly level: 'debug' | 'error' | 'info' | 'warn';
  readonly message: string;
  readonly fields: LogFields | undefined;
}

export function keptLog(): { log: Log; lines: Line[] } {
  const lines: Line[] = [];
  const at =
    (level: Line['level']) =>
    (message: string, fields?: LogFields): void => {
      lines.push({ level, message, fields });
    };
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
}

/** Pulls into a folder as the runner does it. */
export async function pull(
  client: StorageClient,
  folder: string,
  mapping: InputMapping,
  more: Partial<PullContext> & { readonly branch?: string; readonly production?: StorageClient } = {},
): Promise<Inputs> {
  const { branch, production, ...context } = more;
  return await pullInputs({
    connection: { client, production, address: 'the storage of a test', project: '1@2026', isLocal: false },
    origin: { component: 'ex-generic-v2', configuration: 'test', isStored: false, branch },
    mapping: parseExact(JSON.stringify(mapping)) as AnyObject, // it is written as an object
    env: systemEnv,
    log: keptLog().log,
    signal: new AbortController().signal,
    folder,
    state: undefined,
    ...context,
  });
}

/** Returns the error of a pull that is refused or fails. */
export async function failureOf(work: Promise<unknown>): Promise<MappingError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof MappingError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}

export function textIn(folder: string, name: string): string {
  return readFileSync(path.join(folder, 'in', name), 'utf8');
}

export function manifestIn(folder: string, name: string): unknown {
  return JSON.parse(textIn(folder, `${name}.manifest`));
}

export function isIn(folder: string, name: string): boolean {
  return existsSync(path.join(folder, 'in', name));
}
