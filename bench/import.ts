/**
 * Import and export of the embedded table engine beside the database's own commands, in one run.
 *
 *   node bench/import.ts [--rows 1000000] [--columns 10] [--runs 3] [--json]
 *
 * Prints wall times (the best of the runs), ratios, the peak of resident memory of the process that imports and
 * exports, and the longest time its event loop was held up. The comparison runs in a process of its own.
 */
import { fork } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemEnv } from '../src/lib/env.ts';
import { silentLog } from '../src/lib/log.ts';
import type { FolderStore } from '../src/service/stores/objects/folder-store.ts';
import type { ExportedSlice } from '../src/service/stores/tables/engine.ts';

interface EngineTimes {
  readonly importMs: number;
  readonly exportMs: number;
  readonly exportStoredMs: number;
  readonly exportGzipMs: number;
  readonly upsertMs: number;
  readonly longestDelayMs: number;
  readonly peakRssMegabytes: number;
}

interface DatabaseTimes {
  readonly insertMs: number;
  readonly copyMs: number;
  readonly copyGzipMs: number;
}

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    columns: { type: 'string', default: '10' },
    runs: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});
const rows = Number(options.rows);
const columns = Number(options.columns);
const names = Array.from({ length: columns }, (_, i) => `column_${i}`);

const [role, folder = ''] = (process.env['BENCH_ROLE'] ?? '').split('|');
if (role === 'engine') await answer(await measureEngine(folder));
else if (role === 'database') await answer(await measureDatabase(folder));
else await compare();

async function compare(): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'bench-import-'));
  try {
    await generate(join(work, 'in.csv'));
    const { size } = await stat(join(work, 'in.csv'));
    const runs: { database: DatabaseTimes; engine: EngineTimes }[] = [];
    for (let run = 0; run < Number(options.runs); run++) {
      const database = (await inProcess('database', work)) as DatabaseTimes;
      const engine = (await inProcess('engine', work)) as EngineTimes;
      runs.push({ database, engine });
    }
    const best = (of: (run: { database: DatabaseTimes; engine: EngineTimes }) => number): number =>
      Math.min(...runs.map(of));
    const importMs = best(({ engine }) => engine.importMs);
    const exportMs = best(({ engine }) => engine.exportMs);
    const insertMs = best(({ database }) => database.insertMs);
    const exportStoredMs = best(({ engine }) => engine.exportStoredMs);
    const copyMs = best(({ database }) => database.copyMs);
    const exportGzipMs = best(({ engine }) => engine.exportGzipMs);
    const copyGzipMs = best(({ database }) => database.copyGzipMs);
    const report = {
      rows,
      columns,
      megabytes: round(size / 1e6),
      import: { ms: importMs, databaseMs: insertMs, ratio: round(importMs / insertMs) },
      export: { ms: exportMs, databaseMs: copyMs, ratio: round(exportMs / copyMs) },
      exportStored: { ms: exportStoredMs, databaseMs: copyMs, ratio: round(exportStoredMs / copyMs) },
      exportGzip: { ms: exportGzipMs, databaseMs: copyGzipMs, ratio: round(exportGzipMs / copyGzipMs) },
      upsertMs: best(({ engine }) => engine.upsertMs),
      peakRssMegabytes: Math.max(...runs.map(({ engine }) => engine.peakRssMegabytes)),
      longestDelayMs: Math.max(...runs.map(({ engine }) => engine.longestDelayMs)),
    };
    const text = [
      `${rows} rows × ${columns} columns, ${report.megabytes} MB`,
      `import        ${importMs} ms, read_csv insert ${insertMs} ms, ratio ${report.import.ratio} (at most 1.5)`,
      `export        ${exportMs} ms, COPY ${copyMs} ms, ratio ${report.export.ratio} (at most 1.5)`,
      `export, stored ${exportStoredMs} ms, ratio ${report.exportStored.ratio}: into the object store, safe from a loss of power`,
      `export, gzip  ${exportGzipMs} ms, COPY ${copyGzipMs} ms, ratio ${report.exportGzip.ratio} (at most 1.5)`,
      `upsert of all ${report.upsertMs} ms`,
      `peak RSS of import and export ${report.peakRssMegabytes} MB (less than 700)`,
      `longest delay of the event loop ${report.longestDelayMs} ms (less than 100)`,
    ];
    console.log(options.json ? JSON.stringify(report) : text.join('\n'));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function measureEngine(work: string): Promise<EngineTimes> {
  const { createDuckDbEngine } = await import('../src/service/stores/tables/duckdb/engine.ts');
  const tables = join(work, 'tables');
  const engine = createDuckDbEngine({ folder: tables });
  await engine.open();
  const table = { bucket: 'in.c-bench', table: 'rows' };
  const watch = watchLoop();
  const slices = async function* (): AsyncGenerator<AsyncIterable<Buffer>> {
    yield await Promise.resolve(createReadStream(join(work, 'in.csv'), { highWaterMark: 1024 * 1024 }));
  };
  const importedAt = new Date();
  const importMs = await time(() =>
    engine.import(table, { importedAt, create: { primaryKey: [] } }, slices()),
  );
  const take = (slice: ExportedSlice, index: number): Promise<void> =>
    rename(pathOf(slice), join(work, `slice-${index}`));
  const objects = await openObjects(join(work, 'objects'));
  const store = async (slice: ExportedSlice, index: number): Promise<void> =>
    void (await objects.adopt(`slice-${index}`, pathOf(slice), { encrypted: false }));
  const exportMs = await time(() => engine.export(table, {}, { gzip: false, targetBytes: 64e6 }, take));
  const exportStoredMs = await time(() =>
    engine.export(table, {}, { gzip: false, targetBytes: 64e6 }, store),
  );
  const exportGzipMs = await time(() => engine.export(table, {}, { gzip: true, targetBytes: 64e6 }, take));
  const peakRssMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  await engine.setPrimaryKey(table, names.slice(0, 1));
  const upsertMs = await time(() => engine.import(table, { importedAt, incremental: true }, slices()));
  const longestDelayMs = await watch.stop();
  await engine.close();
  await rm(tables, { recursive: true, force: true });
  return {
    importMs,
    exportMs,
    exportStoredMs,
    exportGzipMs,
    upsertMs,
    longestDelayMs,
    peakRssMegabytes,
  };
}

function pathOf(slice: ExportedSlice): string {
  if (slice.kind === 'file') return slice.path;
  throw new Error('The embedded engine gives files.');
}

async function openObjects(directory: string): Promise<FolderStore> {
  const { createFolderStore } = await import('../src/service/stores/objects/folder-store.ts');
  const store = createFolderStore({
    directory,
    secret: Buffer.alloc(32),
    endpoint: () => 'http://127.0.0.1',
    env: systemEnv,
    log: silentLog,
  });
  await store.open();
  return store;
}

async function measureDatabase(work: string): Promise<DatabaseTimes> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const tables = join(work, 'own.duckdb');
  const connection = await (await DuckDBInstance.create(tables)).connect();
  const types = `{${names.map((name) => `${name}: 'VARCHAR'`).join(', ')}}`;
  const insertMs = await time(async () => {
    await connection.run(`CREATE TABLE rows (${names.map((name) => `${name} VARCHAR`).join(', ')})`);
    await connection.run(
      `INSERT INTO rows SELECT * FROM read_csv('${join(work, 'in.csv')}', header = true, columns = ${types})`,
    );
  });
  const copy = (file: string, more: string): Promise<unknown> =>
    connection.run(`COPY rows TO '${join(work, file)}' (FORMAT csv, HEADER false, FORCE_QUOTE *${more})`);
  const copyMs = await time(() => copy('own.csv', ''));
  const copyGzipMs = await time(() => copy('own.csv.gz', ', COMPRESSION gzip'));
  connection.closeSync();
  await rm(tables, { force: true });
  return { insertMs, copyMs, copyGzipMs };
}

/** How much longer than asked a timer of 5 ms takes at most. */
function watchLoop(): { stop: () => Promise<number> } {
  const stopping = new AbortController();
  const watching = (async () => {
    let longest = 0;
    while (!stopping.signal.aborted) {
      const start = performance.now();
      await wait(5);
      longest = Math.max(longest, performance.now() - start - 5);
    }
    return Math.round(longest);
  })();
  return {
    stop: () => {
      stopping.abort();
      return watching;
    },
  };
}

async function generate(path: string): Promise<void> {
  const out = createWriteStream(path);
  const header = names.map((name) => `"${name}"`).join(',');
  let lines = [`${header}\n`];
  // A fixed sequence, so that runs can be compared (Numerical Recipes' generator).
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed % below;
  };
  const makers = [
    () => `user${random(100_000)}@example.com`,
    () => `"Name, with a comma ${random(10_000)}"`,
    () => `2026-${10 + random(3)}-${10 + random(18)}`,
    () => String(random(1_000_000_000)),
    () => `"He said ""${random(1000)}"""`,
    () => `text ${random(100)}`,
  ];
  for (let row = 0; row < rows; row++) {
    const cells = [String(row)];
    for (let i = 1; i < columns; i++) cells.push(makers[i % makers.length]?.() ?? '');
    lines.push(`${cells.join(',')}\n`);
    if (lines.length < 10_000) continue;
    if (!out.write(lines.join(''))) await once(out, 'drain');
    lines = [];
  }
  out.end(lines.join(''));
  await once(out, 'close');
}

async function inProcess(name: string, work: string): Promise<unknown> {
  const child = fork(import.meta.filename, process.argv.slice(2), {
    env: { ...process.env, BENCH_ROLE: `${name}|${work}` },
  });
  const ended = once(child, 'exit');
  const failed = ended.then(([code]) =>
    Promise.reject(new Error(`The ${name} process ended with ${String(code)}.`)),
  );
  const [result] = (await Promise.race([once(child, 'message'), failed])) as unknown[];
  failed.catch(() => undefined);
  await ended;
  return result;
}

async function answer(result: EngineTimes | DatabaseTimes): Promise<void> {
  await new Promise<void>((sent) => {
    process.send?.(result, undefined, undefined, () => sent());
  });
  process.disconnect();
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round(performance.now() - start);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
