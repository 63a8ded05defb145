// Wall time of a run that pushes into an embedded storage against one with `--storage none`, in turns: 200 pages of
// 1000 records.
//
//   node bench/push.ts [--runs 5] [--pages 200] [--size 1000] [--api FILE]
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { measure, MOCK_API, runArgs, startMockApi } from './support/processes.ts';
import type { Shape } from './support/records.ts';

const { values: given } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    pages: { type: 'string', default: '200' },
    size: { type: 'string', default: '1000' },
    api: { type: 'string', default: MOCK_API },
  },
});

const lines: string[][] = [];
for (const shape of ['flat', 'nested'] as const) {
  const { none, pushed, peakMb } = await compare(shape);
  lines.push([shape, seconds(none), seconds(pushed), (pushed / none).toFixed(2), `${Math.round(peakMb)} MB`]);
}
printTable(
  `Push, ${given.pages} × ${given.size}: medians of ${given.runs}`,
  ['', 'none', 'pushed', 'pushed ÷ none', 'peak when pushed'],
  lines,
);

async function compare(shape: Shape): Promise<{ none: number; pushed: number; peakMb: number }> {
  return await withFolder(async (folder) => {
    const data = path.join(folder, 'data');
    const storage = path.join(folder, 'storage');
    const api = await startMockApi(
      { pages: Number(given.pages), size: Number(given.size), shape, config: data },
      given.api,
    );
    try {
      const [none, pushed, peaks]: [number[], number[], number[]] = [[], [], []];
      // one of each beforehand, for the caches of the file system and of the compiler
      for (let turn = -1; turn < Number(given.runs); turn++) {
        const first = await measure(runArgs(data), folder);
        const second = await measure(runArgs(data, storage), folder);
        rmSync(storage, { recursive: true });
        if (turn < 0) continue;
        none.push(first.wallMs);
        pushed.push(second.wallMs);
        peaks.push(second.peakMb);
      }
      return { none: median(none), pushed: median(pushed), peakMb: Math.max(...peaks) };
    } finally {
      await api.stop();
    }
  });
}
