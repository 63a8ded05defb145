// Many small loads into one table of a lake over PostgreSQL and an object store, with maintenance between them, while an
// unmodified DuckDB in Python reads the table: files of the table, the time of a load, and reads that were wrong.
//
//   GEX_DUCKDB_EXTENSIONS=… node bench/lake-loads.ts DATABASE_URL --s3 http://127.0.0.1:9000 [--loads 1000]
//     [--every 100] [--python python3]
//
// The database is an empty one; the keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY. `pip install duckdb`
// of the version of this package; without it the table is loaded and not read. Ends with exit code 1 when a read or the
// table at the end was wrong.
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { createLakeEngine, type LakeEngine } from '../src/service/stores/tables/lake/engine.ts';
import { makeBucket } from './support/bucket.ts';
import { median, milliseconds, printTable } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { timeOf } from './support/psql.ts';

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    s3: { type: 'string', default: 'http://127.0.0.1:9000' },
    loads: { type: 'string', default: '1000' },
    every: { type: 'string', default: '100' },
    python: { type: 'string', default: 'python3' },
  },
});
const [url = ''] = positionals;
const { GEX_DUCKDB_EXTENSIONS: extensions = '' } = process.env;
const [loads, every] = [Number(given.loads), Number(given.every)];
const TABLE = { bucket: 'in.c-bench', table: 'loads' };
const TYPES = new Map([['n', 'bigint' as const]]);
const READER = new URL('support/lake-reader.py', import.meta.url).pathname;

await withFolder(async (folder) => {
  const pool = new Pool({ connectionString: url, max: 4 });
  await pool.query('create schema gex');
  const objects = await makeBucket(given.s3, `lake-loads-${process.pid}`);
  const engine = createLakeEngine({
    place: { kind: 'database', pool, url, schema: 'gex', objects, root: '' },
    workFolder: `${folder}/work`,
    extensions,
  });
  await engine.open();
  try {
    await load(engine, 'id,n\n', { create: { primaryKey: ['id'] } });
    const { accessKeyId, secretAccessKey } = objects.credentials;
    const reader = await startReader(accessKeyId, secretAccessKey);
    const [times, files]: [number[], number[]] = [[], []];
    for (let i = 0; i < loads; i++) {
      const rows = `id,n\n${i},${i}\n-${i},-${i}\nsame,0\n`;
      times.push(await timeOf(load(engine, rows, { incremental: true })));
      if ((i + 1) % every !== 0) continue;
      await engine.compact();
      files.push(await filesNow(pool));
    }
    const found = await reader?.stop();
    const quarter = Math.ceil(loads / 4);
    printTable(
      `${loads} loads of 3 rows, maintenance after each ${every}`,
      ['', ''],
      [
        ['a load, median of the first quarter', milliseconds(median(times.slice(0, quarter)))],
        ['a load, median of the last quarter', milliseconds(median(times.slice(-quarter)))],
        ['files of the table after maintenance, at most', String(Math.max(...files))],
        ['reads by Python meanwhile', found === undefined ? 'none: there is no duckdb' : String(found.reads)],
        ['of these wrong', String(found?.wrong ?? '')],
        [
          'rows that it saw at last, and the type of a number',
          found === undefined ? '' : `${found.rows}, ${found.type}`,
        ],
      ],
    );
    const { rows = 0 } = (await engine.describe(TABLE)) ?? {};
    const isRight =
      rows === 2 * loads + 1 && (found === undefined || (found.wrong === 0 && found.type === 'BIGINT'));
    if (!isRight) process.exitCode = 1;
  } finally {
    await engine.close();
    await pool.query('drop schema gex cascade; drop schema gex_lake cascade');
    await pool.end();
  }
});

async function load(
  engine: LakeEngine,
  csv: string,
  request: Omit<Parameters<LakeEngine['import']>[1], 'importedAt'>,
): Promise<void> {
  async function* slices(): AsyncGenerator<Readable> {
    yield await Promise.resolve(Readable.from([Buffer.from(csv)]));
  }
  await engine.import(TABLE, { importedAt: new Date(), types: TYPES, ...request }, slices());
}

async function filesNow(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ files: number }>(
    'select count(*)::int as files from gex_lake.ducklake_data_file where end_snapshot is null',
  );
  return rows[0]?.files ?? 0;
}

interface Reads {
  readonly duckdb: string;
  readonly reads: number;
  readonly wrong: number;
  readonly rows: number;
  readonly type: string;
}

interface Reader {
  stop(): Promise<Reads>;
}

/** Starts the reader; undefined where Python or its DuckDB is missing. */
async function startReader(key: string, secret: string): Promise<Reader | undefined> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const options = {
    extensions,
    key,
    secret,
    endpoint: new URL(given.s3).host,
    catalogue: `host=${hostname} port=${port || '5432'} user=${username} dbname=${pathname.slice(1)}${password === '' ? '' : ` password=${password}`}`,
    table: `"${TABLE.bucket}".${TABLE.table}`,
  };
  const child: ChildProcess = spawn(given.python, [READER, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [input, output] = [child.stdin, child.stdout];
  if (input === null || output === null) throw new Error('The reader has no input or output.');
  child.on('error', () => undefined);
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  if ((await lines.next()).done === true) return undefined;
  return {
    async stop() {
      input.end();
      const { value } = (await lines.next()) as { value: string };
      return JSON.parse(value) as Reads; // printed by the reader
    },
  };
}
