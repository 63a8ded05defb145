// How long it takes until the help is there, and until the first request leaves, against a bare `node -e 0`.
//
//   node bench/startup.ts [--runs 15]
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median, milliseconds, printTable } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { COMMAND, runArgs, startNode } from './support/processes.ts';

const { values: given } = parseArgs({ options: { runs: { type: 'string', default: '15' } } });

await withFolder(async (folder) => {
  let firstRequest = 0;
  const server = http.createServer((_, response) => {
    firstRequest = performance.now();
    response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1}]');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server has an address of this kind
  mkdirSync(path.join(folder, 'data'));
  const api = { baseUrl: `http://127.0.0.1:${port}/` };
  writeFileSync(
    path.join(folder, 'data/config.json'),
    JSON.stringify({ parameters: { api, config: { jobs: [{ endpoint: 'items' }] } } }),
  );

  const times = { bare: [] as number[], help: [] as number[], request: [] as number[], run: [] as number[] };
  // once beforehand, for the caches of the file system and of the compiler
  for (let turn = -1; turn < Number(given.runs); turn++) {
    const bare = await wall(['-e', '0']);
    const help = await wall([COMMAND, '--help']);
    const started = performance.now();
    const run = await wall(runArgs(path.join(folder, 'data')));
    rmSync(path.join(folder, 'data/out'), { recursive: true });
    if (turn < 0) continue;
    times.bare.push(bare);
    times.help.push(help);
    times.request.push(firstRequest - started);
    times.run.push(run);
  }
  server.close();
  const bare = median(times.bare);
  const row = (name: string, values: readonly number[]): string[] => [
    name,
    milliseconds(median(values)),
    milliseconds(median(values) - bare),
  ];
  printTable(
    `Start: medians of ${given.runs}`,
    ['', 'wall', 'more than bare'],
    [
      row('node -e 0', times.bare),
      row('gex --help', times.help),
      row('gex run: first request arrives', times.request),
      row('gex run: one page, to the end', times.run),
    ],
  );
});

async function wall(args: readonly string[]): Promise<number> {
  const started = performance.now();
  const child = startNode(args);
  let said = '';
  child.stderr?.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null]; // as documented for the event
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said}`);
  return performance.now() - started;
}
