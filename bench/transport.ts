// One request after another on a kept connection, over loopback: the transport of API requests, and got as someone would
// use it. In turns, and what is taken is the middle one. And what it takes to load each.
//
//   node bench/transport.ts [--requests 1000] [--turns 5]
import http from 'node:http';
import { parseArgs } from 'node:util';
import got from 'got';
import { createTransport } from '../src/engine/http/send/transport.ts';
import { median, milliseconds, printTable } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { measure, startMockApi } from './support/processes.ts';

const { values: given } = parseArgs({
  options: { requests: { type: 'string', default: '1000' }, turns: { type: 'string', default: '5' } },
});
const requests = Number(given.requests);
const turns = Number(given.turns);

const never = new AbortController().signal;
const transport = createTransport();
const agent = { http: new http.Agent({ keepAlive: true }) };
const WAYS: Readonly<Record<string, (url: string) => Promise<number>>> = {
  transport: async (url) =>
    (await transport.send({ method: 'GET', url, headers: {} }, { signal: never })).body.length,
  got: async (url) => (await got(url, { responseType: 'buffer', agent, retry: { limit: 0 } })).rawBody.length,
};

for (const size of [10, 1000]) {
  const api = await startMockApi({ pages: 10, size, shape: 'nested' });
  const many = size === 10 ? requests : requests / 4;
  const found = new Map(
    Object.keys(WAYS).map((way) => [way, { wallMs: [] as number[], cpuMs: [] as number[] }]),
  );
  let bytes = 0;
  try {
    for (let turn = -1; turn < turns; turn++)
      for (const [way, send] of Object.entries(WAYS)) {
        const [startedMs, startedCpu] = [performance.now(), process.cpuUsage()];
        for (let i = 0; i < many; i++) bytes = await send(api.url);
        const { user, system } = process.cpuUsage(startedCpu);
        if (turn < 0) continue; // the first is for warming up
        found.get(way)?.wallMs.push((performance.now() - startedMs) / many);
        found.get(way)?.cpuMs.push((user + system) / 1000 / many);
      }
  } finally {
    await api.stop();
  }
  printTable(
    `${many} answers of ${(bytes / 1000).toFixed(0)} kB, one after the other, medians of ${turns}`,
    ['', 'requests a second', 'CPU a request'],
    [...found].map(([way, { wallMs, cpuMs }]) => [
      way,
      (1000 / median(wallMs)).toFixed(0),
      `${(median(cpuMs) * 1000).toFixed(0)} µs`,
    ]),
  );
}
await transport.close();
agent.http.destroy();

await withFolder(async (folder) => {
  const rows: string[][] = [];
  for (const [name, code] of [
    ['node', '0'],
    ['node:http', "process.getBuiltinModule('node:http')"],
    ['got', "await import('got')"],
  ] as const) {
    const cpus: number[] = [];
    for (let turn = 0; turn < turns; turn++)
      cpus.push((await measure(['--input-type=module', '-e', code], folder)).cpuMs);
    rows.push([name, milliseconds(median(cpus))]);
  }
  printTable('A process that only loads it', ['', 'CPU'], rows);
});
