// The same rows over the same mock API by this program, a script written by hand, dlt and the Airbyte CDK, in turns; how
// each goes on when it is killed half way; and import and export beside DuckDB's and PostgreSQL's own. Writes tables in
// Markdown and a picture to bench/results. Where there is no Python, the script alone is compared.
//
//   node bench/peers.ts [--runs 3] [--python python3] [--cases flat,nested,resume,storage] [--database URL]
//
// dlt and the CDK are installed into bench/.peers, a folder of their own, by the versions below. PostgreSQL is measured
// where a database is given, which must be empty of a schema “bench”.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { barChart, type BarChart } from './support/bar-chart.ts';
import { FLOOR, measure, runArgs, startMockApi, type Finished, type MockApi } from './support/processes.ts';
import type { Shape } from './support/records.ts';

const VERSIONS = { dlt: '1.31.0', 'airbyte-cdk': '7.39.1' };
const NAMES = { floor: 'script by hand', gex: 'gex', dlt: 'dlt', cdk: 'Airbyte CDK' };
type Tool = keyof typeof NAMES;
const TOOLS = Object.keys(NAMES) as Tool[]; // as they stand above

/** A tool, and how many requests at once it is told to make. */
interface Contestant {
  readonly tool: Tool;
  readonly atOnce?: number | 'auto';
}

interface Case {
  readonly title: string;
  readonly pages: number;
  readonly size: number;
  readonly shape: Shape;
  readonly latency?: number;
  /** Pages are asked for by their numbers. */
  readonly isCounted?: boolean;
  /** By default each tool, one request after the other. */
  readonly contestants?: readonly Contestant[];
}

const ONE_BY_ONE: readonly Contestant[] = TOOLS.map((tool) => ({ tool }));
const SEVERAL: readonly Contestant[] = [
  { tool: 'floor' },
  { tool: 'floor', atOnce: 16 },
  { tool: 'gex' },
  { tool: 'gex', atOnce: 16 },
  { tool: 'gex', atOnce: 'auto' },
  { tool: 'dlt' },
  { tool: 'cdk' },
];

const CASES: Readonly<Record<string, Case>> = {
  flat: { title: '200 pages of 1,000 flat rows', pages: 200, size: 1000, shape: 'flat' },
  nested: { title: '200 pages of 1,000 nested rows', pages: 200, size: 1000, shape: 'nested' },
  small: { title: '2,000 pages of 10 rows', pages: 2000, size: 10, shape: 'flat' },
  latency: { title: '100 pages of 100 rows, 50 ms each', pages: 100, size: 100, shape: 'flat', latency: 50 },
  counted: {
    title: '100 numbered pages of 100 rows, 50 ms each',
    pages: 100,
    size: 100,
    shape: 'flat',
    latency: 50,
    isCounted: true,
    contestants: SEVERAL,
  },
  children: {
    title: '500 rows with a page of 50 ms below each',
    pages: 5,
    size: 100,
    shape: 'parents',
    latency: 50,
    // dlt and the CDK with 16 threads
    contestants: SEVERAL,
  },
};
const KILLED = { pages: 200, size: 100, shape: 'flat', latency: 20 } as const;
const OTHERS = ['resume', 'storage'];
const PYTHON_ENVIRONMENT = {
  ...process.env,
  DATA_WRITER__DISABLE_COMPRESSION: 'true',
  RUNTIME__DLTHUB_TELEMETRY: 'false',
};

const { values: given } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    python: { type: 'string', default: 'python3' },
    cases: { type: 'string', default: [...Object.keys(CASES), ...OTHERS].join(',') },
    database: { type: 'string' },
  },
});

const here = import.meta.dirname;
const chosen = given.cases.split(',');
const unknown = chosen.find((name) => CASES[name] === undefined && !OTHERS.includes(name));
if (unknown !== undefined)
  throw new Error(
    `There is no case “${unknown}”; there are ${[...Object.keys(CASES), ...OTHERS].join(', ')}`,
  );
const python = installed();
const isThere = (tool: Tool): boolean => python !== undefined || tool === 'floor' || tool === 'gex';
const groups: BarChart['groups'][number][] = [];
const tables: string[] = [];

await compareTimes();
if (chosen.includes('resume')) await compareKills();
if (chosen.includes('storage')) compareStorage();

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
    ...tables,
  ].join('\n'),
);
writeFileSync(
  path.join(here, 'results/peers.svg'),
  barChart({ title: 'Seconds for the same rows', unit: 's', groups, note: `${machine}; ${versions}` }),
);

async function compareTimes(): Promise<void> {
  const rows: string[][] = [];
  for (const name of chosen) {
    const wanted = CASES[name];
    if (wanted === undefined) continue;
    const contestants = (wanted.contestants ?? ONE_BY_ONE).filter(({ tool }) => isThere(tool));
    const times = await compare(wanted, contestants);
    const wallOf = (each: Contestant): number => median((times.get(each) ?? []).map(({ wallMs }) => wallMs));
    const own = contestants.findLast(({ tool }) => tool === 'gex');
    groups.push({
      title: wanted.title,
      bars: contestants.map((each) => ({
        name: nameOf(each),
        value: wallOf(each) / 1000,
        colour: TOOLS.indexOf(each.tool),
      })),
    });
    for (const each of contestants)
      rows.push([
        each === contestants[0] ? wanted.title : '',
        nameOf(each),
        seconds(wallOf(each)),
        seconds(median((times.get(each) ?? []).map(({ cpuMs }) => cpuMs))),
        `${Math.round(median((times.get(each) ?? []).map(({ peakMb }) => peakMb)))} MB`,
        own === undefined ? '' : (wallOf(each) / wallOf(own)).toFixed(2),
      ]);
  }
  if (rows.length > 0) tell('Times', ['rows', 'tool', 'wall', 'processor', 'peak memory', '÷ gex'], rows);
}

/** Prints a table, and keeps it for the page of results. */
function tell(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  printTable(title, head, rows);
  const lines = [head, head.map((_, i) => (i < 2 ? '---' : '--:')), ...rows];
  tables.push(`## ${title}`, '', ...lines.map((cells) => `| ${cells.join(' | ')} |`), '');
}

function nameOf({ tool, atOnce }: Contestant): string {
  return atOnce === undefined ? NAMES[tool] : `${NAMES[tool]}, ${atOnce}`;
}

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

/** A tool at work on a case. */
interface Work {
  readonly contestant: Contestant;
  readonly wanted: Omit<Case, 'title'>;
  readonly url: string;
  /** Data folder of gex. */
  readonly data: string;
  readonly out: string;
}

async function compare(
  wanted: Case,
  contestants: readonly Contestant[],
): Promise<ReadonlyMap<Contestant, readonly Finished[]>> {
  const times = new Map(contestants.map((each) => [each, [] as Finished[]]));
  await withApi(wanted, async (server, folder) => {
    // one of each beforehand, for the caches of the file system and of the compiler
    for (let turn = -1; turn < Number(given.runs); turn++)
      for (const contestant of contestants) {
        const work = prepared(contestant, wanted, server, folder);
        const { args, isPython } = commandOf(work);
        const time = isPython ? pythonRun(args) : await measure(args, folder);
        check(work);
        rmSync(work.out, { recursive: true });
        // a limit of the last run is none of this one
        rmSync(path.join(work.data, '.gex'), { recursive: true, force: true });
        if (turn >= 0) times.get(contestant)?.push(time);
      }
  });
  return times;
}

async function withApi(
  { pages, size, shape, latency = 0, isCounted = false }: Omit<Case, 'title'>,
  work: (server: MockApi, folder: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const config = path.join(folder, 'data');
    const style = isCounted ? 'pagenum' : 'response.param';
    const server = await startMockApi({ pages, size, shape, latency, style, config });
    try {
      await work(server, folder);
    } finally {
      await server.stop();
    }
  });
}

function prepared(contestant: Contestant, wanted: Work['wanted'], { url }: MockApi, folder: string): Work {
  const data = path.join(folder, 'data');
  const out = contestant.tool === 'gex' ? path.join(data, 'out') : path.join(folder, 'out');
  mkdirSync(out, { recursive: true });
  const file = path.join(data, 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { parameters: { api: { http?: object } } }; // of mock-api.ts
  config.parameters.api.http = { concurrency: contestant.atOnce ?? 1 };
  writeFileSync(file, JSON.stringify(config));
  return { contestant, wanted, url, data, out };
}

function commandOf({ contestant: { tool, atOnce = 1 }, wanted, url, data, out }: Work): {
  readonly args: readonly string[];
  readonly isPython: boolean;
} {
  const counted = wanted.isCounted === true;
  if (tool === 'gex') return { args: runArgs(data), isPython: false };
  if (tool === 'floor')
    return { args: [FLOOR, url, out, String(atOnce), ...(counted ? ['--counted'] : [])], isPython: false };
  const how = [...(counted ? ['counted'] : []), ...(wanted.shape === 'parents' ? ['children'] : [])];
  return { args: [path.join(here, `peers/read_${tool}.py`), url, out, ...how], isPython: true };
}

/** Runs a script to its end; its processor time and memory are those that it writes at its end. */
function pythonRun(args: readonly string[]): Finished {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(python ?? '', args, {
    encoding: 'utf8',
    env: PYTHON_ENVIRONMENT,
    maxBuffer: 1 << 28,
  });
  const wallMs = performance.now() - started;
  const [, cpu, peak] = /USAGE (\S+) (\S+)/.exec(stdout) ?? [];
  if (status !== 0 || cpu === undefined) throw new Error(`${args[0] ?? ''} ended with ${status}: ${stderr}`);
  return { wallMs, cpuMs: Number(cpu) * 1000, peakMb: Number(peak) / 1024 };
}

/** Fails unless the rows are those of the API. */
function check({ contestant, wanted: { pages, size, shape }, out }: Work): void {
  const count = pages * size;
  const ids = (count * (count + 1)) / 2;
  const wanted: [string, number, number][] = [['orders', count, ids]];
  // three below each, with ten times its id and 1, 2 and 3
  if (shape === 'parents') wanted.push(['parcels', 3 * count, 30 * ids + 6 * count]);
  for (const [table, rows, sum] of wanted) {
    const found = idsOf(contestant.tool, table, out);
    if (found.rows !== rows || found.sum !== sum)
      throw new Error(`${nameOf(contestant)} has ${found.rows} ${table} of ${rows}, or others`);
  }
}

/** Returns how many rows came, and the sum of their ids. */
function idsOf(tool: Tool, table: string, out: string): { rows: number; sum: number } {
  const message = `"type":"RECORD","record":\\{"stream":"${table}","data":\\{"[a-z]+":(\\d+),`;
  const [files, pattern] = {
    floor: [`${table}.csv`, /^"(\d+)"/gm],
    gex: [`tables/*${table}`, /^"(\d+)"/gm],
    dlt: [`out/bench/${table}/*.csv`, /^(\d+),/gm],
    cdk: ['messages.jsonl', new RegExp(message, 'g')],
  }[tool] as [string, RegExp]; // as they stand above
  const found = { rows: 0, sum: 0 };
  for (const file of globSync(files, { cwd: out }))
    for (const [, id] of readFileSync(path.join(out, file), 'utf8').matchAll(pattern)) {
      found.rows++;
      found.sum += Number(id);
    }
  return found;
}

/** Kills each tool when half of the pages were answered, and gives the same command again. */
async function compareKills(): Promise<void> {
  const rows: string[][] = [];
  for (const contestant of ONE_BY_ONE.filter(({ tool }) => isThere(tool)))
    await withApi(KILLED, async (server, folder) => {
      const work = prepared(contestant, KILLED, server, folder);
      const { args, isPython } = commandOf(work);
      const child = spawn(isPython ? (python ?? '') : process.execPath, args, {
        stdio: 'ignore',
        env: isPython ? PYTHON_ENVIRONMENT : process.env,
      });
      const ended = once(child, 'exit');
      const requests = async (): Promise<number> =>
        Number(await (await fetch(new URL('/requests', server.url))).text());
      while ((await requests()) < KILLED.pages / 2 && child.exitCode === null) await sleep(5);
      child.kill('SIGKILL');
      await ended;
      if (child.exitCode !== null) throw new Error(`${nameOf(contestant)} ended before it was killed`);
      const { wallMs } = isPython ? pythonRun(args) : await measure(args, folder);
      check(work);
      rows.push([nameOf(contestant), seconds(wallMs), String((await requests()) - KILLED.pages)]);
    });
  const { pages, size, latency } = KILLED;
  tell(
    `Killed half way and given again: ${pages} pages of ${size} rows, ${latency} ms each`,
    ['tool', 'second run', 'requests asked again'],
    rows,
  );
}

/** Measures import and export beside the databases' own commands, by the measurements that do only that. */
function compareStorage(): void {
  const measured = (script: string, ...args: readonly string[]): unknown => {
    const all = [path.join(here, script), ...args, '--rows', '500000', '--runs', given.runs, '--json'];
    return JSON.parse(execFileSync(process.execPath, all, { encoding: 'utf8' }));
  };
  const rows: string[][] = [];
  const add = (title: string, own: string, ms: number, ownMs: number): void => {
    rows.push([title, own, seconds(ms), seconds(ownMs), (ms / ownMs).toFixed(2)]);
    const bars = [
      { name: own, value: ownMs / 1000, colour: 0 },
      { name: 'gex', value: ms / 1000, colour: 1 },
    ];
    groups.push({ title: `${title} of 500,000 × 10 cells`, bars });
  };
  type Pair = Readonly<Record<'databaseMs' | 'ms', number>>;
  const duckDb = measured('import.ts') as Readonly<Record<'export' | 'exportGzip' | 'import', Pair>>; // see there
  add('Import into the folder', 'DuckDB', duckDb.import.ms, duckDb.import.databaseMs);
  add('Export from the folder', 'DuckDB', duckDb.export.ms, duckDb.export.databaseMs);
  add('Export from the folder, gzip', 'DuckDB', duckDb.exportGzip.ms, duckDb.exportGzip.databaseMs);
  if (given.database !== undefined) {
    type Times = Readonly<Record<'exportMs' | 'importMs' | 'psqlExportMs' | 'psqlImportMs', number>>;
    const postgres = measured('postgres-tables.ts', given.database) as Times; // see there
    add('Import into PostgreSQL', 'psql \\copy', postgres.importMs, postgres.psqlImportMs);
    add('Export from PostgreSQL', 'psql \\copy', postgres.exportMs, postgres.psqlExportMs);
  }
  tell('Storage: 500,000 × 10 cells', ['what', 'beside', 'gex', 'own', 'ratio'], rows);
}
