// Wall time of a run against the floor's over the same mock API, one after the other in turns: medians and their ratio.
//
//   node bench/throughput.ts [--runs 5] [--style response.param] [--api FILE --floor FILE]
//
//   --style   any of the mock API's; the floor is run with response.param, the only one it knows
//   --api     another mock API, and --floor another floor, that take the same arguments as ours
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { FLOOR, measure, MOCK_API, runArgs, startMockApi } from './support/processes.ts';
import type { Shape } from './support/records.ts';

const { values: given } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    style: { type: 'string', default: 'response.param' },
    api: { type: 'string', default: MOCK_API },
    floor: { type: 'string', default: FLOOR },
  },
});

const CASES: readonly { pages: number; size: number; shape: Shape }[] = [
  { pages: 200, size: 1000, shape: 'flat' },
  { pages: 200, size: 1000, shape: 'nested' },
  { pages: 2000, size: 10, shape: 'flat' },
  { pages: 1000, size: 1000, shape: 'nested' },
];

const rows: string[][] = [];
for (const { pages, size, shape } of CASES) {
  const { floor, run } = await compare(pages, size, shape);
  const perSecond = (ms: number): string => `${Math.round((pages * size) / ms)}k`;
  rows.push([
    `${pages} × ${size} ${shape}`,
    seconds(floor),
    perSecond(floor),
    seconds(run),
    perSecond(run),
    (run / floor).toFixed(2),
  ]);
}
printTable(
  `Throughput, ${given.style}: medians of ${given.runs}`,
  ['', 'floor', 'records/s', 'run', 'records/s', 'run ÷ floor'],
  rows,
);

function compare(pages: number, size: number, shape: Shape): Promise<{ floor: number; run: number }> {
  return withFolder(async (folder) => {
    const data = path.join(folder, 'data');
    const floorData = path.join(folder, 'floor-data');
    const api = await startMockApi({ pages, size, shape, style: given.style, config: data }, given.api);
    const floorApi =
      given.style === 'response.param'
        ? api
        : await startMockApi({ pages, size, shape, config: floorData }, given.api);
    try {
      const floors: number[] = [];
      const runs: number[] = [];
      // one of each beforehand, for the caches of the file system and of the compiler
      for (let turn = -1; turn < Number(given.runs); turn++) {
        const tables = path.join(folder, 'tables');
        mkdirSync(tables);
        const floor = await measure([given.floor, floorApi.url, tables], folder);
        rmSync(tables, { recursive: true });
        const run = await measure(runArgs(data), folder);
        for (const out of ['out', 'out.previous'])
          rmSync(path.join(data, out), { recursive: true, force: true });
        if (turn < 0) continue;
        floors.push(floor.wallMs);
        runs.push(run.wallMs);
      }
      return { floor: median(floors), run: median(runs) };
    } finally {
      await api.stop();
      if (floorApi !== api) await floorApi.stop();
    }
  });
}
