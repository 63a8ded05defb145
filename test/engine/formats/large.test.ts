// @module-tag thorough
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi } from '../../cli/support.ts';
import { zipOf } from './zip.ts';

const ROWS = 400_000;
const env = { ...systemEnv, sleep: async () => {} };

/** About 20 MB, with a column that only the last row has a value in, and a secret in many places. */
const LINES = Array.from(
  { length: ROWS },
  (_, i) => `${i},"name ""${i}"" of s3cret-word",${'x'.repeat(i % 17)}`,
);
const CSV = Buffer.from(`id,name,filler\n${LINES.join('\n')}\n`);
const TABLE = `"id","name","filler"\n${LINES.map((line) => line.replace(/^(\d+),(".*"),(x*)$/, '"$1",$2,"$3"')).join('\n')}\n`;

const CSV_TYPE = { 'Content-Type': 'text/csv' };

function tableOf(folder: string, name = 'library.books'): string {
  return filesOf(path.join(folder, 'out/tables'))[name] ?? '';
}

describe('a body that is too large for memory', () => {
  test('becomes a table, and is taken from the recording when the run goes on', async () => {
    let isDown = true;
    const api = await startApi(({ url }, response) => {
      if (url.pathname === '/books') return response.writeHead(200, CSV_TYPE).end(CSV);
      if (isDown) return response.writeHead(404).end();
      // a column that comes late: what was written of the large body is written again, from the recording
      return json(response, [{ id: 'last', late: 'yes' }]);
    });
    const jobs = [
      { endpoint: 'books', dataType: 'books' },
      { endpoint: 'more', dataType: 'books' },
    ];
    const folder = dataFolder(configOf(api, jobs));
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow('404');
    expect(statSync(path.join(folder, '.gex/unfinished.recording')).size).toBeGreaterThan(CSV.length);
    isDown = false;
    await run({ dataFolder: folder, log: silentLog, env });
    expect(api.seen).toEqual(['GET /books', 'GET /more', 'GET /more']);
    const lines = TABLE.split('\n');
    const wanted = [
      '"id","name","filler","late"',
      ...lines.slice(1, -1).map((line) => `${line},""`),
      '"last","","","yes"',
      '',
    ];
    expect(tableOf(folder) === wanted.join('\n')).toBe(true);
  });

  test('that is cut is asked for again, and nothing of the first attempt is left in the recording', async () => {
    let attempts = 0;
    const api = await startApi(async (_, response) => {
      response.writeHead(200, { ...CSV_TYPE, 'Content-Length': CSV.length });
      if (++attempts > 1) return response.end(CSV);
      response.write(CSV.subarray(0, CSV.length - 1000));
      await delay(300);
      return response.destroy();
    });
    const retrying = { retryConfig: { maxRetries: 1 } };
    const folder = dataFolder(configOf(api, [{ endpoint: 'books', dataType: 'books' }], { api: retrying }));
    await run({ dataFolder: folder, log: silentLog, env });
    expect(attempts).toBe(2);
    expect(tableOf(folder) === TABLE).toBe(true);
    expect(statSync(path.join(folder, '.gex/last.recording')).size).toBeLessThan(CSV.length * 1.1);
    expect(readdirSync(path.join(folder, '.gex')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('of a run that is ended in the middle of it is asked for again, and nothing of it is left over', async () => {
    const ending = new AbortController();
    let attempts = 0;
    const api = await startApi(async (_, response) => {
      response.writeHead(200, CSV_TYPE);
      if (++attempts > 1) return response.end(CSV);
      response.write(CSV.subarray(0, CSV.length - 1000));
      await delay(300);
      return ending.abort(new Error('ended'));
    });
    const folder = dataFolder(configOf(api, [{ endpoint: 'books', dataType: 'books' }]));
    const { signal } = ending;
    await expect(run({ dataFolder: folder, log: silentLog, env, signal })).rejects.toThrow();
    await run({ dataFolder: folder, log: silentLog, env });
    expect(attempts).toBe(2);
    expect(tableOf(folder) === TABLE).toBe(true);
    expect(statSync(path.join(folder, '.gex/last.recording')).size).toBeLessThan(CSV.length * 1.1);
  });

  test.each(['gzip', 'zip'])('may be a %s file', async (kind) => {
    const body = kind === 'gzip' ? gzipSync(CSV) : zipOf([['a/books.csv', CSV]]);
    const api = await startApi((_, response) =>
      response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(body),
    );
    const job = { endpoint: 'books', dataType: 'books', format: 'csv' };
    const folder = dataFolder(configOf(api, [job]));
    await run({ dataFolder: folder, log: silentLog, env });
    expect(tableOf(folder) === TABLE).toBe(true);
  });

  test('is in a recording that is sent away, without secrets, and can be played again', async () => {
    const api = await startApi((_, response) => response.writeHead(200, CSV_TYPE).end(CSV));
    const config = configOf(api, [{ endpoint: 'books', dataType: 'books' }], {
      config: { '#token': 's3cret-word' },
    });
    const folder = dataFolder(config);
    const file = path.join(folder, 'books.gexr');
    await run({ dataFolder: folder, log: silentLog, env, record: file });
    expect(existsSync(file)).toBe(true);
    const other = dataFolder(config);
    await run({ dataFolder: other, log: silentLog, env, replay: file });
    const played = tableOf(other);
    expect(played === TABLE.replaceAll('s3cret-word', '***********')).toBe(true);
    expect(api.seen).toHaveLength(1);
  });

  test('that is broken far inside ends the run with its line, and no table is written', async () => {
    const broken = Buffer.concat([CSV, Buffer.from('400001,"open\n')]);
    const api = await startApi((_, response) => response.writeHead(200, CSV_TYPE).end(broken));
    const folder = dataFolder(configOf(api, [{ endpoint: 'books', dataType: 'books' }]));
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow(
      `Line ${ROWS + 2} (record ${ROWS + 2}): a quoted cell starts here and never ends`,
    );
    expect(filesOf(path.join(folder, 'out'))).toEqual({});
  });

  test('larger than the limit that was given is refused', async () => {
    const api = await startApi((_, response) => response.writeHead(200, CSV_TYPE).end(CSV));
    const http = { maxBodyBytes: 18_000_000 };
    const folder = dataFolder(configOf(api, [{ endpoint: 'books', dataType: 'books' }], { api: { http } }));
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow(
      'larger than 18000000 bytes',
    );
  });
});

describe('a page of JSON that is too large for memory', () => {
  const rows = LINES.map((_, i) => ({
    id: i,
    name: `name "${i}" of s3cret-word`,
    filler: 'x'.repeat(i % 17),
  }));
  const page = Buffer.from(JSON.stringify({ total: ROWS + 1, data: rows, next: 'more' }));
  const paged = { pagination: { method: 'response.param', responseParam: 'next', queryParam: 'after' } };
  const job = { endpoint: 'books', dataType: 'books', dataField: 'data' };
  const lines = TABLE.split('\n').slice(1, -1);
  const late = [
    '"id","name","filler","late"',
    ...lines.map((line) => `${line},""`),
    '"last","","","yes"',
    '',
  ].join('\n');

  test.each(['as it is', 'gzip', 'a file'])('becomes a table with what follows it: %s', async (how) => {
    let isDown = true;
    const api = await startApi(({ url }, response) => {
      if (url.searchParams.get('after') === null)
        return response
          .writeHead(200, {
            'Content-Type': how === 'a file' ? 'application/octet-stream' : 'application/json',
            ...(how === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}),
          })
          .end(how === 'gzip' ? gzipSync(page) : page);
      if (isDown) return response.writeHead(404).end();
      // a column that comes late: what was written of the large page is written again, from the recording
      return json(response, { data: [{ id: 'last', late: 'yes' }] });
    });
    const folder = dataFolder(configOf(api, [job], { api: paged }));
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow('404');
    isDown = false;
    await run({ dataFolder: folder, log: silentLog, env });
    expect(api.seen).toEqual(['GET /books', 'GET /books?after=more', 'GET /books?after=more']);
    expect(tableOf(folder) === late).toBe(true);
  });

  test('has its rows changed, and is played again without secrets', async () => {
    const api = await startApi((_, response) => json(response, { data: rows }));
    const where = { value: 'id', is: 'in', than: [0, 1, 2] };
    const config = configOf(api, [{ ...job, where }], {
      config: { '#token': 's3cret-word' },
    });
    const folder = dataFolder(config);
    const file = path.join(folder, 'books.gexr');
    await run({ dataFolder: folder, log: silentLog, env, record: file });
    const wanted = TABLE.split('\n').slice(0, 4).join('\n');
    expect(tableOf(folder).trimEnd()).toBe(wanted);
    const other = dataFolder(config);
    await run({ dataFolder: other, log: silentLog, env, replay: file });
    expect(tableOf(other).trimEnd()).toBe(wanted.replaceAll('s3cret-word', '***********'));
  });

  test('that is broken far inside ends the run with its place, and no table is written', async () => {
    const broken = Buffer.concat([page.subarray(0, -20), Buffer.from(',nothing]}')]);
    const api = await startApi((_, response) => response.end(broken));
    const folder = dataFolder(configOf(api, [job]));
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow(/not JSON: .* column \d+/);
    expect(filesOf(path.join(folder, 'out'))).toEqual({});
  });
});
