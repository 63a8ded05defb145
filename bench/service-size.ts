/**
 * How the storage service does with much in its folder: the time of a start, and of the lists that grow with it.
 *
 *   node bench/service-size.ts [--tables 5000] [--files 100000] [--versions 50000] [--rows 1500] [--real-tables 5000] [--json]
 *
 * Tables of the lists are put into the metadata alone; `--real-tables` are made in the table engine, whose memory is
 * measured. Run it after `npm run build`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { withFolder } from './support/folder.ts';
import { COMMAND } from './support/processes.ts';

const { values: options } = parseArgs({
  options: {
    tables: { type: 'string', default: '5000' },
    files: { type: 'string', default: '100000' },
    versions: { type: 'string', default: '50000' },
    rows: { type: 'string', default: '1500' },
    'real-tables': { type: 'string', default: '5000' },
    json: { type: 'boolean', default: false },
  },
});
const count = (name: 'files' | 'real-tables' | 'rows' | 'tables' | 'versions'): number =>
  Number(options[name]);
const API = '/v2/storage';
const CONFIGS = `${API}/components/ex-generic-v2/configs`;

await withFolder(async (folder) => {
  const figures: Record<string, number> = {};
  const dir = path.join(folder, 'storage');
  const first = await startService(dir);
  const { token } = first;
  await first.call('POST', CONFIGS, { name: 'Many rows', configurationId: 'rows' });
  const before = statSync(path.join(dir, 'meta.sqlite')).size;
  await inTurns(count('rows'), async (row) => {
    await first.call('POST', `${CONFIGS}/rows/rows`, { rowId: `row-${row}`, configuration: { row } });
  });
  await first.stop();
  figures['MB of a configuration with many rows'] =
    (statSync(path.join(dir, 'meta.sqlite')).size - before) / 1e6;
  fill(path.join(dir, 'meta.sqlite'));

  const starts: number[] = [];
  for (let n = 0; n < 3; n++) {
    const started = await startService(dir, token);
    starts.push(started.startMs);
    await started.stop();
  }
  figures['start, ms'] = median(starts);

  const service = await startService(dir, token);
  for (const [name, address] of Object.entries({
    'GET tables, ms': `${API}/tables`,
    'GET tables?include=columns, ms': `${API}/tables?include=columns`,
    'GET buckets, ms': `${API}/buckets`,
    'GET files, ms': `${API}/files?limit=200`,
    'GET versions of a configuration, ms': `${CONFIGS}/busy/versions`,
    'GET a configuration with many rows, ms': `${CONFIGS}/rows`,
    'GET its newest version, ms': `${CONFIGS}/rows/versions/${count('rows') + 1}`,
    'GET configurations, ms': CONFIGS,
  })) {
    const times: number[] = [];
    for (let n = 0; n < 5; n++) {
      const begin = performance.now();
      await service.call('GET', address);
      times.push(performance.now() - begin);
    }
    figures[name] = median(times);
  }
  await service.stop();

  const engine = await startService(path.join(folder, 'engine'));
  await engine.call('POST', `${API}/buckets`, { stage: 'in', name: 'real' });
  const rss = residentMb(engine.pid);
  await inTurns(count('real-tables'), async (table) => {
    await engine.call('POST', `${API}/buckets/in.c-real/tables-definition`, {
      name: `table-${table}`,
      primaryKeysNames: [],
      columns: [{ name: 'id' }, { name: 'name' }],
    });
  });
  figures['MB of memory for real tables, made'] = residentMb(engine.pid) - rss;
  await engine.stop();
  const again = await startService(path.join(folder, 'engine'), engine.token);
  const fresh = residentMb(again.pid);
  await again.call('GET', `${API}/tables/in.c-real.table-1/data-preview`);
  figures['MB of memory for real tables, after a start'] = residentMb(again.pid) - fresh;
  await again.stop();

  if (options.json) console.log(JSON.stringify(figures));
  else for (const [name, figure] of Object.entries(figures)) console.log(name.padEnd(46), figure.toFixed(1));
});

interface Service {
  readonly startMs: number;
  readonly token: string;
  readonly pid: number;
  call(method: string, path: string, body?: object): Promise<void>;
  stop(): Promise<void>;
}

async function startService(dir: string, token?: string): Promise<Service> {
  const ports = ['--port', '0', '--s3-port', '0', '--importer-port', '0'];
  const begin = performance.now();
  const child = spawn(process.execPath, [COMMAND, 'serve', '--dir', dir, ...ports], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const printed: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', value = ''] = line.split(/\s+/);
    printed[name] = value;
    if (name === (token === undefined ? 'token' : 'api')) break;
  }
  const startMs = performance.now() - begin;
  const known = token ?? printed['token'] ?? '';
  return {
    startMs,
    token: known,
    pid: child.pid ?? 0,
    async call(method, address, body) {
      const response = await fetch(`${printed['api']}${address}`, {
        method,
        headers: { 'X-StorageApi-Token': known, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${text.slice(0, 300)}`);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function inTurns(times: number, work: (n: number) => Promise<void>): Promise<void> {
  const numbers = Array.from({ length: times }, (_, n) => n).values();
  const one = async (): Promise<void> => {
    for (const n of numbers) await work(n);
  };
  await Promise.all(Array.from({ length: 8 }, one));
}

/** Puts what a long life leaves into the metadata: much faster than by as many requests. */
function fill(file: string): void {
  const database = new DatabaseSync(file);
  const now = new Date().toISOString();
  const later = new Date(Date.now() + 10 * 86_400_000).toISOString();
  const author = "1001, 'Master token'";
  const branch = '(select id from branches where is_default = 1)';
  database.exec(`
    begin;
    insert into buckets (branch_id, id, stage, name, display_name, description, backend, creator_id, creator_description, created)
      ${numbers(50)} select ${branch}, 'in.c-b' || i, 'in', 'c-b' || i, 'b' || i, '', 'snowflake', ${author}, '${now}' from n;
    insert into tables (branch_id, id, bucket_id, name, display_name, primary_key, is_typed, rows_count, data_bytes, revision, creator_id, creator_description, created, last_import, last_change)
      ${numbers(count('tables'))} select ${branch}, 'in.c-b' || (i % 50 + 1) || '.t' || i, 'in.c-b' || (i % 50 + 1), 't' || i, 't' || i, '["id"]', 0, i, i * 10, 1, ${author}, '${now}', '${now}', '${now}' from n;
    insert into table_columns (branch_id, table_id, name, position)
      ${numbers(10)} select branch_id, id, 'column' || i, i from tables, n;
    insert into metadata (id, branch_id, scope, owner, provider, key, value, timestamp)
      select 5000000 + row_number() over (), branch_id, 'table', id, 'system', 'KBC.createdBy.component.id', 'ex-generic-v2', '${now}' from tables;
    insert into metadata (id, branch_id, scope, owner, provider, key, value, timestamp)
      select 6000000 + row_number() over (), branch_id, 'column', table_id || '.' || name, 'system', 'KBC.datatype.basetype', 'STRING', '${now}' from table_columns where position <= 2;
    insert into files (id, branch_id, name, object_key, is_public, is_sliced, is_encrypted, size_bytes, max_age_days, expires, run_ids, creator_id, creator_description, created)
      ${numbers(count('files'))} select 1000000 + i, ${branch}, 'file' || i, 'exp-15/1/files/' || i, 0, 0, 0, 10, 15, '${later}', '[]', ${author}, '${now}' from n;
    insert into file_tags (file_id, position, tag) select id, 0, 'tag' || (id % 100) from files;
    insert into configurations (branch_id, component_id, configuration_id, version, is_deleted, state, created, creator_id, creator_description)
      values (${branch}, 'ex-generic-v2', 'busy', ${count('versions')}, 0, '{}', '${now}', ${author});
    insert into configuration_versions (branch_id, component_id, configuration_id, version, creator_id, creator_description, identifier, name, description, is_disabled, change_description, created, is_deleted, content_version)
      ${numbers(count('versions'))} select ${branch}, 'ex-generic-v2', 'busy', i, ${author}, 'v' || i, 'busy', '', 0, 'changed', '${now}', 0, i from n;
    insert into configuration_contents (branch_id, component_id, configuration_id, version, configuration)
      ${numbers(count('versions'))} select ${branch}, 'ex-generic-v2', 'busy', i, '{"text":"' || hex(randomblob(200)) || '"}' from n;
    commit;
  `);
  database.close();
}

/** The numbers from 1 on, as rows `n` of a column `i`. */
function numbers(count: number): string {
  return `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

/** Returns the resident memory of a process, if the system reports it. */
function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}
