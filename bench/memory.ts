// Peak memory (resident set) of a run: does it grow with the number of pages?
//
//   node bench/memory.ts [--few 1000] [--many 5000] [--size 1000]
//
// The shape “children” has two child requests for each page of 1000 records.
import { parseArgs } from 'node:util';
import path from 'node:path';
import { printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { measure, runArgs, startMockApi, type Finished } from './support/processes.ts';
import { SHAPES, type Shape } from './support/records.ts';

const { values: given } = parseArgs({
  options: {
    few: { type: 'string', default: '1000' },
    many: { type: 'string', default: '5000' },
    size: { type: 'string', default: '1000' },
  },
});

const rows: string[][] = [];
for (const shape of SHAPES) {
  const size = Number(given.size);
  const few = await peakOf(Number(given.few), size, shape);
  const many = await peakOf(Number(given.many), size, shape);
  const more = `${((many.peakMb / few.peakMb - 1) * 100).toFixed(0)} %`;
  rows.push([shape, megabytes(few), seconds(few.wallMs), megabytes(many), seconds(many.wallMs), more]);
}
printTable(
  `Peak memory of a run over pages of ${given.size} records`,
  ['', `${given.few} pages`, 'wall', `${given.many} pages`, 'wall', 'more'],
  rows,
);

function peakOf(pages: number, size: number, shape: Shape): Promise<Finished> {
  return withFolder(async (folder) => {
    const data = path.join(folder, 'data');
    const api = await startMockApi({ pages, size, shape, config: data });
    try {
      return await measure(runArgs(data), folder);
    } finally {
      await api.stop();
    }
  });
}

function megabytes({ peakMb }: Finished): string {
  return `${peakMb.toFixed(0)} MB`;
}
