import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { encodeRecord } from '../../../../src/engine/recording/format.ts';
import { streamRecords } from '../../../../src/engine/recording/record-stream.ts';
import type { RowOrigin } from '../../../../src/storage/protocol/row-origin.ts';
import { isDamagedRecord } from '../../../../src/service/domain/runs/damaged-record.ts';
import { readExplanation } from '../../../../src/service/domain/runs/explanation.ts';
import { findRecord, type WantedValue } from '../../../../src/service/domain/runs/find-record.ts';
import { json, runHere, startApi } from '../../../cli/support.ts';
import { metaOf } from '../../database.ts';
import { books, startWorld, type World } from './support.ts';

const PAGES = [
  [
    { id: 1, title: 'One', author: { name: 'Ann' } },
    { id: 2, title: 'Two', author: { name: 'Ben' } },
  ],
  [
    { id: 17, title: 'Seventeen', author: { name: 'Ann' } },
    { id: 3, title: 'Three', author: { name: 'Cy' } },
  ],
];

const bookApi = async () =>
  await startApi(({ url }, response) =>
    json(response, { data: PAGES[Number(url.searchParams.get('page')) - 1] ?? [] }),
  );

const paged = (url: string, config: object = {}): object => {
  const configuration = books(url, {
    incrementalOutput: true,
    jobs: [{ endpoint: 'books', dataField: 'data' }],
    mappings: {
      books: {
        id: { mapping: { destination: 'id', primaryKey: true } },
        title: { mapping: { destination: 'title' } },
        'author.name': { mapping: { destination: 'author' } },
      },
    },
    ...config,
  }) as { parameters: { api: object } };
  Object.assign(configuration.parameters.api, { pagination: { method: 'pagenum', firstPage: 1 } });
  return configuration;
};

const originOf = async (world: World, id: string) =>
  await world.call(
    'GET',
    `tables/in.c-library.books/row-origin?whereFilters[0][column]=id&whereFilters[0][values][0]=${id}`,
  );

describe('where a row comes from', () => {
  test('is its run, and the page that brought it', async () => {
    const api = await bookApi();
    const world = await startWorld();
    await world.configure('a', paged(api.url));
    const run = await world.ended((await world.start('a')).id);
    expect({ status: run.status, error: run.error }).toEqual({ status: 'success', error: null });
    expect((await originOf(world, '17')).body).toMatchObject({
      table: 'in.c-library.books',
      columns: ['id', 'title', 'author'],
      values: ['17', 'Seventeen', 'Ann'],
      isOnly: true,
      loads: [{ run: run.id, component: 'ex-generic-v2', configuration: 'a' }],
      request: {
        run: run.id,
        job: 'books',
        page: 2,
        request: { method: 'GET', url: `${api.url}books?page=2` },
        status: 200,
        path: 'data[0]',
        record: PAGES[1]?.[0],
        columns: ['id', 'title', 'author'],
        isSure: true,
      },
      unknown: [],
    });
    const asked = ['storage', 'tables', 'row', 'in.c-library.books', '--where', 'id=17'];
    const shown = await runHere([...asked, '--storage', world.addresses.url], {
      env: { KBC_TOKEN: world.token },
    });
    expect(shown.stdout).toContain(`GET ${api.url}books?page=2`);
    expect(shown.stdout).toContain(`run ${run.id} of ex-generic-v2/a`);
    expect(shown.stdout).toContain('data[0]');
    expect(await originOf(world, '99')).toMatchObject({ status: 404 });
  });

  test('is told apart from that of a run whose load was at work at the same time', async () => {
    const [first, second] = [
      await bookApi(),
      await startApi(({ url }, response) =>
        json(response, { data: url.searchParams.get('page') === '1' ? [{ id: 99, title: 'Late' }] : [] }),
      ),
    ];
    const world = await startWorld();
    await world.configure('a', paged(first.url));
    await world.configure('b', paged(second.url));
    const runs = [
      await world.ended((await world.start('a')).id),
      await world.ended((await world.start('b')).id),
    ];
    expect(runs.map(({ status, error }) => [status, error])).toEqual([
      ['success', null],
      ['success', null],
    ]);
    // As clocks that are apart leave them: each load is within the time of the other one.
    const meta = await metaOf(world.dir);
    const loads = meta.selectFrom('jobs').where('operation', 'in', ['tableImport', 'tableCreate']);
    const [times] = await loads
      .select(({ fn }) => [fn.min('created').as('from'), fn.max('ended').as('to')])
      .execute();
    if (times?.from == null || times.to == null) throw new Error('There are no loads.');
    await meta
      .updateTable('jobs')
      .set({ created: times.from, started: times.from, ended: times.to })
      .execute();
    await meta.destroy();
    for (const [i, id] of ['17', '99'].entries())
      expect((await originOf(world, id)).body).toMatchObject({
        loads: [{ run: runs[i]?.id }],
        request: { run: runs[i]?.id },
        unknown: [],
      });
  });

  test('says what the token may not see, and that more rows match', async () => {
    const api = await bookApi();
    const world = await startWorld();
    await world.configure('a', paged(api.url));
    const run = await world.ended((await world.start('a')).id);
    const limited = await world.call('POST', 'tokens', {
      description: 'reader',
      bucketPermissions: { 'in.c-library': 'read' },
    });
    const { token } = limited.body as { token: string };
    const seen = await world.call(
      'GET',
      'tables/in.c-library.books/row-origin?whereColumn=id&whereValues[]=17',
      undefined,
      { 'X-StorageApi-Token': token },
    );
    expect(seen.body).toMatchObject({
      loads: [{ run: run.id }],
      request: null,
      unknown: [`The answers of the run ${run.id} are not for this token.`],
    });
    const all = (await world.call('GET', 'tables/in.c-library.books/row-origin')).body as RowOrigin;
    expect(all.isOnly).toBe(false);
    expect(all.unknown).toContain('More rows match: this is one of them.');
  });
});

/** Writes over the files that the runs of a service have left. */
function damage(dir: string, how: (bytes: Buffer) => Buffer): void {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(
    (each) => each.isFile() && path.join(each.parentPath, each.name).includes('/recordings/'),
  );
  expect(files.length).toBeGreaterThan(1);
  for (const { parentPath, name } of files) {
    const file = path.join(parentPath, name);
    writeFileSync(file, how(readFileSync(file)));
  }
}

describe('what a run has left and was damaged since', () => {
  test.for<readonly [string, (bytes: Buffer) => Buffer]>([
    ['is cut', (bytes) => bytes.subarray(0, bytes.length - 5)],
    ['is empty', () => Buffer.alloc(0)],
    ['is another file', (bytes) => Buffer.alloc(bytes.length, 'no recording ')],
  ])('%s: the load is told all the same, and no answer is 500', async ([, how]) => {
    const api = await bookApi();
    const world = await startWorld();
    await world.configure('a', paged(api.url));
    const run = await world.ended((await world.start('a')).id);
    damage(world.dir, how);
    expect(await originOf(world, '17')).toMatchObject({
      status: 200,
      body: {
        loads: [{ run: run.id }],
        request: null,
        unknown: [
          `The recording of the run ${run.id} is damaged, and was looked through up to that place. A run that brings the row again leaves a whole one.`,
        ],
      },
    });
    for (const what of ['explanation', 'recording'] as const)
      expect(await world.call('GET', `runs/${run.id}/${what}`)).toMatchObject({
        status: 404,
        body: {
          error: `Run ${run.id} has no ${what} that can be read: its file is damaged. Run the source again for another one.`,
        },
      });
  });

  test('was never an explanation: so it is told, too', async () => {
    for (const content of [
      gzipSync('no explanation'),
      zstdCompressSync('no explanation\n'),
      zstdCompressSync('{"jobs":1}\n'),
      zstdCompressSync('{"jobs":[{"job":"books","requests":2}]}\n{}\n'),
      zstdCompressSync('null').subarray(0, 8),
    ])
      await expect(
        readExplanation(Readable.from([content]), { offset: 0, limit: 1 }).catch((error: unknown) => {
          if (isDamagedRecord(error)) return 'damaged';
          throw error;
        }),
      ).resolves.toBe('damaged');
  });
});

/** Reads bodies; `damaged` where it cannot go on. */
async function read(bytes: Buffer, most = 1000): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = [];
  // a few bytes at a time, as they come over a network
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) =>
    bytes.subarray(i * 7, (i + 1) * 7),
  );
  try {
    for await (const record of streamRecords(Readable.from(pieces), most))
      found.push(record.body?.toString());
  } catch (error) {
    if (!isDamagedRecord(error)) throw error;
    found.push('damaged');
  }
  return found;
}

describe('a recording that decompresses', () => {
  const body = Buffer.from('[1]');
  const one = Buffer.concat([encodeRecord('exchange', '{"at":1}', body), body]);
  const changed = (at: number): Buffer => {
    const bytes = Buffer.from(one);
    bytes.writeUInt8((bytes.readUInt8(at) + 1) % 256, at);
    return bytes;
  };
  test('is read to its end, also past bodies that are too large', async () => {
    expect(await read(Buffer.concat([one, one]))).toEqual(['[1]', '[1]']);
    expect(await read(Buffer.concat([one, one]), 2)).toEqual([undefined, undefined]);
    expect(await read(Buffer.alloc(0))).toEqual([]);
  });

  test.each([
    ['its kind', 3],
    ['the length of its text', 4],
    ['the length of its body', 8],
    ['the digest of its body', 12],
    ['its text', 22],
    ['its body', one.length - 1],
  ])('and has another byte in %s says so behind what was whole', async (_where, at) => {
    expect(await read(Buffer.concat([one, changed(at), one]))).toEqual(['[1]', 'damaged']);
  });

  test('and is cut anywhere says so, but between two records', async () => {
    for (let length = one.length + 1; length < 2 * one.length; length++)
      expect(await read(Buffer.concat([one, one]).subarray(0, length))).toEqual(['[1]', 'damaged']);
  });
});

const wanted = (values: Readonly<Record<string, string>>, ...keys: readonly string[]): WantedValue[] =>
  Object.entries(values).map(([column, text]) => ({ column, text, isKey: keys.includes(column) }));
const find = (body: unknown, values: readonly WantedValue[]) =>
  findRecord(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), values);

describe('the part of an answer that has a row', () => {
  test.for<readonly [string, unknown, WantedValue[], object | undefined]>([
    [
      'is a record of a list, and not the page',
      { total: 5, data: [{ id: 5 }, { id: 7, n: 'x' }] },
      wanted({ id: '7', n: 'x' }, 'id'),
      { path: 'data[1]', isSure: true },
    ],
    [
      'may be below another record',
      { data: [{ id: 1, items: [{ sku: 'a-1' }] }] },
      wanted({ sku: 'a-1' }, 'sku'),
      { path: 'data[0].items[0]', isSure: true },
    ],
    [
      'keeps large numbers as they came',
      '{"data":[{"id":12345678901234567890}]}',
      wanted({ id: '12345678901234567890' }, 'id'),
      { path: 'data[0]' },
    ],
    [
      'is unsure without the key',
      { data: [{ a: 'x', b: 'y' }] },
      wanted({ a: 'x', b: 'y', id: '9' }, 'id'),
      undefined,
    ],
    [
      'is likely by most values where the key is made',
      { data: [{ a: 'x', b: 'y' }] },
      wanted({ a: 'x', b: 'y', id: 'é-made' }, 'id'),
      { path: 'data[0]', isSure: false, columns: ['a', 'b'] },
    ],
    [
      'is not one of a single common value',
      { data: [{ a: 'x', b: 'q' }] },
      wanted({ a: 'x', b: 'y', c: 'z' }),
      undefined,
    ],
    [
      'is looked for in plain text',
      'id,name\n7,Ann\n',
      wanted({ id: '7', name: 'Ann' }, 'id'),
      { path: '', isSure: true },
    ],
    ['is not there', { data: [] }, wanted({ id: '7' }, 'id'), undefined],
  ])('%s', ([, body, values, expected]) => {
    const found = find(body, values);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});
