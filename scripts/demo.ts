// npm run demo: an example API and a storage service; a configuration of two rows in the service, run twice; the tables.
// It ends by itself; `npm run demo -- --keep` keeps the API, the service and the folder.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { StorageClient } from '../src/storage/client/index.ts';
import { startLibraryApi, type LibraryApi } from '../src/cli/demo/library-api.ts';
import { GEX, runGex, startService, type DemoService } from './demo/command.ts';
import { COMPONENT, CONFIGURATION, createConfiguration } from './demo/configuration.ts';
import { cellsOf, command, output, paste, requests, say, table, title, type Cells } from './demo/show.ts';

/** The tables that come of it, and a column to show their rows by. */
const TABLES = [
  ['in.c-lib.books', 'id'],
  ['in.c-lib.books_tags', 'data'],
  ['in.c-lib.hits', 'book'],
] as const;
const FREE_PORTS = ['--port', '0', '--s3-port', '0', '--importer-port', '0'];
const isKept = process.argv.includes('--keep');

interface Demo {
  readonly api: LibraryApi;
  readonly service: DemoService;
  readonly client: StorageClient;
  readonly folder: string;
}

await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'generic-extractor-demo-'));
  const api = await startLibraryApi();
  try {
    title('1. An example API and a storage service');
    say(`The API of a library answers at ${api.baseUrl}\n`);
    command('gex serve --port 0 --s3-port 0 --importer-port 0');
    const service = await startService(['serve', ...FREE_PORTS], { folder });
    const client = new StorageClient({ url: service.url, token: service.token });
    try {
      output(service.shown);
      await show({ api, service, client, folder });
      if (isKept) await keep({ api, service, client, folder });
    } finally {
      client.close();
      await service.stop();
    }
  } finally {
    await api.close();
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
}

async function show(demo: Demo): Promise<void> {
  const { api, client } = demo;
  title('2. A configuration of two rows, made in the service');
  const { rows, version } = await createConfiguration(client, api.baseUrl);
  say(`${COMPONENT}, configuration “${CONFIGURATION}”, version ${version}`);
  say('  row “books”   a list with a cursor in the response; asks for what is new (response.param)');
  say('  row “search”  a POST, then a scroll by GET (response.param with scrollRequest)');
  equal(rows.length, 2);

  title('3. A first run');
  await run(demo);
  say('\nThese requests were made:');
  requests(api.takeRequests());
  say('\nThese tables are in the storage, exported again:');
  const first = await exported(client);
  for (const [name, cells] of first) table(name, cells);

  title('4. A second run asks for what is new');
  const before = await previousStart(client);
  say('The service keeps a state for each row; that of “books” has the time of its first run:');
  say(`  {"component": {"time": {"previousStart": ${before}}, …}}`);
  say('A book comes in: “The Sea Around Us”.\n');
  api.addBook('The Sea Around Us', 'Rachel Carson');
  // Times are in seconds here: a run that begins in the same one leaves a state that asks for this book again.
  await setTimeout(1000 - (Date.now() % 1000));
  await run(demo);
  requests(api.takeRequests());
  const second = await exported(client);
  say('\nRows in the tables, before and now:\n');
  for (const [name] of TABLES) say(`  ${name.padEnd(20)} ${rowsOf(first, name)} → ${rowsOf(second, name)}`);
  say('\nAnd this is what came to the books:');
  const [header = [], ...books] = second.get('in.c-lib.books') ?? [];
  const added = books.slice(rowsOf(first, 'in.c-lib.books'));
  table('in.c-lib.books', [header, ...added]);
  check(first, second, added);

  const after = await client.configurations(COMPONENT).detail(CONFIGURATION);
  const now = await previousStart(client);
  say(
    `\nThe state has the time of this run now, ${now}. The configuration stays at version ${after.version}.`,
  );
  equal(after.version, version);
  ok(now >= before);
  if (!isKept)
    say('\n\nThat was the demo. `npm run demo -- --keep` keeps the API, the service and the folder.\n');
}

async function run({ service, folder }: Demo): Promise<void> {
  const args = ['run', '--component', COMPONENT, '--config', CONFIGURATION, '--data', 'run'];
  command(`gex ${args.join(' ')} --storage ${service.url}`);
  output(await runGex([...args, '--storage', service.url], { folder, token: service.token }));
}

async function exported(client: StorageClient): Promise<ReadonlyMap<string, Cells>> {
  const tables = new Map<string, Cells>();
  for (const [name, column] of TABLES)
    tables.set(name, cellsOf(await text(await client.tables.read(name, { orderBy: [{ column }] }))));
  return tables;
}

/** The demo shows what is so: the new book and its tag were added, nothing else; the search was loaded anew. */
function check(first: ReadonlyMap<string, Cells>, second: ReadonlyMap<string, Cells>, added: Cells): void {
  for (const [name] of TABLES) equal(rowsOf(second, name), rowsOf(first, name) + 1, name);
  deepEqual(
    added.map((cells) => cells[1]),
    ['The Sea Around Us'],
  );
}

function rowsOf(tables: ReadonlyMap<string, Cells>, name: string): number {
  return (tables.get(name)?.length ?? 1) - 1;
}

async function previousStart(client: StorageClient): Promise<number> {
  const { state } = await client.configurations(COMPONENT).rows(CONFIGURATION).detail('books');
  const { component } = state as { component: { time: { previousStart: number } } }; // as every run leaves it
  return component.time.previousStart;
}

async function keep({ api, service, client, folder }: Demo): Promise<void> {
  title('Go on by yourself');
  say('API and service run until you press Ctrl-C. In another terminal:\n');
  paste(`cd '${folder}'`);
  paste(`gex() { '${process.execPath}' '${GEX}' "$@"; }`);
  paste(`export KBC_TOKEN=${service.token} STORAGE=${service.url}`);
  paste('gex storage tables list --storage $STORAGE');
  paste('gex storage tables preview in.c-lib.books --storage $STORAGE');
  paste(`gex run --component ${COMPONENT} --config ${CONFIGURATION} --data run --storage $STORAGE`);
  paste('curl -H "X-StorageApi-Token: $KBC_TOKEN" $STORAGE/v2/storage/tables');
  paste('gex ui');
  paste(`curl '${api.baseUrl}books?since=0'`);
  say(`\nThe console of the service, in a browser: ${service.url}/#code=${await client.consoleCode()}`);
  say('The link signs in once, within ten minutes; `gex ui` makes another.');
  say(`The API of the service, to read: ${service.url}/docs`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  say(`\nStopped. The folder is still there: ${folder}\n`);
}
