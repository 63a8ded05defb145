import { symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { AnyObject, Json } from '../../../../src/lib/json/index.ts';
import { planOutputs, type OutputPlan } from '../../../../src/runner/mapping/output/plan/plan.ts';
import { mappingError, ORIGIN, writeAll } from './support.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string | Buffer>>;

async function outWith(files: Files): Promise<string> {
  const out = await mkdtemp(path.join(tmpdir(), 'plan-'));
  folders.push(out);
  writeAll(out, files);
  return out;
}

async function plan(files: Files, mapping: Json = {}): Promise<OutputPlan> {
  const out = await outWith(files);
  return await planOutputs({ out, mapping: mapping as AnyObject, origin: ORIGIN }); // tests give objects
}

/** Returns the problems of a plan, each with its place below `out/` in front. */
async function problems(files: Files, mapping: Json = {}): Promise<string[]> {
  const out = await outWith(files);
  const error = await mappingError(planOutputs({ out, mapping: mapping as AnyObject, origin: ORIGIN }));
  expect(error.code).toBe('push.invalid');
  const told = error.details['problems'] as {
    message: string;
    file?: string;
    line?: number;
    path?: string;
  }[];
  return told.map(({ message, file, line, path: at }) => {
    const place = [file?.replace(`${out}/`, ''), line, at].filter((each) => each !== undefined).join(':');
    return `${place}: ${message}`;
  });
}

const manifest = (options: Json): string => JSON.stringify(options);

describe('what lies in out/', () => {
  test('is planned in the order of its names, without what begins with a dot', async () => {
    const { tables, files } = await plan({
      'tables/b.csv': 'id\n',
      'tables/a': 'id\n',
      'tables/.a.1234.tmp': 'half',
      'tables/c/2': '2\n',
      'tables/c/10': '10\n',
      'tables/c.manifest': manifest({ columns: ['id'] }),
      'files/z.txt': 'z',
      'state.json': '{}',
    });
    expect(tables.map(({ source, slices, bytes }) => ({ source, slices, bytes }))).toEqual([
      { source: 'a', slices: undefined, bytes: 3 },
      { source: 'b.csv', slices: undefined, bytes: 3 },
      { source: 'c', slices: ['10', '2'], bytes: 5 },
    ]);
    expect(files).toMatchObject([{ source: 'z.txt', isEncrypted: true, isPermanent: false, tags: [] }]);
  });

  test('that is odd is refused, all of it at once', async () => {
    const files = {
      'tables/alone.csv.manifest': '{}',
      'tables/deep/below/x': '1\n',
      'tables/deep.manifest': manifest({ columns: ['id'] }),
      'tables/sliced/manifest': '{}',
      'tables/sliced.manifest': manifest({ columns: ['id'] }),
      'tables/two\nlines': 'id\n',
      'files/lost.manifest': '{}',
    };
    expect(await problems(files)).toEqual([
      'tables: The name "two\\nlines" has characters that a name cannot have.',
      'tables/alone.csv.manifest: Found orphaned table manifest: "alone.csv.manifest"',
      'tables/deep/below: A sliced table has files in its folder, and no folders.',
      'tables/sliced/manifest: A slice cannot be named “manifest”: the list of the slices has that name in the storage.',
      "files/lost.manifest: Found orphaned file manifest: 'lost.manifest'",
    ]);
  });

  test('links are not followed, whatever they lead to', async () => {
    const out = await outWith({
      'tables/t': 'id\n',
      'tables/s/1': '1\n',
      'tables/s.manifest': '{"columns":["id"]}',
    });
    symlinkSync('/etc/hosts', path.join(out, 'tables', 'link'));
    symlinkSync('/etc/hosts', path.join(out, 'tables', 's', '2'));
    const error = await mappingError(planOutputs({ out, mapping: {}, origin: ORIGIN }));
    expect(error.message).toContain('“link” is a symbolic link. (');
    expect(error.message).toContain('“2” is a symbolic link. (');
    expect(error.message).toMatch(/^The output cannot be pushed: it has 2 problems\.\n- /);
  });
});

const withManifest = (text: string): Files => ({
  'tables/t': 'id,name\n1,Ann\n',
  'tables/t.manifest': text,
});

describe('a manifest', () => {
  test.each([
    ['{\n "columns": [,]\n}', ':2: The manifest is no JSON: A JSON value was expected at line 2, column 14.'],
    ['', ':1: The manifest is no JSON: The text ends too early at line 1, column 1.'],
    ['[1]', ': The manifest must be an object, but is a list.'],
    ['{"incremental":"yes"}', ':incremental: The manifest must be true or false, but is text.'],
    ['{"primary_key":["id",true]}', ':primary_key[1]: The manifest must be text, but is true.'],
    ['{"primary_key":"id"}', ':primary_key: The manifest must be a list, but is text.'],
    ['{"metadata":[{"key":"a"}]}', ':metadata[0]: The manifest has no “value”.'],
    ['{"delete_where_operator":"gt"}', ':delete_where_operator: The manifest must be one of “eq”, “ne”.'],
    [
      '{"schema":[{"name":"id","data_type":{"base":{"type":"TEXT"}}}]}',
      ':schema[0].data_type.base.type: The manifest must be one of “STRING”, “INTEGER”, “NUMERIC”, “FLOAT”, “BOOLEAN”, “DATE”, “TIMESTAMP”.',
    ],
    [
      '{"schema":[{"name":"id"}],"columns":["id"],"primary_key":[]}',
      ': The manifest has a “schema”, which takes the place of “columns”: use one or the other.',
    ],
  ])('%s is refused with its place', async (text, problem) => {
    expect(await problems(withManifest(text))).toEqual([`tables/t.manifest${problem}`]);
  });

  test('may have what other programs write for “nothing”', async () => {
    const text =
      '\uFEFF{"destination":null,"columns":{},"column_metadata":[],"primary_key":{"0":"id","3":"name"}}';
    expect((await plan(withManifest(text))).tables).toMatchObject([
      { primaryKey: ['id', 'name'], isHeader: true },
    ]);
  });

  test('may have numbers for names and values, which are taken as they are written', async () => {
    const filter = { column: '1', values_from_set: ['VALUE', true] };
    const text = JSON.stringify({
      columns: [1, 'name'],
      primary_key: [1],
      delete_where: [{ where_filters: [filter] }],
    });
    const exact = text.replace('"VALUE"', '12345678901234567890');
    const files = { 'tables/t': '1,Ann\n', 'tables/t.manifest': exact };
    expect((await plan(files)).tables).toMatchObject([
      {
        columns: ['1', 'name'],
        primaryKey: ['1'],
        deleteRows: [
          { whereFilters: [{ column: '1', operator: 'eq', values: ['12345678901234567890', 'true'] }] },
        ],
      },
    ]);
  });

  test('with a misspelt key is taken, with a warning', async () => {
    const { warnings } = await plan(withManifest('{"primary_keys":["id"],"something":1}'));
    expect(warnings).toEqual([
      expect.stringMatching(
        /t\.manifest: “primary_keys” is not known and is ignored\. Did you mean “primary_key”\?$/,
      ),
    ]);
  });
});

describe('the mapping', () => {
  test.each([
    [
      { tables: [{ source: 1 }] },
      'storage.output.tables[0].source: The output mapping must be text, but is a number.',
    ],
    [{ files: [{}] }, 'storage.output.files[0]: The output mapping has no “source”.'],
    [{ tables: 'all' }, 'storage.output.tables: The output mapping must be a list, but is text.'],
    [
      { tables: [{ source: 'user', destination: 'in.c-a.b' }] },
      'storage.output.tables[0].source: Table sources not found: "user"',
    ],
    [{ files: [{ source: 'x.pdf' }] }, 'storage.output.files[0].source: File sources not found: "x.pdf"'],
    [
      { default_bucket: 'main' },
      'storage.output.default_bucket: The default bucket cannot be used: “main” is no id of a bucket, such as in.c-main.',
    ],
  ])('%j is refused with its place', async (mapping, problem) => {
    expect(await problems({ 'tables/in.c-a.users': 'id\n' }, mapping)).toEqual([problem]);
  });

  test('a NUL byte is told with what to do about it', async () => {
    const out = await outWith({ 'tables/in.c-a.users': 'id,name\n1,a\0b\n' });
    const error = await mappingError(planOutputs({ out, mapping: {}, origin: ORIGIN }));
    expect(error.message).toContain('Line 2 (record 2): there is a NUL byte, which text can not hold');
    expect(error.hint).toContain('Write the file without NUL bytes, such as with U+FFFD in their place.');
  });

  test('the only problem is told with what to do about it', async () => {
    const out = await outWith({ 'tables/users.csv': 'id\n' });
    const mapping = { tables: [{ source: 'users', destination: 'in.c-a.b' }] };
    const error = await mappingError(planOutputs({ out, mapping, origin: ORIGIN }));
    expect(error.message).toBe('Table sources not found: "users"');
    const manifest = '{"destination":"in.c-my-api.people"}';
    const named = await outWith({
      'tables/my-api.people': 'id\n',
      'tables/my-api.people.manifest': manifest,
    });
    const short = { tables: [{ source: 'people', destination: 'in.c-a.b' }] };
    const other = await mappingError(planOutputs({ out: named, mapping: short, origin: ORIGIN }));
    expect(other.hint).toMatch(/^Did you mean “my-api\.people”/);
    expect(error.hint).toMatch(/^Did you mean “users\.csv”\?\nNothing was pushed, and nothing is lost/);
  });

  test('without a source it is for the file that is named as its destination', async () => {
    const { tables } = await plan(
      { 'tables/in.c-a.b': 'id\n' },
      { tables: [{ destination: 'in.c-a.b', incremental: true }] },
    );
    expect(tables).toMatchObject([{ source: 'in.c-a.b', destination: 'in.c-a.b', incremental: true }]);
  });
});

describe('columns', () => {
  const table = (content: string | Buffer, options: Json = {}): Files => ({
    'tables/t': content,
    'tables/t.manifest': manifest(options),
  });

  test.each<[string, Files, Json, string]>([
    [
      'a sliced table without columns',
      { 'tables/t/1': '1\n' },
      {},
      'tables/t: Sliced file "t" columns specification missing.',
    ],
    [
      'a sliced table with a header',
      { 'tables/t/1': 'a\n', 'tables/t.manifest': manifest({ columns: ['a'], has_header: true }) },
      {},
      'tables/t: “has_header” is not for sliced tables: their slices have none.',
    ],
    [
      'no header and no columns',
      table('1\n', { has_header: false }),
      {},
      'tables/t: The columns of “t” are not known: it has no header, and no “columns” are given.',
    ],
    [
      'an empty file',
      table(''),
      {},
      'tables/t: “t” is empty: it has not even a line with the names of its columns.',
    ],
    ['an empty name', table('id,,x\n'), {}, 'tables/t: In “t”, the name of column 2, "", is empty.'],
    [
      'a name of signs',
      table('id,***\n'),
      {},
      'tables/t: In “t”, the name of column 2, "***", has no letter or digit.',
    ],
    ['a blank first line', table('\nid\n'), {}, 'tables/t: In “t”, the name of column 1, "", is empty.'],
    [
      'one name twice',
      table('id,a b,ID\n'),
      {},
      'tables/t: In “t”, columns 1 and 3 have one name: "id", "ID".',
    ],
    [
      'one name twice, in a table',
      table('a b,a-b\n'),
      {},
      'tables/t: In “t”, columns 1 and 2 have one name: "a b", "a-b".',
    ],
    [
      'the time stamp',
      table('id,_timestamp\n'),
      {},
      'tables/t: In “t”, column 2 is “_timestamp”, which the storage keeps for itself.',
    ],
    [
      'the time stamp in the mapping',
      table('1,2\n'),
      { tables: [{ source: 't', destination: 'in.c-a.t', columns: ['id', '_TIMESTAMP'] }] },
      'tables/t: In “t”, column 2 is “_TIMESTAMP”, which the storage keeps for itself.',
    ],
    [
      'a name that is too long',
      table(`id,${'x'.repeat(65)}\n`),
      {},
      `tables/t: In “t”, the name of column 2, "${'x'.repeat(65)}", is longer than 64 characters.`,
    ],
    [
      'a header that is no UTF-8',
      table(Buffer.from('id,caf\xe9\n', 'latin1')),
      {},
      'tables/t:1: “t” cannot be read as CSV: Line 1 (record 1): the text is not UTF-8; save the file as UTF-8.',
    ],
    [
      'a header that never ends',
      table(`id,"${'x'.repeat(5 * 1024 * 1024)}`),
      {},
      'tables/t: “t” has a first line of more than 4 MiB.',
    ],
    [
      'a delimiter of two characters',
      table('id\n', { delimiter: '||' }),
      {},
      'tables/t: The CSV delimiter must be one ASCII character, but it is "||".',
    ],
    [
      'a key of other columns',
      table('id,name\n', { primary_key: ['nam', 'x'] }),
      {},
      'tables/t: The primary key of “t” has “nam”, “x”, which is no column of it.',
    ],
    [
      'a deletion without values',
      table('id\n', { delete_where_column: 'id' }),
      {},
      'tables/t: “delete_where_column” needs “delete_where_values”.',
    ],
    [
      'a deletion of everything',
      table('id\n', { delete_where: [{}] }),
      {},
      'tables/t: “delete_where” has an entry without a condition, which would delete all rows.',
    ],
  ])('%s', async (_, files, mapping, problem) => {
    expect(await problems(files, mapping)).toEqual([problem]);
  });

  test('are named as they are in the table, and so is the key', async () => {
    const { tables, warnings } = await plan(
      table('"Měna €","full ""name""",CTID\n', { primary_key: [' Měna €', ''] }),
    );
    expect(tables).toMatchObject([{ columns: ['Mena_EUR', 'full_name', 'CTID_'], primaryKey: ['Mena_EUR'] }]);
    expect(warnings).toEqual(['“t”: an empty name in the primary key is left out.']);
  });

  test('a header of a megabyte is read', async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `column_${String(i).padStart(44, '0')}`);
    const { tables } = await plan(table(`${names.join(',')}\n`));
    expect(tables[0]?.columns).toHaveLength(20_000);
  });
});

describe('destinations', () => {
  test.each([
    ['users', {}, 'in.c-ex-generic-v2-42.users'],
    ['users.csv', {}, 'in.c-ex-generic-v2-42.users'],
    ['in.c-main.users', {}, 'in.c-main.users'],
    ['users', { manifest: 'people' }, 'in.c-ex-generic-v2-42.people'],
    ['users', { manifest: 'out.c-main.people' }, 'out.c-main.people'],
    ['users', { manifest: 'in.c-main.people', mapping: 'in.c-main.staff' }, 'in.c-main.staff'],
    ['users', { bucket: 'out.c-other' }, 'out.c-other.users'],
    ['users', { bucket: 'out.c-other', manifest: 'in.c-main.people' }, 'in.c-main.people'],
  ])('%s with %j goes to %s', async (source, given: Record<string, string>, destination) => {
    const { manifest: named, mapping, bucket } = given;
    const { tables } = await plan(
      {
        [`tables/${source}`]: 'id\n',
        ...(named === undefined ? {} : { [`tables/${source}.manifest`]: manifest({ destination: named }) }),
      },
      {
        ...(mapping === undefined ? {} : { tables: [{ source, destination: mapping }] }),
        ...(bucket === undefined ? {} : { default_bucket: bucket }),
      },
    );
    expect(tables.map((each) => each.destination)).toEqual([destination]);
  });

  test.each([
    ['users', { destination: 'users' }, '“users” is no id of a table.'],
    ['users', { destination: 'in.c-main.users.more' }, '“in.c-main.users.more” is no id of a table.'],
    [
      'users',
      { destination: 'sys.c-main.users' },
      '“sys.c-main.users” is in a stage “sys”: there are “in” and “out”.',
    ],
    ['users', { destination: 'in.main.users' }, 'The name of the bucket “main” must begin with “c-”.'],
    [
      'users list.csv',
      {},
      'The name of the table “users list” may have letters, digits, “-” and “_”, and cannot begin with “_”.',
    ],
    ['main.users', {}, '“in.c-ex-generic-v2-42.main.users” is no id of a table.'],
  ])('%s with %j has none', async (source, options, reason) => {
    const mapping = 'destination' in options ? { tables: [{ source, ...options }] } : {};
    expect(await problems({ [`tables/${source}`]: 'id\n' }, mapping)).toEqual([
      `tables/${source}: Failed to resolve destination for output table "${source}". ${reason}`,
    ]);
  });

  test('a configuration that is named like no bucket has a default bucket all the same', async () => {
    const out = await outWith({ 'tables/t': 'id\n' });
    const origin = { ...ORIGIN, component: 'my.ex', configuration: 'Můj projekt (1)' };
    const { tables } = await planOutputs({ out, mapping: {}, origin });
    expect(tables[0]?.destination).toBe('in.c-my-ex-Muj-projekt-1.t');
  });

  test.each<[string, Json, Json, string]>([
    [
      'of which one replaces all',
      { incremental: true },
      {},
      'a load that is not incremental removes the rows of the others',
    ],
    [
      'with other keys',
      { incremental: true, primary_key: ['id'] },
      { incremental: true, primary_key: ['id', 'name'] },
      'their primary keys differ: (id) and (id, name)',
    ],
  ])('two sources %s cannot go to one table', async (_, one, two, reason) => {
    const destination = 'in.c-main.all';
    const mapping = {
      tables: [
        { source: 'a', destination, ...(one as object) },
        { source: 'b', destination, ...(two as object) },
      ],
    };
    expect(await problems({ 'tables/a': 'id,name\n', 'tables/b': 'id,name\n' }, mapping)).toEqual([
      `tables/a: “a” and “b” go to one table, in.c-main.all, but ${reason}.`,
    ]);
  });
});
