// Writes beside the chunks what this runtime compiles of them in a plain run, so that no process has to do it again: see
// `bin/chunks.js`. Functions that are used by few runs are left out, as what is there is read by all.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const PAGES = 3;
/** Rows of every kind that is usual, so that what writes them is there. */
const ROWS = Array.from({ length: 20 }, (_, i) => ({
  id: i,
  name: `A “name” ${i}`,
  price: i / 3,
  isOpen: i % 2 === 0,
  remark: null,
  at: '2026-01-01T00:00:00Z',
  address: { street: 'Main street', at: { x: 1.5, y: -2 } },
  parts: [{ sku: 'a', count: i }],
}));

/** @throws {Error} with what the command said when it fails */
export async function compileChunks(): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gex-compile-'));
  const server = http.createServer((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://localhost').searchParams.get('page') ?? 1);
    const next = page < PAGES ? { next: page + 1 } : {};
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: ROWS, ...next }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server has an address of this kind
  try {
    const pagination = { method: 'response.param', responseParam: 'next', queryParam: 'page' };
    const api = { baseUrl: `http://127.0.0.1:${port}/`, pagination };
    const config = { jobs: [{ endpoint: 'items', dataField: 'data' }] };
    const data = path.join(folder, 'data');
    mkdirSync(data);
    writeFileSync(path.join(data, 'config.json'), JSON.stringify({ parameters: { api, config } }));
    const run = ['run', '--data', data, '--storage', 'none'];
    await runEach([['--help'], run, run], path.join(folder, 'compiled'));
    const runtime = `${process.version}-${process.platform}-${process.arch}`;
    for (const file of globSync(path.join(folder, 'compiled/*/gex-*'))) {
      const [, name] = /^gex-(.+\.js)-\d+-\d+$/.exec(path.basename(file)) ?? [];
      writeFileSync(`${root}dist/chunks/${name}.${runtime}`, readFileSync(file));
    }
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}

/** Gives commands to one process, which keeps in a folder what it has compiled. */
async function runEach(commands: readonly (readonly string[])[], keptIn: string): Promise<void> {
  const main = new URL('../dist/cli/main.js', import.meta.url).href;
  const program = `
    process.getBuiltinModule('node:module').enableCompileCache();
    for (const [turn, args] of ${JSON.stringify(commands)}.entries()) {
      process.argv.splice(2, process.argv.length, ...args);
      await import(${JSON.stringify(main)} + '?' + turn);
    }`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program, '--'], {
    // what is compiled fits a process that has no flags
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: keptIn, NO_PROXY: '*' },
  });
}
