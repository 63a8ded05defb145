// Memory of one long run: does it grow after the first minute? Writes a picture to bench/results.
//
//   node bench/growth.ts [--rows 10000000] [--size 1000] [--shape flat]
//
// The run is collected every second, so that what is in use is told apart from garbage; it takes longer than by itself.
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { printTable } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { lineChart } from './support/line-chart.ts';
import type { MemoryPoint } from './support/memory-trace.ts';
import { runArgs, startMockApi, startNode } from './support/processes.ts';
import { SHAPES } from './support/records.ts';

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    size: { type: 'string', default: '1000' },
    shape: { type: 'string', default: 'flat' },
  },
});

const TRACE = new URL('support/memory-trace.ts', import.meta.url).href;
const RESULTS = fileURLToPath(new URL('results', import.meta.url));
/** Seconds until the memory of the program itself is there: code, buffers, caches. */
const WARM = 60;

const shape = SHAPES.find((known) => known === given.shape) ?? 'flat';
const points = await trace();
const warm = points.filter(({ at }) => at >= Math.min(WARM, (points.at(-1)?.at ?? 0) / 2));
const rows = Number(given.rows).toLocaleString('en');
const title = `Memory of a run over ${rows} ${shape} rows, ${given.size} a page`;
mkdirSync(RESULTS, { recursive: true });
writeFileSync(
  path.join(RESULTS, 'growth.svg'),
  lineChart({
    title,
    unit: 'MB',
    over: 's',
    lines: [
      { name: 'resident', points: points.map(({ at, residentMb: value }) => ({ at, value })) },
      { name: 'in use', points: points.map(({ at, usedMb: value }) => ({ at, value })) },
    ],
    note: `${os.availableParallelism()} processors, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}; node bench/growth.ts`,
  }),
);
printTable(
  title,
  ['', 'first', 'last', 'peak', 'a minute'],
  [
    told(
      'resident',
      warm.map(({ at, residentMb }) => ({ at, value: residentMb })),
    ),
    told(
      'in use',
      warm.map(({ at, usedMb }) => ({ at, value: usedMb })),
    ),
  ],
);

async function trace(): Promise<readonly MemoryPoint[]> {
  return await withFolder(async (folder) => {
    const data = path.join(folder, 'data');
    const file = path.join(folder, 'trace.jsonl');
    const pages = Math.ceil(Number(given.rows) / Number(given.size));
    const api = await startMockApi({ pages, size: Number(given.size), shape, config: data });
    try {
      const child = startNode(['--expose-gc', '--import', TRACE, ...runArgs(data)], { BENCH_TRACE: file });
      let said = '';
      child.stderr?.on('data', (chunk) => (said += String(chunk)));
      const [code] = (await once(child, 'close')) as [number | null]; // as documented for the event
      if (code !== 0) throw new Error(`the run ended with ${code}: ${said}`);
      return readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as MemoryPoint); // written by memory-trace.ts
    } finally {
      await api.stop();
    }
  });
}

/** Returns a row of the table; the growth in a minute is that of the straight line through all points. */
function told(name: string, values: readonly { readonly at: number; readonly value: number }[]): string[] {
  const [at, value] = [mean(values.map((each) => each.at)), mean(values.map((each) => each.value))];
  const rise = values.reduce((sum, each) => sum + (each.at - at) * (each.value - value), 0);
  const run = values.reduce((sum, each) => sum + (each.at - at) ** 2, 0);
  const peak = Math.max(...values.map((each) => each.value));
  return [name, mb(values[0]?.value), mb(values.at(-1)?.value), mb(peak), mb((60 * rise) / (run || 1))];
}

function mb(value: number | undefined): string {
  return `${(value ?? 0).toFixed(1)} MB`;
}

function mean(list: readonly number[]): number {
  return list.reduce((sum, each) => sum + each, 0) / list.length;
}
