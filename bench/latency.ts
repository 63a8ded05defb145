// A slow API: 100 pages of 1000 nested records, 100 ms each. The waiting alone is 10 s; the rest is ours.
//
//   node bench/latency.ts [--pages 100] [--latency 100] [--runs 3]
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { FLOOR, measure, runArgs, startMockApi } from './support/processes.ts';

const { values: given } = parseArgs({
  options: {
    pages: { type: 'string', default: '100' },
    latency: { type: 'string', default: '100' },
    runs: { type: 'string', default: '3' },
  },
});
const pages = Number(given.pages);
const latency = Number(given.latency);

await withFolder(async (folder) => {
  const data = path.join(folder, 'data');
  const api = await startMockApi({ pages, size: 1000, shape: 'nested', latency, config: data });
  try {
    const floors: number[] = [];
    const runs: number[] = [];
    for (let turn = 0; turn < Number(given.runs); turn++) {
      floors.push((await measure([FLOOR, api.url, path.join(folder, 'floor')], folder)).wallMs);
      runs.push((await measure(runArgs(data), folder)).wallMs);
      rmSync(path.join(data, 'out'), { recursive: true });
    }
    const waiting = pages * latency;
    const row = (name: string, ms: number): string[] => [name, seconds(ms), seconds(ms - waiting)];
    printTable(
      `Latency: ${pages} pages of 1000 nested records, ${latency} ms each, medians of ${given.runs}`,
      ['', 'wall', 'beside waiting'],
      [row('waiting', waiting), row('floor', median(floors)), row('run', median(runs))],
    );
  } finally {
    await api.stop();
  }
});
