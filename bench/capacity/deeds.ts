import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseExact } from '../../src/lib/json/index.ts';
import { bytesBody, type StorageClient } from '../../src/storage/client/index.ts';

export const COMPONENT = 'ex-generic-v2';
const BUCKET = 'in.c-capacity';
const ROWS = 50;

/** An API of any number of pages, each of 50 rows and after so many milliseconds. */
export async function startApi(latencyMs: number): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const pages = Number(pathname.slice(1));
    const page = Number(searchParams.get('page') ?? 1);
    const rows = Array.from({ length: ROWS }, (_, n) => ({ id: `${page}-${n}`, name: `row ${n}`, n }));
    const body = JSON.stringify({ rows, next: page < pages ? page + 1 : null });
    setTimeout(() => response.writeHead(200, { 'Content-Type': 'application/json' }).end(body), latencyMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, // it listens on a port
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Makes configurations that ask for so many pages each, with a table of their own. */
export async function configure(
  client: StorageClient,
  api: string,
  ids: readonly string[],
  pages: number,
): Promise<void> {
  for (const id of ids)
    await client.configurations(COMPONENT).create({
      configurationId: id,
      name: id,
      configuration: parseExact(
        JSON.stringify({
          parameters: {
            api: {
              baseUrl: api,
              pagination: { method: 'response.param', responseParam: 'next', queryParam: 'page' },
            },
            config: {
              incrementalOutput: true,
              jobs: [{ endpoint: String(pages), dataType: 'rows', dataField: 'rows', primaryKey: ['id'] }],
            },
          },
        }),
      ),
    });
}

/** Runs a configuration to its end, looking at it as rarely as a person would. */
export async function run(client: StorageClient, configuration: string): Promise<void> {
  const { id } = await client.runs.start({ component: COMPONENT, configuration });
  for (;;) {
    const { status, error } = await client.runs.detail(id);
    if (status === 'success') return;
    if (status !== 'waiting' && status !== 'processing')
      throw new Error(`The run of ${configuration} ended with ${status}: ${error?.message}`);
    await sleep(250);
  }
}

export async function makeTables(client: StorageClient, names: readonly string[]): Promise<void> {
  const columns = Array.from({ length: 10 }, (_, i) => `column_${i}`);
  await client.buckets.create({ name: 'capacity', stage: 'in' });
  for (const name of names) await client.tables.define(BUCKET, { name, columns, primaryKey: ['column_0'] });
}

/** Uploads so many rows and loads them into a table with a key. */
export async function load(client: StorageClient, table: string, rows: number): Promise<void> {
  const lines = Array.from({ length: rows }, (_, n) =>
    Array.from({ length: 10 }, (__, i) => (i === 0 ? `${n}` : `value ${n} of column ${i}`)).join(','),
  );
  const head = Array.from({ length: 10 }, (_, i) => `column_${i}`).join(',');
  const { id } = await client.files.upload(bytesBody(Buffer.from(`${head}\n${lines.join('\n')}\n`)), {
    name: 'rows.csv',
  });
  await client.tables.load(`${BUCKET}.${table}`, { dataFileId: id, incremental: true });
}
