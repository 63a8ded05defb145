/**
 * Import and export of tables in a lake beside what psql does with the same rows, in one run.
 *
 *   node bench/lake-tables.ts DATABASE_URL [--s3 http://127.0.0.1:9000] [--rows 1000000] [--columns 10] [--runs 3] [--json]
 *
 * `psql \copy` goes into a table of texts, and back with every cell quoted, as the engine writes it. The engine works in
 * a process of its own: its peak of resident memory is shown as well. GEX_DUCKDB_EXTENSIONS names the folder of DuckDB's
 * extensions. Without --s3 the lake is in a folder; with it the files are in an object store (keys in GEX_S3_ACCESS_KEY
 * and GEX_S3_SECRET_KEY) and the catalogue in the database, which must be empty.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { createLakeEngine } from '../src/service/stores/tables/lake/engine.ts';
import { bytesOfSlice } from '../src/service/stores/tables/slice.ts';
import { makeBucket } from './support/bucket.ts';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { psql, timeOf } from './support/psql.ts';
import { writeWideCsv } from './support/wide-csv.ts';
import type { LakePlace } from '../src/service/stores/tables/lake/place.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    s3: { type: 'string' },
    rows: { type: 'string', default: '1000000' },
    columns: { type: 'string', default: '10' },
    runs: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});
const [url = ''] = positionals;
const rows = Number(values.rows);
const names = Array.from({ length: Number(values.columns) }, (_, i) => `column_${i}`);
const TABLE = { bucket: 'in.c-bench', table: 'rows' };

interface Times {
  readonly importMs: number;
  readonly exportMs: number;
  /** Processor time, which a busy machine changes little. */
  readonly importCpuMs: number;
  readonly exportCpuMs: number;
  readonly peakMb: number;
  /** After the import, before anything was exported. */
  readonly importPeakMb: number;
  readonly bytes: number;
}

interface Reference {
  readonly importMs: number;
  readonly exportMs: number;
  readonly bytes: number;
}

const { BENCH_FILE: file } = process.env;
if (file === undefined) await compare();
else {
  const times = await engineTimes(file);
  await new Promise((sent) => process.send?.(times, sent));
  process.disconnect();
}

async function compare(): Promise<void> {
  await withFolder(async (folder) => {
    const source = path.join(folder, 'in.csv');
    await writeWideCsv(source, names, rows);
    const { size } = await stat(source);
    const found: { copy: Reference; engine: Times }[] = [];
    for (let run = 0; run < Number(values.runs); run++)
      found.push({
        copy: await copyTimes(source, path.join(folder, 'out.csv')),
        engine: await inProcess(source),
      });
    const of = (pick: (run: (typeof found)[number]) => number): number => median(found.map(pick));
    const report = {
      rows,
      megabytes: size / 1e6,
      importMs: of(({ engine }) => engine.importMs),
      importCpuMs: of(({ engine }) => engine.importCpuMs),
      exportCpuMs: of(({ engine }) => engine.exportCpuMs),
      copyInMs: of(({ copy }) => copy.importMs),
      importRatio: of(({ engine, copy }) => engine.importMs / copy.importMs),
      exportMs: of(({ engine }) => engine.exportMs),
      copyOutMs: of(({ copy }) => copy.exportMs),
      exportRatio: of(({ engine, copy }) => engine.exportMs / copy.exportMs),
      bytes: of(({ engine }) => engine.bytes),
      copyBytes: of(({ copy }) => copy.bytes),
      importPeakMb: Math.max(...found.map(({ engine }) => engine.importPeakMb)),
      peakMb: Math.max(...found.map(({ engine }) => engine.peakMb)),
    };
    if (values.json) {
      console.log(JSON.stringify(report));
      return;
    }
    printTable(
      `${rows} rows of ${names.length} columns, ${report.megabytes.toFixed(0)} MB, median of ${values.runs}`,
      ['', 'engine', 'psql', 'ratio'],
      [
        ['in', seconds(report.importMs), seconds(report.copyInMs), report.importRatio.toFixed(2)],
        ['out', seconds(report.exportMs), seconds(report.copyOutMs), report.exportRatio.toFixed(2)],
        [
          'on the disk',
          megabytes(report.bytes),
          megabytes(report.copyBytes),
          (report.bytes / report.copyBytes).toFixed(2),
        ],
        ['processor time in', seconds(report.importCpuMs), '', ''],
        ['processor time out', seconds(report.exportCpuMs), '', ''],
        ['peak memory of the import', `${report.importPeakMb.toFixed(0)} MB`, '', ''],
        ['peak memory', `${report.peakMb.toFixed(0)} MB`, '', ''],
      ],
    );
  });
}

async function copyTimes(source: string, target: string): Promise<Reference> {
  const cells = names.map((name) => `${name} text not null`).join(', ');
  const list = names.join(', ');
  await psql(url, ['drop schema if exists bench cascade', 'create schema bench']);
  const importMs = await timeOf(
    psql(url, [
      `create table bench.rows (${cells})`,
      `\\copy bench.rows (${list}) from '${source}' (format csv, header, force_not_null (${list}))`,
    ]),
  );
  const exportMs = await timeOf(
    psql(url, [`\\copy bench.rows (${list}) to '${target}' (format csv, force_quote *)`]),
  );
  const pool = new Pool({ connectionString: url, max: 1 });
  const { rows: sizes } = await pool.query<{ bytes: string }>(
    `select pg_total_relation_size('bench.rows') as bytes`,
  );
  await pool.end();
  await psql(url, ['drop schema bench cascade']);
  return { importMs, exportMs, bytes: Number(sizes[0]?.bytes) };
}

async function inProcess(source: string): Promise<Times> {
  const child = fork(process.argv[1] ?? '', process.argv.slice(2), {
    env: { ...process.env, BENCH_FILE: source },
  });
  const [times] = (await once(child, 'message')) as [Times]; // sent below the options
  await once(child, 'exit');
  return times;
}

async function engineTimes(source: string): Promise<Times> {
  return await withFolder(async (folder) => {
    const pool = new Pool({ connectionString: url, max: 4 });
    const place = await placeOf(folder, pool);
    const engine = createLakeEngine({
      place,
      workFolder: path.join(folder, 'work'),
      extensions: process.env['GEX_DUCKDB_EXTENSIONS'],
    });
    await engine.open();
    const begun = process.cpuUsage();
    const importMs = await timeOf(
      engine.import(TABLE, { importedAt: new Date(), create: { primaryKey: [] } }, slices(source)),
    );
    const afterImport = process.cpuUsage();
    const importPeakMb = process.resourceUsage().maxRSS / 1024;
    const exportMs = await timeOf(
      engine.export(TABLE, {}, { gzip: false, targetBytes: 64e6 }, async (slice, index) => {
        // As the service does with files in a folder; into an object store it reads them.
        if (place.kind === 'folder' && slice.kind === 'file')
          return await rename(slice.path, `${source}.${index}`);
        const out = createWriteStream(`${source}.${index}`);
        for await (const chunk of bytesOfSlice(slice)) if (!out.write(chunk)) await once(out, 'drain');
        out.end();
        await once(out, 'close');
      }),
    );
    const exportCpuMs = cpuMs(process.cpuUsage(afterImport));
    const importCpuMs = cpuMs(process.cpuUsage(begun)) - exportCpuMs;
    const peakMb = process.resourceUsage().maxRSS / 1024;
    const bytes = place.kind === 'folder' ? await sizeOf(place.folder) : await sizeInCatalogue(pool);
    await engine.close();
    if (place.kind === 'database') await pool.query('drop schema gex cascade; drop schema gex_lake cascade');
    await pool.end();
    return { importMs, exportMs, importCpuMs, exportCpuMs, peakMb, importPeakMb, bytes };
  });
}

function cpuMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

async function placeOf(folder: string, pool: Pool): Promise<LakePlace> {
  if (values.s3 === undefined) return { kind: 'folder', folder: path.join(folder, 'lake') };
  await pool.query('create schema gex');
  return {
    kind: 'database',
    pool,
    url,
    schema: 'gex',
    root: '',
    objects: await makeBucket(values.s3, `lake-tables-${process.pid}`),
  };
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    names.map(async (name) => {
      const found = await stat(path.join(folder, name));
      return found.isFile() ? found.size : 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeInCatalogue(pool: Pool): Promise<number> {
  const { rows: sizes } = await pool.query<{ bytes: string }>(
    'select coalesce(sum(file_size_bytes), 0) as bytes from gex_lake.ducklake_data_file where end_snapshot is null',
  );
  return Number(sizes[0]?.bytes);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

async function* slices(source: string): AsyncGenerator<AsyncIterable<Buffer>> {
  yield await Promise.resolve(createReadStream(source));
}
