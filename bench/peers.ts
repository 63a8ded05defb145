// The same rows over the same mock API by this program, a script written by hand, dlt and the Airbyte CDK, in turns. Writes a
// table in Markdown and a picture to bench/results. Where there is no Python, the script alone is compared.
//
//   node bench/peers.ts [--runs 3] [--python python3] [--cases flat,nested]
//
// dlt and the CDK are installed into bench/.peers, a folder of their own, by the versions below.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { barChart } from './support/bar-chart.ts';
import { FLOOR, measure, runArgs, startMockApi, type Finished } from './support/processes.ts';
import type { Shape } from './support/records.ts';

const VERSIONS = { dlt: '1.31.0', 'airbyte-cdk': '7.39.1' };
const NAMES = { floor: 'script by hand', gex: 'gex', dlt: 'dlt', cdk: 'Airbyte CDK' };
type Tool = keyof typeof NAMES;

interface Case {
  readonly title: string;
  readonly pages: number;
  readonly size: number;
  readonly shape: Shape;
  readonly latency?: number;
}

const CASES: Readonly<Record<string, Case>> = {
  flat: { title: '200 pages of 1,000 flat rows', pages: 200, size: 1000, shape: 'flat' },
  nested: { title: '200 pages of 1,000 nested rows', pages: 200, size: 1000, shape: 'nested' },
  small: { title: '2,000 pages of 10 rows', pages: 2000, size: 10, shape: 'flat' },
  latency: { title: '100 pages of 100 rows, 50 ms each', pages: 100, size: 100, shape: 'flat', latency: 50 },
};

const { values: given } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    python: { type: 'string', default: 'python3' },
    cases: { type: 'string', default: Object.keys(CASES).join(',') },
  },
});

const here = import.meta.dirname;
const python = installed();
const tools: readonly Tool[] = python === undefined ? ['floor', 'gex'] : ['floor', 'gex', 'dlt', 'cdk'];
const groups: { title: string; bars: { name: string; value: number }[] }[] = [];
const rows: string[][] = [];
for (const name of given.cases.split(',')) {
  const wanted = CASES[name];
  if (wanted === undefined)
    throw new Error(`There is no case “${name}”; there are ${Object.keys(CASES).join(', ')}`);
  const times = await compare(wanted);
  const wall = (tool: Tool): number => median(times[tool].map(({ wallMs }) => wallMs));
  groups.push({
    title: wanted.title,
    bars: tools.map((tool) => ({ name: NAMES[tool], value: wall(tool) / 1000 })),
  });
  for (const tool of tools)
    rows.push([
      tool === tools[0] ? wanted.title : '',
      NAMES[tool],
      seconds(wall(tool)),
      seconds(median(times[tool].map(({ cpuMs }) => cpuMs))),
      `${Math.round(median(times[tool].map(({ peakMb }) => peakMb)))} MB`,
      (wall(tool) / wall('gex')).toFixed(2),
    ]);
}
const head = ['rows', 'tool', 'wall', 'processor', 'peak memory', '÷ gex'];
printTable(`Side by side: medians of ${given.runs}`, head, rows);
const machine = `${os.availableParallelism()} × ${os.cpus()[0]?.model.trim() ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}`;
const versions = `Node ${process.versions.node}${python === undefined ? '' : `, dlt ${VERSIONS.dlt}, airbyte-cdk ${VERSIONS['airbyte-cdk']}`}`;
mkdirSync(path.join(here, 'results'), { recursive: true });
writeFileSync(
  path.join(here, 'results/peers.md'),
  [
    '# Side by side',
    '',
    `Medians of ${given.runs} runs in turns on ${machine}; ${versions}. Made by \`npm run bench -- --peers\`.`,
    '',
    ...[head, head.map((_, i) => (i < 2 ? '---' : '--:')), ...rows].map(
      (cells) => `| ${cells.join(' | ')} |`,
    ),
    '',
  ].join('\n'),
);
writeFileSync(
  path.join(here, 'results/peers.svg'),
  barChart({ title: 'Seconds for the same rows', unit: 's', groups, note: `${machine}; ${versions}` }),
);

/** Returns the Python that has both tools, which are installed where they are not yet; undefined without Python. */
function installed(): string | undefined {
  const folder = path.join(here, '.peers');
  const own = path.join(folder, 'bin/python');
  if (!existsSync(own) && !succeeds(given.python, '-m', 'venv', folder)) {
    console.log('Without Python only the script is compared.');
    return undefined;
  }
  const packages = [`dlt[filesystem]==${VERSIONS.dlt}`, `airbyte-cdk==${VERSIONS['airbyte-cdk']}`];
  if (succeeds(own, '-m', 'pip', 'install', '--quiet', ...packages)) return own;
  throw new Error(`${packages.join(' and ')} cannot be installed into ${folder}.`);
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

async function compare({
  pages,
  size,
  shape,
  latency = 0,
}: Case): Promise<Readonly<Record<Tool, Finished[]>>> {
  const times: Record<Tool, Finished[]> = { floor: [], gex: [], dlt: [], cdk: [] };
  await withFolder(async (folder) => {
    const data = path.join(folder, 'data');
    const server = await startMockApi({ pages, size, shape, latency, config: data });
    try {
      // one of each beforehand, for the caches of the file system and of the compiler
      for (let turn = -1; turn < Number(given.runs); turn++)
        for (const tool of tools) {
          const out = tool === 'gex' ? path.join(data, 'out') : path.join(folder, 'out');
          mkdirSync(out, { recursive: true });
          const time = await once(tool, server.url, out, data, folder);
          const found = idsOf(tool, out);
          const count = pages * size;
          if (found.rows !== count || found.sum !== (count * (count + 1)) / 2)
            throw new Error(`${NAMES[tool]} has ${found.rows} rows of ${count}, or others`);
          rmSync(out, { recursive: true });
          if (turn >= 0) times[tool].push(time);
        }
    } finally {
      await server.stop();
    }
  });
  return times;
}

async function once(tool: Tool, url: string, out: string, data: string, folder: string): Promise<Finished> {
  if (tool === 'floor') return await measure([FLOOR, url, out], folder);
  if (tool === 'gex') return await measure(runArgs(data), folder);
  if (python === undefined) throw new Error('there is no Python');
  return pythonRun([path.join(here, `peers/read_${tool}.py`), url, out]);
}

/** Runs a script to its end; its processor time and memory are those that it writes at its end. */
function pythonRun(args: readonly string[]): Finished {
  const started = performance.now();
  const environment = { DATA_WRITER__DISABLE_COMPRESSION: 'true', RUNTIME__DLTHUB_TELEMETRY: 'false' };
  const { status, stdout, stderr } = spawnSync(python ?? '', args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    maxBuffer: 1 << 28,
  });
  const wallMs = performance.now() - started;
  const [, cpu, peak] = /USAGE (\S+) (\S+)/.exec(stdout) ?? [];
  if (status !== 0 || cpu === undefined) throw new Error(`${args[0] ?? ''} ended with ${status}: ${stderr}`);
  return { wallMs, cpuMs: Number(cpu) * 1000, peakMb: Number(peak) / 1024 };
}

/** Returns how many rows came, and the sum of their ids. */
function idsOf(tool: Tool, out: string): { rows: number; sum: number } {
  const [files, pattern] = {
    floor: ['orders.csv', /^"(\d+)"/gm],
    gex: ['tables/*orders', /^"(\d+)"/gm],
    dlt: ['out/bench/orders/*.csv', /^(\d+),/gm],
    cdk: ['messages.jsonl', /"type":"RECORD","record":\{"stream":"orders","data":\{"id":(\d+),/g],
  }[tool] as [string, RegExp]; // as they stand above
  const found = { rows: 0, sum: 0 };
  for (const file of globSync(files, { cwd: out }))
    for (const [, id] of readFileSync(path.join(out, file), 'utf8').matchAll(pattern)) {
      found.rows++;
      found.sum += Number(id);
    }
  return found;
}
