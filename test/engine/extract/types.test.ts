import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi } from '../../cli/support.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly widened: readonly object[];
}

interface Ran {
  readonly csv: string;
  readonly manifest: string;
  /** Type of each column. */
  readonly types: Readonly<Record<string, string>>;
  readonly widened: Readonly<Record<string, readonly object[]>>;
}

/** Runs a job over pages, given as JSON texts of their rows, in a data folder that may have a state. */
async function ran(
  pages: readonly string[],
  job: object = { types: true },
  before?: string,
): Promise<Ran & { folder: string }> {
  const api = await startApi(({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    response.writeHead(200, { 'content-type': 'application/json' }).end(`[${pages[page - 1] ?? ''}]`);
  });
  const config = configOf(api, [{ endpoint: 'rows', ...job }], {
    api: { pagination: { method: 'pagenum' } },
  });
  const folder = before ?? dataFolder(config);
  if (before !== undefined) writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  await run({ dataFolder: folder, log: silentLog });
  const files = filesOf(path.join(folder, 'out'));
  const [table] =
    (JSON.parse(files['report.json'] ?? '{}') as { types?: { columns: Column[] }[] }).types ?? [];
  return {
    folder,
    csv: files['tables/library.rows'] ?? '',
    manifest: files['tables/library.rows.manifest'] ?? '',
    types: Object.fromEntries(table?.columns.map(({ name, type }) => [name, type]) ?? []),
    widened: Object.fromEntries(table?.columns.map(({ name, widened }) => [name, widened]) ?? []),
  };
}

const PAGES = [
  '{"id":1,"price":1,"paid":true,"day":"2024-02-29","at":"2024-02-29T10:00:00Z","zip":"007","note":null,"tags":["a"]}',
  '{"id":2,"price":2.5,"paid":null,"day":null,"at":"2024-03-01 10:00:00\\u002B01:00","zip":"1","note":null,"tags":[]}',
  '{"id":9007199254740993,"price":10,"paid":false,"day":"2024-03-01 00:00:00","at":null,"zip":"","note":null,"tags":["b"]}',
];

describe('types of columns', () => {
  test('are those that all values fit, stand in the manifest, and leave the rows as they are', async () => {
    const { csv, manifest, types, widened } = await ran(PAGES);
    expect(types).toEqual({
      id: 'bigint',
      price: 'double',
      paid: 'boolean',
      day: 'timestamp',
      at: 'timestamptz',
      zip: 'text',
      note: 'text',
      tags: 'text',
    });
    expect(csv.split('\n')[3]).toMatch(
      /^"9007199254740993","10","false","2024-03-01 00:00:00","","","","rows_/,
    );
    expect(widened).toMatchObject({
      price: [{ from: 'bigint', to: 'double', page: 'parameters.config.jobs[0], page 2', value: '2.5' }],
      day: [{ from: 'date', to: 'timestamp', page: 'parameters.config.jobs[0], page 3' }],
      id: [],
    });
    const { schema, ...rest } = JSON.parse(manifest) as { schema: { name: string; data_type: object }[] };
    expect(rest).toEqual({ destination: 'in.c-library.rows', incremental: false, has_header: true });
    expect(schema.map(({ data_type: type }) => type)).toEqual(
      ['INTEGER', 'FLOAT', 'BOOLEAN', 'TIMESTAMP', 'TIMESTAMP', 'STRING', 'STRING', 'STRING'].map((type) => ({
        base: { type },
      })),
    );
    expect(schema[4]).toMatchObject({
      metadata: { 'KBC.datatype.type': 'TIMESTAMPTZ', 'KBC.datatype.basetype': 'TIMESTAMP' },
    });
  });

  test('are the same in any order of the pages', async () => {
    const first = await ran(PAGES);
    for (const [a = 0, b = 0, c = 0] of [
      [2, 1, 0],
      [1, 2, 0],
      [2, 0, 1],
    ]) {
      const { types } = await ran([PAGES[a] ?? '', PAGES[b] ?? '', PAGES[c] ?? '']);
      expect(types).toEqual(first.types);
    }
  });

  test('only widen from run to run, and a run says what widened them', async () => {
    const { folder, types } = await ran(['{"id":1,"n":0.5}', '{"id":2,"n":null}']);
    expect(types).toEqual({ id: 'bigint', n: 'double' });
    expect((await ran(['{"id":3,"n":7}'], { types: true }, folder)).types).toEqual({
      id: 'bigint',
      n: 'double',
    });
    const wide = await ran(['{"id":"x-4","n":12345678901234567.25}'], { types: true }, folder);
    expect(wide.types).toEqual({ id: 'text', n: 'decimal(38,9)' });
    expect(wide.widened).toMatchObject({
      id: [{ from: 'bigint', to: 'text', value: 'x-4' }],
      n: [{ from: 'double', to: 'decimal(38,9)', value: '12345678901234567.25' }],
    });
  });

  test('are not said without the option, nor where a job of the same table does without', async () => {
    const { manifest, types } = await ran(PAGES, {});
    expect(manifest).toBe('{"destination":"in.c-library.rows","incremental":false}');
    expect(types).toEqual({});
  });

  test('are text where null has a word that is no empty cell', async () => {
    const { types } = await ran(['{"a":1,"b":1}', '{"a":null,"b":2}'], { types: true, cells: 'json' });
    expect(types).toEqual({ a: 'text', b: 'bigint' });
  });

  test('of nested rows are told in their own table', async () => {
    const api = await startApi((_request, response) =>
      json(response, [{ id: 1, lines: [{ n: 1 }, { n: 2.5 }] }]),
    );
    const folder = dataFolder(configOf(api, [{ endpoint: 'rows', types: true }]));
    await run({ dataFolder: folder, log: silentLog });
    const manifest = JSON.parse(
      filesOf(path.join(folder, 'out/tables'))['library.rows_lines.manifest'] ?? '',
    ) as {
      schema: { name: string; data_type: { base: object } }[];
    };
    expect(manifest.schema.map(({ name, data_type: { base } }) => [name, base])).toEqual([
      ['n', { type: 'FLOAT' }],
      ['JSON_parentId', { type: 'STRING' }],
    ]);
  });
});

const column = (destination: string, more: object = {}): object => ({ mapping: { destination, ...more } });

async function mapped(
  rows: unknown[],
  mapping: object,
): Promise<{ csv: string; schema: readonly (readonly [string, string])[]; warned: readonly string[] }> {
  const api = await startApi((_request, response) => json(response, rows));
  const folder = dataFolder(
    configOf(api, [{ endpoint: 'rows' }], { config: { mappings: { rows: mapping } } }),
  );
  const warned: string[] = [];
  await run({ dataFolder: folder, log: { ...silentLog, warn: (text) => warned.push(text) } });
  const files = filesOf(path.join(folder, 'out/tables'));
  const manifest = JSON.parse(files['library.rows.manifest'] ?? '') as {
    schema: { name: string; data_type: { base: { type: string } }; primary_key: boolean }[];
  };
  return {
    csv: files['library.rows'] ?? '',
    schema: manifest.schema.map(({ name, data_type: { base } }) => [name, base.type]),
    warned,
  };
}

describe('types that a mapping gives by hand', () => {
  test('stand in the manifest, with JSON and truth values as they are', async () => {
    const { csv, schema } = await mapped(
      [
        { id: '7', paid: false, at: '2024-02-29', box: { a: [1] }, name: 'x' },
        { id: 8, paid: null, at: '', box: 'y' },
      ],
      {
        id: column('id', { primaryKey: true, type: 'bigint' }),
        paid: column('paid', { type: 'boolean' }),
        at: column('at', { type: 'date' }),
        box: { type: 'json', mapping: { destination: 'box' } },
        name: 'name',
      },
    );
    expect(schema).toEqual([
      ['id', 'INTEGER'],
      ['paid', 'BOOLEAN'],
      ['at', 'DATE'],
      ['box', 'STRING'],
      ['name', 'STRING'],
    ]);
    expect(csv.split('\n').slice(1, 3)).toEqual([
      '"7","false","2024-02-29","{""a"":[1]}","x"',
      '"8","","","""y""",""',
    ]);
  });

  test('end the run with row and page for a value that does not fit', async () => {
    const work = mapped([{ n: 1 }, { n: '007' }], { n: column('n', { type: 'bigint' }) });
    await expect(work).rejects.toThrow(
      '“007” is no bigint: it is for the column “n” of the table “rows”, in row 2 of parameters.config.jobs[0], page 1',
    );
  });

  test('make it null, or leave the row out, and say so', async () => {
    const rows = [
      { id: 1, n: 1, lines: [{ x: 1 }] },
      { id: 2, n: 'much' },
      { id: 'third', n: 3, lines: [{ x: 2 }] },
    ];
    const { csv, warned } = await mapped(rows, {
      id: column('id', { type: 'bigint', misfit: 'skip' }),
      n: column('n', { type: 'bigint', misfit: 'null' }),
    });
    expect(csv).toBe('"id","n"\n"1","1"\n"2",""\n');
    expect(warned).toEqual([
      expect.stringMatching(
        /^1 value of the column “n” did not fit bigint and was written as null .*“much” in row 2/,
      ),
      expect.stringMatching(
        /^1 value of the column “id” did not fit bigint and was left out with the row .*“third” in row 3/,
      ),
    ]);
  });

  test.each([
    [{ type: 'int' }, '`type` must be “text”, “boolean”'],
    [{ misfit: 'null' }, '“misfit” is'],
    [{ type: 'bigint', misfit: 'null', primaryKey: true }, 'primary key cannot be null'],
  ])('are refused as %j', async (more, message) => {
    await expect(mapped([], { n: column('n', more) })).rejects.toThrow(message);
  });
});
