// Peak memory (resident set) and time of a run over one large answer.
//
//   node bench/formats.ts [--mb 300] [--formats json,encoded,csv,jsonl,xml,gzip]
//
// The API is a server on loopback in a process of its own, that makes the bytes while it sends them. “gzip” is a file of
// the same CSV, “encoded” the same page of JSON with a Content-Encoding. JSON has a limit of 1 GiB.
import { fork } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { measure, runArgs } from './support/processes.ts';

const { values: given } = parseArgs({
  options: {
    mb: { type: 'string', default: '300' },
    formats: { type: 'string', default: 'json,encoded,csv,jsonl,xml,gzip' },
    serve: { type: 'string' },
  },
});

const BLOCK_ROWS = 2000;

if (given.serve !== undefined) serve(given.serve, Number(given.mb) * 1e6);
else await takeAll();

/** Sends blocks of rows until there are as many bytes as are asked for. */
function serve(format: string, bytes: number): void {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', TYPES[format] ?? 'text/csv');
    if (format === 'encoded') response.setHeader('Content-Encoding', 'gzip');
    const body = Readable.from(bodyOf(format, bytes));
    if (format === 'gzip' || format === 'encoded') body.pipe(createGzip({ level: 1 })).pipe(response);
    else body.pipe(response);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' ? address?.port : 0);
  });
}

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  encoded: 'application/json',
  jsonl: 'application/x-ndjson',
  xml: 'application/xml',
};

function bodyOf(format: string, bytes: number): Iterable<Buffer> {
  if (format === 'json' || format === 'encoded') return json(bytes);
  if (format === 'jsonl') return blocks(bytes, jsonLine);
  return format === 'xml' ? xml(bytes) : csv(bytes);
}

function* json(bytes: number): Generator<Buffer> {
  yield Buffer.from('{"rows":[');
  yield* blocks(bytes, (id) => (id === 1 ? '' : ',') + jsonLine(id));
  yield Buffer.from(']}');
}

function* xml(bytes: number): Generator<Buffer> {
  yield Buffer.from('<rows>');
  yield* blocks(bytes, xmlLine);
  yield Buffer.from('</rows>');
}

function* csv(bytes: number): Generator<Buffer> {
  yield Buffer.from('id,name,email,amount,created,note\n');
  yield* blocks(bytes, csvLine);
}

function* blocks(bytes: number, line: (id: number) => string): Generator<Buffer> {
  let sent = 0;
  for (let id = 1; sent < bytes;) {
    let text = '';
    for (const end = id + BLOCK_ROWS; id < end; id++) text += line(id);
    const block = Buffer.from(text);
    sent += block.length;
    yield block;
  }
}

function csvLine(id: number): string {
  return `${id},Reader ${id % 9973},reader${id}@library.test,${(id % 100_000) / 100},2026-01-${String((id % 28) + 1).padStart(2, '0')}T10:00:00Z,"note ${id % 77}, with ""quotes"""\n`;
}

function jsonLine(id: number): string {
  return `{"id":${id},"name":"Reader ${id % 9973}","email":"reader${id}@library.test","amount":${(id % 100_000) / 100},"address":{"city":"City ${id % 977}","zip":"${10_000 + (id % 90_000)}"},"note":"note ${id % 77}"}\n`;
}

function xmlLine(id: number): string {
  return `<row id="${id}"><name>Reader ${id % 9973}</name><email>reader${id}@library.test</email><amount>${(id % 100_000) / 100}</amount><note>note ${id % 77}</note></row>\n`;
}

async function takeAll(): Promise<void> {
  const rows: string[][] = [];
  for (const format of given.formats.split(',')) {
    await withFolder(async (folder) => {
      const server = await started(format);
      try {
        const data = path.join(folder, 'data');
        mkdirSync(data, { recursive: true });
        const place = format === 'xml' ? { dataField: 'rows.row' } : {};
        const job = { endpoint: 'export', dataType: 'rows', ...place };
        const parameters = { api: { baseUrl: `http://127.0.0.1:${server.port}/` }, config: { jobs: [job] } };
        writeFileSync(path.join(data, 'config.json'), JSON.stringify({ parameters }));
        const done = await measure(runArgs(data), folder);
        const table = statSync(path.join(data, 'out', 'tables', 'rows')).size;
        rows.push([
          format,
          `${(table / 1e6).toFixed(0)} MB`,
          seconds(done.wallMs),
          `${done.peakMb.toFixed(0)} MB`,
          `${((Number(given.mb) * 1000) / done.wallMs).toFixed(0)} MB/s`,
        ]);
      } finally {
        server.stop();
      }
    });
  }
  printTable(`One answer of ${given.mb} MB`, ['', 'table', 'wall', 'peak', 'answer'], rows);
}

async function started(format: string): Promise<{ readonly port: number; stop(): void }> {
  const child = fork(fileURLToPath(import.meta.url), ['--serve', format, '--mb', given.mb]);
  const port = await new Promise<number>((resolve) =>
    child.once('message', (message) => resolve(Number(message))),
  );
  return { port, stop: () => child.kill() };
}
