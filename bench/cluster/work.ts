import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { encodeExact, objectOf, parseExact, type Json } from '../../src/lib/json/index.ts';
import { bytesBody, StorageError, type StorageClient } from '../../src/storage/client/index.ts';
import type { Import } from './recovery.ts';

const COMPONENT = 'ex-generic-v2';
const BUCKET = 'in.c-kill';
const BATCH_ROWS = 2000;
const RUN_PAGES = 60;
const RUN_ROWS = 50;
/** Configurations that are run, one after the other. */
const SOURCES = ['one', 'two', 'three'];
/** Tables that rows are imported into, in turn. */
const TABLES = ['a', 'b', 'c', 'd'];

/** Changes that clients know to be done, and those that they requested without getting an answer. */
export interface Known {
  /** Values of the counted configuration by the version that holds them. */
  readonly versions: Map<number, number>;
  readonly files: Map<number, string>;
  /** Batches whose import ended well, by table. */
  readonly batches: Map<string, Set<number>>;
  /** Runs that ended well, by configuration. */
  readonly runs: Map<string, number>;
  /** Configurations that are being run. */
  readonly running: Set<string>;
  /** All batches that were asked for. */
  asked: number;
  counted: number;
  readonly imports: Import[];
  /** Wrong refusals that clients got in the end. */
  readonly refused: string[];
}

export function nothingKnown(): Known {
  return {
    versions: new Map(),
    files: new Map(),
    batches: new Map(TABLES.map((name) => [name, new Set<number>()])),
    runs: new Map(SOURCES.map((name) => [name, 0])),
    running: new Set(),
    asked: 0,
    counted: 0,
    imports: [],
    refused: [],
  };
}

/** @param api address of what {@link startPages} serves */
export async function prepare(client: StorageClient, api: string): Promise<void> {
  for (const configurationId of SOURCES)
    await client.configurations(COMPONENT).create({
      name: configurationId,
      configurationId,
      configuration: parseExact(
        JSON.stringify({
          parameters: {
            api: { baseUrl: api, pagination: { method: 'pagenum' } },
            config: { incrementalOutput: true, jobs: [{ endpoint: 'rows', dataType: 'rows' }] },
          },
        }),
      ),
    });
  await client
    .configurations(COMPONENT)
    .create({ name: 'Counted', configurationId: 'counted', configuration: objectOf([['n', 0]]) });
  await client.buckets.create({ name: 'kill', stage: 'in' });
  for (const name of TABLES) await client.tables.define(BUCKET, { name, columns: ['batch', 'n'] });
}

export type Deed = (client: StorageClient, known: Known) => Promise<void>;

/** Repeats a deed until it is told to end; what cannot be done now is tried again as a person would. */
export async function repeat(
  deed: Deed,
  client: StorageClient,
  known: Known,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await deed(client, known);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (!isPassing(error)) known.refused.push(`${error.code}: ${error.message}`);
      await sleep(200);
    }
  }
}

/** The service is away for longer than the client waits by itself, or it cannot be known whether it did what it was asked. */
function isPassing({ code }: StorageError): boolean {
  return ['storage.unreachable', 'storage.failed', 'storage.unsure', 'storage.transferFailed'].includes(code);
}

export const DEEDS = {
  async update(client, known) {
    const n = ++known.counted;
    const { version } = await client
      .configurations(COMPONENT)
      .update('counted', { configuration: objectOf([['n', n]]) });
    if (known.versions.has(version)) known.refused.push(`version ${version} was given twice`);
    known.versions.set(version, n);
  },
  async upload(client, known) {
    const content = `file ${known.files.size} ${'x'.repeat(200_000)}`;
    const { id } = await client.files.upload(bytesBody(Buffer.from(content)), { name: 'kill.txt' });
    known.files.set(id, content);
  },
  async import(client, known) {
    const batch = ++known.asked;
    const table = TABLES[batch % TABLES.length] ?? '';
    const rows = Array.from({ length: BATCH_ROWS }, (_, n) => `${batch},${n}\n`).join('');
    const one: Import = { asked: performance.now() };
    known.imports.push(one);
    try {
      const { id } = await client.files.upload(bytesBody(Buffer.from(`batch,n\n${rows}`)), {
        name: 'rows.csv',
      });
      const job = await client.tables.startLoad(`${BUCKET}.${table}`, { dataFileId: id, incremental: true });
      one.given = performance.now();
      one.job = job.id;
      await client.jobs.wait(job);
      known.batches.get(table)?.add(batch);
    } catch (error) {
      one.hasFailed = true;
      throw error;
    } finally {
      one.ended = performance.now();
    }
  },
  async run(client, known) {
    const configuration = SOURCES.find((name) => !known.running.has(name));
    if (configuration === undefined) return await sleep(100);
    known.running.add(configuration);
    const key = `run-${++known.asked}`;
    let id: string | undefined;
    // The client repeats its requests until it knows how the run ended, however often the service fails.
    for (;;) {
      try {
        id ??= (await client.runs.start({ component: COMPONENT, configuration }, { key })).id;
        const { status, error } = await client.runs.detail(id);
        if (status === 'waiting' || status === 'processing') await sleep(200);
        else {
          if (status === 'success') known.runs.set(configuration, (known.runs.get(configuration) ?? 0) + 1);
          else known.refused.push(`a run of “${configuration}” ended: ${error?.code} ${error?.message}`);
          known.running.delete(configuration);
          return;
        }
      } catch (error) {
        if (!(error instanceof StorageError) || !isPassing(error)) throw error;
        await sleep(200);
      }
    }
  },
} satisfies Record<string, Deed>;

/** An API of some pages, each of which takes a while. */
export async function startPages(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(({ url = '' }, response) => {
    const page = Number(new URL(url, 'http://localhost').searchParams.get('page'));
    const rows = Array.from({ length: page > RUN_PAGES ? 0 : RUN_ROWS }, (_, n) => ({ id: `${page}-${n}` }));
    setTimeout(() => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(rows));
    }, 50);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns the acknowledged changes that are lost, and those that are doubled or incomplete. */
export async function check(client: StorageClient, known: Known): Promise<string[]> {
  const wrong = [...new Set(known.refused)];
  const configurations = client.configurations(COMPONENT);
  const { version: newest } = await configurations.detail('counted');
  for (const [version, n] of known.versions) {
    if (version > newest) wrong.push(`version ${version} is gone`);
    else {
      const { configuration } = await configurations.version('counted', version);
      const found = encodeExact(configuration as Json); // the client decodes it so
      if (found !== `{"n":${n}}`) wrong.push(`version ${version} has ${found} and not ${n}`);
    }
  }
  const numbers = (await configurations.versions('counted', { limit: 1_000_000 }))
    .map(({ version }) => version)
    .toSorted((a, b) => a - b);
  numbers.forEach((version, at) => {
    if (version !== at + 1) wrong.push(`version ${at + 1} is missing`);
  });
  for (const [id, content] of known.files) {
    const chunks: Buffer[] = [];
    for await (const chunk of await client.files.read(id)) chunks.push(Buffer.from(chunk as Uint8Array));
    if (Buffer.concat(chunks).toString() !== content) wrong.push(`the bytes of file ${id}`);
  }
  for (const [table, batches] of known.batches) {
    const counts = new Map<number, number>();
    for await (const line of createInterface({ input: await client.tables.read(`${BUCKET}.${table}`) })) {
      const batch = /^"?(\d+)/.exec(line)?.[1];
      if (batch !== undefined) counts.set(Number(batch), (counts.get(Number(batch)) ?? 0) + 1);
    }
    for (const batch of batches)
      if (counts.get(batch) !== BATCH_ROWS)
        wrong.push(`${counts.get(batch) ?? 0} of ${BATCH_ROWS} rows of batch ${batch}`);
    for (const [batch, count] of counts)
      if (count !== BATCH_ROWS) wrong.push(`batch ${batch} has ${count} rows`);
  }
  for (const [name, runs] of known.runs) {
    const counts = new Map<string, number>();
    const table = `in.c-${COMPONENT}-${name}.rows`;
    if (runs === 0) continue;
    for await (const line of createInterface({ input: await client.tables.read(table) }))
      counts.set(line, (counts.get(line) ?? 0) + 1);
    counts.delete('"id"');
    if (counts.size !== RUN_PAGES * RUN_ROWS)
      wrong.push(`${counts.size} of ${RUN_PAGES * RUN_ROWS} rows of “${name}”`);
    const others = [...counts.values()].filter((count) => count !== runs);
    if (others.length > 0)
      wrong.push(`${others.length} rows of “${name}” are there ${others[0]} times after ${runs} runs`);
  }
  return [...new Set(wrong)];
}
