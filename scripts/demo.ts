// npm run demo: an example API, a configuration of two rows, two runs of the built command, the tables.
// It ends by itself; `npm run demo -- --keep` keeps the API and the folder.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLibraryApi } from './demo/api.ts';
import { demoConfiguration } from './demo/configuration.ts';
import { command, output, requests, say, table, title } from './demo/show.ts';

const GEX = fileURLToPath(new URL('../bin/gex.js', import.meta.url));
const isKept = process.argv.includes('--keep');

const api = await startLibraryApi();
const folder = mkdtempSync(path.join(tmpdir(), 'generic-extractor-demo-'));
try {
  await demo();
  if (isKept) await keep();
} finally {
  await api.close();
  if (!isKept) rmSync(folder, { recursive: true, force: true });
}

async function demo(): Promise<void> {
  title('1. An example API and a configuration of two rows');
  say(`The API of a library answers at ${api.baseUrl}`);
  say('  row “books”   a list with a cursor in the response (response.param)');
  say('  row “search”  a POST, then a scroll by GET (response.param with scrollRequest)');
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify(demoConfiguration(api.baseUrl), null, 2));

  title('2. A first run');
  await gex('run');
  say('These requests were made:\n');
  requests(api.takeRequests());
  say('\nThese tables were written:\n');
  showTables('books');
  showTables('search');

  title('3. A second run asks for what is new');
  say('The state of the first run:');
  say(`  rows/books/in/state.json  {"time":${JSON.stringify(timeOf('books'))}, …}`);
  say('A book comes in: “The Sea Around Us”.\n');
  api.addBook('The Sea Around Us', 'Rachel Carson');
  await gex('run', '--row', 'books');
  requests(api.takeRequests());
  console.log();
  showTables('books', 'library.books');
  if (!isKept) say('That was the demo. `npm run demo -- --keep` keeps the API and the folder.\n');
}

/** Runs the built command over the folder and shows what it printed. */
async function gex(name: string, ...options: string[]): Promise<void> {
  command(['gex', name, ...options].join(' '));
  const child = spawn(process.execPath, [GEX, name, ...options], {
    cwd: folder,
    env: { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0) throw new Error(`gex ended with ${code}:\n${stderr}`);
  output(stdout);
}

function showTables(row: string, only?: string): void {
  const tables = path.join(folder, 'rows', row, 'out', 'tables');
  for (const name of readdirSync(tables).toSorted()) {
    if (name.endsWith('.manifest') || (only !== undefined && name !== only)) continue;
    table(`rows/${row}/out/tables/${name}`, readFileSync(path.join(tables, name), 'utf8'));
  }
}

function timeOf(row: string): unknown {
  const text = readFileSync(path.join(folder, 'rows', row, 'in', 'state.json'), 'utf8');
  return (JSON.parse(text) as { time: unknown }).time; // the run has just written it
}

async function keep(): Promise<void> {
  title('Go on by yourself');
  say(`The API runs until you press Ctrl-C, at ${api.baseUrl}`);
  say(`The folder stays: ${folder}\n`);
  command(`node ${GEX} run --data ${folder}`);
  command(`node ${GEX} run --data ${folder} --dry-run`);
  command(`curl '${api.baseUrl}books?since=0'`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}
