import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Io } from '../../src/cli/command.ts';
import { helpOf } from '../../src/cli/help.ts';
import { descend, parseLine } from '../../src/cli/parse.ts';
import { storageGroup, withStorage } from '../../src/cli/storage.ts';
import { createTransferLine } from '../../src/cli/storage/storage-command.ts';
import { ExtractorError } from '../../src/lib/errors.ts';
import type { Job } from '../../src/storage/client/index.ts';
import { plainText } from '../../src/lib/logging/lines.ts';
import { Secrets } from '../../src/lib/secrets.ts';
import { startService, type Running } from '../service/harness.ts';
import { gex, startGex } from './support.ts';
import { MAIN } from '../support/command.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-storage-'));
const file = (name: string, content?: string | Uint8Array): string => {
  const full = path.join(folder, name);
  mkdirSync(path.dirname(full), { recursive: true });
  if (content !== undefined) writeFileSync(full, content);
  return full;
};
let running: Running;
beforeAll(async () => {
  running = await startService({ dir: file('storage') });
});
afterAll(async () => {
  await running.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Done {
  readonly out: string;
  readonly notes: string;
}

/** Runs `gex storage …` over the served folder, in this process. */
async function storage(...words: readonly string[]): Promise<Done> {
  return await storageWith(new AbortController().signal, words);
}

async function storageWith(signal: AbortSignal, words: readonly string[]): Promise<Done> {
  const place = await descend({
    script: 'gex',
    describe: '',
    entries: [storageGroup],
    argv: ['storage', ...words],
  });
  const whole = { ...place, argv: [...place.argv, '--storage', running.dir, '--log-level', 'warn'] };
  let out = '';
  let notes = '';
  const print = (text: string): string => (out += `${text}\n`);
  if (place.argv.includes('--help')) return { out: helpOf(place), notes };
  const parsed = parseLine(whole);
  const io: Io = {
    print,
    async send(bytes) {
      for await (const chunk of bytes) out += Buffer.from(chunk).toString('utf8');
    },
    note: (line) => (notes += `${plainText(line)}\n`),
    live: () => {},
    isTerminal: false,
    secrets: new Secrets(),
    signal,
  };
  expect(await parsed.command.run(parsed.args, io)).toBe(0);
  return { out, notes };
}

async function json(...words: readonly string[]): Promise<unknown> {
  return JSON.parse((await storage(...words, '--json')).out);
}

async function failure(...words: readonly string[]): Promise<ExtractorError> {
  try {
    await storage(...words);
  } catch (error) {
    if (error instanceof ExtractorError) return error;
    throw error;
  }
  throw new Error(`It worked: ${words.join(' ')}`);
}

const PEOPLE = 'id,name,age\n1,Ann,18\n2,Bob,7\n3,Cid,70\n';
let count = 0;

/** A table of its own with three people. */
async function people(): Promise<string> {
  const bucket = `people${++count}`;
  await storage('buckets', 'create', bucket);
  const table = `in.c-${bucket}.people`;
  await storage('tables', 'create', `in.c-${bucket}`, file('people.csv', PEOPLE), '--primary-key', 'id');
  return table;
}

describe('buckets', () => {
  test('are created, listed, shown and deleted', async () => {
    expect(
      (await storage('buckets', 'create', 'shop', '--stage', 'out', '--description', 'Orders')).out,
    ).toBe('created out.c-shop\n');
    expect(await json('buckets', 'show', 'out.c-shop')).toMatchObject({
      stage: 'out',
      description: 'Orders',
    });
    expect((await storage('buckets', 'list')).out).toMatch(
      /^out\.c-shop +0 +0 B +\d{4}-\d\d-\d\dT[\d:]+Z  Orders$/m,
    );
    expect((await storage('buckets', 'show', 'out.c-shop')).out).toMatch(/^description +Orders$/m);
    expect((await storage('buckets', 'delete', 'out.c-shop')).out).toBe('deleted out.c-shop\n');
    expect((await failure('buckets', 'show', 'out.c-shop')).code).toBe('storage.notFound');
  });

  test('with tables are deleted only by force, and what is gone is told', async () => {
    const table = await people();
    const bucket = table.replace(/\.people$/, '');
    expect((await storage('buckets', 'show', bucket)).out).toContain(`${table}     3`);
    expect((await failure('buckets', 'delete', bucket)).hint).toBe('With --force they are deleted, too.');
    expect((await failure('buckets', 'create', 'out.c-shop')).hint).toContain('create shop --stage out');
    expect((await storage('buckets', 'delete', bucket, '--force')).out).toBe(
      `deleted ${bucket} with 1 table (3 rows)\n`,
    );
  });
});

describe('tables', () => {
  test('are created from a file, whose upload is not left behind', async () => {
    await storage('buckets', 'create', 'made');
    const source = file('Made here.csv', PEOPLE);
    expect((await storage('tables', 'create', 'in.c-made', source)).out).toBe(
      'created in.c-made.Made_here with 3 rows\n',
    );
    expect((await storage('files', 'list')).out).not.toContain('Made here');
    expect(await json('tables', 'list', '--bucket', 'in.c-made')).toMatchObject([
      { id: 'in.c-made.Made_here', rowsCount: 3, primaryKey: [] },
    ]);
  });

  test('that cannot be made or loaded leave no upload behind', async () => {
    const table = await people();
    const bucket = table.replace(/\.people$/, '');
    const ragged = file('ragged.csv', 'id,name,age\n1\n');
    expect((await failure('tables', 'load', table, ragged)).code).toBe('storage.jobFailed');
    expect((await failure('tables', 'create', bucket, ragged, '--name', 'people')).code).toBe(
      'storage.refused',
    );
    expect((await storage('files', 'list')).out).not.toContain('ragged');
  });

  test('are shown with their columns and key', async () => {
    const table = await people();
    const { out } = await storage('tables', 'show', table);
    expect(out).toMatch(/^key +id$/m);
    expect(out).toMatch(/^columns +id\n +name\n +age$/m);
    expect((await storage('tables', 'list')).out).toMatch(
      new RegExp(`^${table} +3 +\\d+ B  id +\\d{4}-`, 'm'),
    );
  });

  test('are shown by the last part of an id that one alone has, and without the word “storage”', async () => {
    const [one, other] = [await people(), await people()];
    const bucket = one.slice(0, one.lastIndexOf('.'));
    await storage('tables', 'create', bucket, file('alone.csv', PEOPLE));
    const { out } = await storageWith(new AbortController().signal, ['tables', 'show', 'alone']);
    expect(out).toContain(`${bucket}.alone`);
    const ambiguous = await failure('tables', 'show', 'people');
    expect(ambiguous.hint).toMatch(/^There is: in\.c-people\d+\.people, /);
    expect(ambiguous.hint).not.toContain('alone');
    expect(withStorage(['tables', 'show', other])).toEqual(['storage', 'tables', 'show', other]);
    expect(withStorage(['runs', 'tables'])).toEqual(['runs', 'tables']);
  });

  test('are previewed by conditions, with numbers compared as numbers', async () => {
    const table = await people();
    expect(
      (await storage('tables', 'preview', table, '--columns', 'name,age', '--where', 'age>=18')).out,
    ).toBe('name  age\nAnn   18\nCid   70\n');
    const either = ['--where', 'name=Ann', '--where', 'name=Bob', '--where', 'id<2'];
    expect(await json('tables', 'preview', table, ...either)).toEqual({
      columns: ['id', 'name', 'age'],
      rows: [['1', 'Ann', '18']],
      cut: [],
    });
    expect((await storage('tables', 'preview', table, '--where', 'name!=Ann', '--limit', '1')).out).toContain(
      'Bob',
    );
    expect((await storage('tables', 'preview', table, '--where', 'name=')).out).toBe('No rows.\n');
    const wrong = await failure('tables', 'preview', table, '--where', 'name is Ann');
    expect(wrong).toMatchObject({ code: 'command.invalid' });
    expect(wrong.hint).toContain('--where status=open');
  });

  test('are loaded anew, added to, and read in other dialects', async () => {
    const table = await people();
    const more = file('more.csv', 'id,name,age\n3,Cyd,71\n4,Dan,1\n');
    expect((await storage('tables', 'load', table, more, '--incremental')).out).toBe(
      `loaded 2 rows; ${table} has 4 rows\n`,
    );
    const other = file('other.txt', "9\t'a\tb'\t5\n");
    const dialect = ['--delimiter', '\\t', '--enclosure', "'", '--columns', 'id,name,age'];
    await storage('tables', 'load', table, other, ...dialect);
    expect(await json('tables', 'preview', table)).toMatchObject({ rows: [['9', 'a\tb', '5']] });
    const plain = file('plain.csv', 'id,name,age\n8,"x,1\n');
    await storage('tables', 'load', table, plain, '--enclosure', 'none');
    expect(await json('tables', 'preview', table)).toMatchObject({ rows: [['8', '"x', '1']] });
    await storage('tables', 'load', table, file('packed.csv.gz', gzipSync(PEOPLE)));
    expect(await json('tables', 'show', table)).toMatchObject({ rowsCount: 3 });
    expect((await failure('tables', 'load', table, more, '--delimiter', ';;')).message).toContain('one sign');
  });

  test('are exported to stdout and to files, compressed when that is asked for', async () => {
    const table = await people();
    const rows = PEOPLE.replace(/^.*\n/, '').replaceAll(/[^,\n]+/g, '"$&"');
    expect((await storage('tables', 'export', table)).out).toBe(`"id","name","age"\n${rows}`);
    const some = ['--columns', 'name', '--where', 'age<18', '--no-header', '--limit', '5'];
    expect((await storage('tables', 'export', table, '-', ...some)).out).toBe('"Bob"\n');
    const target = file('exported/people.csv.gz');
    expect(await json('tables', 'export', table, target, '--gzip')).toEqual({
      table,
      file: target,
      bytes: readFileSync(target).length,
    });
    expect(gunzipSync(readFileSync(target)).toString()).toBe(`"id","name","age"\n${rows}`);
    expect(readdirSync(path.dirname(target))).toEqual(['people.csv.gz']);
    const nowhere = await failure('tables', 'export', table, path.join(folder, 'no', 'such.csv'));
    expect(nowhere.code).toBe('output.failed');
  });

  test('are exported as Parquet, lines of JSON and workbooks, with the types of the table', async () => {
    await storage('buckets', 'create', 'typed');
    const table = 'in.c-typed.orders';
    const columns = [
      { name: 'id', basetype: 'INTEGER' },
      { name: 'price', definition: { type: 'NUMERIC', length: '20,2' } },
      { name: 'day', basetype: 'DATE' },
      { name: 'note' },
    ];
    const definition = { name: 'orders', columns };
    await running.call('POST', '/v2/storage/buckets/in.c-typed/tables-definition', definition);
    const rows = 'id,price,day,note\n7,12345678901234567.25,2024-02-29,\n8,,,"a\n""b"""\n';
    await expect.poll(async () => (await storage('tables', 'list')).out).toContain(table);
    await storage('tables', 'load', table, file('orders.csv', rows));
    const target = file('typed/orders.parquet');
    await storage('tables', 'export', table, target, '--format', 'parquet');
    const database = await DuckDBInstance.create(':memory:');
    const connection = await database.connect();
    const read = await connection.runAndReadAll(
      `SELECT typeof(id), typeof(price), typeof(day), typeof(note), price::VARCHAR, note FROM '${target}' ORDER BY id`,
    );
    expect(read.getRows()).toEqual([
      ['BIGINT', 'DECIMAL(20,2)', 'DATE', 'VARCHAR', '12345678901234567.25', ''],
      ['BIGINT', 'DECIMAL(20,2)', 'DATE', 'VARCHAR', null, 'a\n"b"'],
    ]);
    connection.closeSync();
    database.closeSync();
    const lines = file('typed/orders.jsonl');
    const some = ['--where', 'id=7', '--columns', 'id,day'];
    await storage('tables', 'export', table, lines, '--format', 'jsonl', ...some);
    expect(readFileSync(lines, 'utf8')).toBe('{"id":7,"day":"2024-02-29"}\n');

    const misfit = await failure('tables', 'load', table, file('odd.csv', 'id,price,day,note\nmany,1,,\n'));
    expect(misfit.message).toContain('row 1: the value "many" of the column "id"');
    // It is a decimal, and has more digits than this one.
    const long = '1234567890123456789012.25';
    await storage('tables', 'load', table, file('odd.csv', `id,price,day,note\n1,${long},,\n`));
    const odd = file('typed/odd.parquet');
    const failed = await failure('tables', 'export', table, odd, '--format', 'parquet');
    expect(failed.code).toBe('storage.jobFailed');
    expect(failed.message).toContain(long);
    expect(readdirSync(path.dirname(target)).toSorted()).toEqual(['orders.jsonl', 'orders.parquet']);
    const sheet = file('typed/orders.xlsx');
    await storage('tables', 'export', table, sheet, '--format', 'xlsx', '--columns', 'id,note');
    expect(readFileSync(sheet).subarray(0, 4).toString('latin1')).toBe('PK\u0003\u0004');
    const toStdout = await failure('tables', 'export', table, '-', '--format', 'jsonl');
    expect(toStdout.message).toContain('needs a file');
    const zipped = await failure('tables', 'export', table, odd, '--format', 'jsonl', '--gzip');
    expect(zipped.message).toContain('for CSV');
  });

  test('get and lose columns and keys', async () => {
    const table = await people();
    await storage('tables', 'add-column', table, 'email');
    expect((await storage('tables', 'delete-column', table, 'name')).out).toBe(
      `deleted name from ${table}\n`,
    );
    expect(await json('tables', 'show', table)).toMatchObject({ columns: ['id', 'age', 'email'] });
    expect((await storage('tables', 'set-key', table, '--columns', 'id, age')).out).toBe(
      `${table}: id, age\n`,
    );
    // Two rows would have the same key, so the old one stays.
    expect((await failure('tables', 'set-key', table, '--columns', 'email')).code).toBe('storage.jobFailed');
    expect(await json('tables', 'show', table)).toMatchObject({ primaryKey: ['id', 'age'] });
    expect(await json('tables', 'set-key', table, '--none')).toMatchObject({ primaryKey: [] });
    for (const wrong of [[], ['--none', '--columns', 'id']])
      expect((await failure('tables', 'set-key', table, ...wrong)).message).toBe(
        'Write either --columns or --none.',
      );
  });

  test('lose rows only by a condition or by --all', async () => {
    const table = await people();
    expect((await storage('tables', 'delete-rows', table, '--where', 'age=70')).out).toBe(
      `deleted 1 row of ${table}\n`,
    );
    expect((await failure('tables', 'delete-rows', table)).message).toBe('Write either --where or --all.');
    expect((await failure('tables', 'delete-rows', table, '--where', 'age>1')).hint).toMatch(
      /the signs are = !=$/,
    );
    expect(await json('tables', 'delete-rows', table, '--changed-until', '2001-01-01')).toEqual({
      deletedRows: 0,
    });
    expect(await json('tables', 'delete-rows', table, '--all')).toMatchObject({ deletedRows: 2 });
  });

  test('are deleted by their exact id, and it is told what is gone', async () => {
    const table = await people();
    const missing = await failure('tables', 'delete', table.replace('people', 'peple'));
    expect(missing).toMatchObject({ code: 'storage.notFound', hint: `Did you mean ${table}?` });
    const far = await failure('tables', 'show', 'in.c-elsewhere.of_another_name');
    expect(far.hint).toMatch(/^There is: in\.c-/);
    expect((await storage('tables', 'delete', table)).out).toMatch(
      new RegExp(`^deleted ${table.replaceAll('.', '\\.')} \\(3 rows, \\d+ B\\)\n$`),
    );
    expect((await failure('tables', 'load', table, file('people.csv', PEOPLE))).code).toBe(
      'storage.notFound',
    );
  });

  test('cannot be made of what is no file', async () => {
    await storage('buckets', 'create', 'wrong');
    const missing = await failure('tables', 'create', 'in.c-wrong', file('none.csv'));
    expect(missing).toMatchObject({ code: 'command.invalid', where: { file: file('none.csv') } });
    expect((await failure('tables', 'create', 'in.c-wrong', folder)).message).toContain('is a folder');
    const near = await failure('tables', 'create', 'out.c-wrong', file('people.csv', PEOPLE));
    expect(near.hint).toBe(
      'Did you mean in.c-wrong?\ngex storage buckets create wrong --stage out makes a new one.',
    );
    const far = await failure('tables', 'create', 'faraway_one', file('people.csv', PEOPLE));
    expect(far.hint).toMatch(/^There is: .*\ngex storage buckets create faraway_one makes a new one\.$/);
    expect((await failure('tables', 'create', 'in.c-wrong', file('§.csv', PEOPLE))).hint).toContain('--name');
  });
});

describe('files', () => {
  test('are uploaded with tags, found by them, downloaded and deleted', async () => {
    const [a, b] = [file('a.txt', 'first'), file('b.txt', 'second')];
    const [first, second] = (await json(
      'files',
      'upload',
      a,
      b,
      '--tag',
      'x1',
      '--tag',
      'x2',
      '--permanent',
    )) as {
      id: number;
      name: string;
      uploadParams?: unknown;
    }[];
    expect(first).toMatchObject({ name: 'a.txt', tags: ['x1', 'x2'], maxAgeDays: null });
    expect(first).not.toHaveProperty('uploadParams');
    expect(await json('files', 'list', '--tag', 'x1', '--limit', '1')).toMatchObject([{ id: second?.id }]);
    expect(await json('files', 'list', '--query', 'name:a.txt')).toMatchObject([{ id: first?.id }]);
    const { out } = await storage('files', 'show', String(first?.id));
    expect(out).toMatch(/^kept +for good$/m);
    expect(out).toMatch(/^tags +x1\n +x2$/m);
    expect((await storage('files', 'download', String(first?.id), '-')).out).toBe('first');
    const target = file('downloads/');
    mkdirSync(target, { recursive: true });
    expect((await storage('files', 'download', String(second?.id), target)).out).toBe(
      `${path.join(target, 'b.txt')}: 6 B\n`,
    );
    expect(readFileSync(path.join(target, 'b.txt'), 'utf8')).toBe('second');
    expect((await storage('files', 'delete', String(first?.id), String(second?.id))).out).toBe(
      `deleted ${first?.id} (a.txt, 5 B)\ndeleted ${second?.id} (b.txt, 6 B)\n`,
    );
    expect((await storage('files', 'list', '--tag', 'x1')).out).toBe('There are no such files.\n');
  });

  test('are tagged and untagged', async () => {
    const [made] = (await json('files', 'upload', file('t.txt', 't'))) as { id: number }[];
    const id = made?.id;
    expect((await storage('files', 'tag', String(id), 'one', 'a/b')).out).toBe(`${id}: one, a/b\n`);
    expect((await storage('files', 'untag', String(id), 'one', 'a/b')).out).toBe(`${id}: no tags\n`);
    expect((await failure('files', 'tag', 'one', 'x')).message).toBe('<id> is a number, and not “one”.');
  });

  test('of several slices are made of a folder, and come back as one', async () => {
    const slices = ['1,a\n', '2,b\n', '3,c\n'];
    for (const [i, text] of slices.entries()) file(`slices/part-${i}`, text);
    const [made] = (await json('files', 'upload', file('slices'), '--sliced', '--gzip', '--name', 'all')) as {
      id: number;
    }[];
    expect(made).toMatchObject({ name: 'all.gz', isSliced: true });
    expect(
      (await storage('files', 'download', String(made?.id), '-', '--gunzip', '--header', 'id,name')).out,
    ).toBe(`"id","name"\n${slices.join('')}`);
    expect((await failure('files', 'upload', file('slices'))).hint).toContain('--sliced');
    const plain = file('plain.txt', 'x');
    expect((await failure('files', 'upload', plain, '--sliced')).message).toContain('is a file');
    const taken = file('taken/');
    mkdirSync(path.join(taken, 'all.gz'), { recursive: true });
    expect((await failure('files', 'download', String(made?.id), taken)).message).toBe(
      `${path.join(taken, 'all.gz')} is a folder, so no file can be written there.`,
    );
    expect(readdirSync(taken)).toEqual(['all.gz']);
    expect((await failure('files', 'upload', 'a', 'b', '--name', 'c')).message).toContain(
      '--name is for one file',
    );
  });

  test('with a path for a name are kept below the folder', async () => {
    const [made] = (await json('files', 'upload', file('e.txt', 'evil'), '--name', '../../escaped.txt')) as {
      id: number;
    }[];
    const target = file('inside/');
    mkdirSync(target, { recursive: true });
    await storage('files', 'download', String(made?.id), target);
    expect(readdirSync(target)).toEqual(['escaped.txt']);
  });
});

describe('jobs', () => {
  test('are listed, shown and waited for', async () => {
    const table = await people();
    const [job] = (await json('jobs', 'list', '--limit', '1')) as { id: number }[];
    expect(job).toMatchObject({ operationName: 'tableCreate', status: 'success' });
    expect((await storage('jobs', 'list')).out).toMatch(
      new RegExp(`^${job?.id} +tableCreate .* success `, 'm'),
    );
    expect((await storage('jobs', 'show', String(job?.id))).out).toContain(`"id": "${table}"`);
    expect(await json('jobs', 'wait', String(job?.id), '--timeout', '5')).toMatchObject({ id: job?.id });
    expect(await json('jobs', 'list', '--status', 'waiting', '--status', 'processing')).toEqual([]);
  });

  test('that failed say why', async () => {
    const table = await people();
    const error = await failure('tables', 'load', table, file('short.csv', 'id,name\n1,x\n'));
    expect(error.code).toBe('storage.jobFailed');
    const [job] = (await json('jobs', 'list', '--status', 'error', '--limit', '1')) as { id: number }[];
    expect((await storage('jobs', 'show', String(job?.id))).out).toMatch(/^error +.*age/m);
    expect((await failure('jobs', 'wait', String(job?.id))).code).toBe('storage.jobFailed');
    expect((await failure('jobs', 'show', '999999')).code).toBe('storage.notFound');
  });
});

const component = 'ex-generic-v2';
const configs = (...words: readonly string[]): Promise<Done> => storage('configs', ...words);

describe('configurations', () => {
  test('are created, changed, shown and listed; # values stay encrypted, numbers as they were', async () => {
    const content = '{"parameters":{"api":{"#token":"s3cr3t","big":12345678901234567890,"2":1,"1":2}}}';
    const made = await configs(
      'create',
      component,
      'My API',
      '--file',
      file('c.json', content),
      '--id',
      'one',
    );
    expect(made.out).toBe('created one (My API)\n');
    const { out } = await configs('show', component, 'one');
    expect(out).not.toContain('s3cr3t');
    expect(out).toMatch(/"#token": "KBC::|"#token": "[A-Za-z]+:/);
    expect(out).toMatch(/"big": 12345678901234567890,\n +"2": 1,\n +"1": 2/);
    const updated = await configs(
      'update',
      component,
      'one',
      '--name',
      'Other',
      '--note',
      'renamed',
      '--disable',
    );
    expect(updated.out).toBe('one is at version 2\n');
    expect((await configs('list', component)).out).toMatch(/^one +Other +2 +0 +\d{4}-.*Z  disabled$/m);
    expect((await configs('versions', component, 'one')).out).toMatch(/^ +2  .*renamed$/m);
    expect((await failure('configs', 'update', component, 'one')).message).toBe(
      'There is nothing to change.',
    );
  });

  test('go back to a version, are copied, deleted and restored', async () => {
    await configs('create', component, 'First', '--id', 'two');
    await configs('update', component, 'two', '--name', 'Second');
    expect((await configs('rollback', component, 'two', '1')).out).toBe(
      'two is at version 3, which is like 1\n',
    );
    const copy = (await json('configs', 'copy', component, 'two', '2', 'Third')) as { id: string };
    expect(copy).toMatchObject({ name: 'Third' });
    expect((await configs('delete', component, 'two')).out).toBe('two is in the trash\n');
    expect(await json('configs', 'list', component, '--deleted')).toMatchObject([{ id: 'two' }]);
    // A second deletion by mistake would be for good.
    expect((await failure('configs', 'delete', component, 'two')).hint).toContain('--purge');
    expect((await configs('restore', component, 'two')).out).toContain('two is at version');
    expect((await failure('configs', 'delete', component, 'two', '--purge')).message).toContain(
      'not in the trash',
    );
    await configs('delete', component, 'two');
    expect((await configs('delete', component, 'two', '--purge')).out).toBe('deleted two for good\n');
    expect(await json('configs', 'list', component, '--deleted')).toEqual([]);
  });

  test('have rows', async () => {
    await configs('create', component, 'With rows', '--id', 'rows');
    const content = file('r.json', '{"parameters":{"x":1}}');
    expect(
      (await configs('row-create', component, 'rows', 'Users', '--id', 'u', '--file', content)).out,
    ).toBe('created u (Users)\n');
    await configs('row-update', component, 'rows', 'u', '--disable');
    expect((await configs('rows', component, 'rows')).out).toMatch(/^u +Users +2 +\d{4}-.*Z  disabled$/m);
    expect(await json('configs', 'rows', component, 'rows')).toMatchObject([
      { id: 'u', configuration: { parameters: { x: 1 } } },
    ]);
    expect((await configs('versions', component, 'rows', '--row', 'u', '--limit', '1')).out).toMatch(
      /^ +2 /m,
    );
    await configs('rollback', component, 'rows', '1', '--row', 'u');
    expect(await json('configs', 'rows', component, 'rows')).toMatchObject([{ isDisabled: false }]);
    expect((await failure('configs', 'row-delete', component, 'rows', 'v')).hint).toBe('There is: u.');
    expect((await configs('row-delete', component, 'rows', 'u')).out).toBe('deleted u (Users)\n');
  });

  test('have a state that can be set and reset', async () => {
    await configs('create', component, 'With state', '--id', 'state');
    await configs('row-create', component, 'state', 'R', '--id', 'r');
    const given = file('state.json', '{"component":{"since":1.50}}');
    expect((await configs('state', component, 'state', '--set', given)).out).toBe(
      '{\n  "component": {\n    "since": 1.50\n  }\n}\n',
    );
    expect(await json('configs', 'state', component, 'state')).toEqual({ component: { since: 1.5 } });
    await configs('state', component, 'state', '--row', 'r', '--set', given);
    expect((await configs('state', component, 'state', '--row', 'r', '--reset')).out).toBe('{}\n');
    expect(await json('configs', 'state', component, 'state')).toEqual({ component: { since: 1.5 } });
    expect((await failure('configs', 'state', component, 'state', '--reset', '--set', given)).code).toBe(
      'command.invalid',
    );
  });

  test('that are not there, or not JSON, are told with what was meant', async () => {
    await configs('create', component, 'Books', '--id', 'books');
    expect((await failure('configs', 'show', component, 'boks')).hint).toBe('Did you mean books?');
    expect((await failure('configs', 'list', 'ex-generic-v3')).hint).toBe('Did you mean ex-generic-v2?');
    const broken = await failure(
      'configs',
      'create',
      component,
      'x',
      '--file',
      file('broken.json', '{\n"a":}'),
    );
    expect(broken).toMatchObject({ code: 'config.syntax', where: { line: 2 }, audience: 'user' });
    const empty = await failure('configs', 'create', component, 'x', '--file', file('empty.json', ' \n'));
    expect(empty.message).toBe(`${file('empty.json')} is empty.`);
    expect((await failure('configs', 'create', component, 'x', '--file', file('none.json'))).message).toBe(
      `There is no ${file('none.json')}.`,
    );
    const whole = file('whole.json', '{"configuration": {"parameters": {}}, "rows": []}');
    expect((await failure('configs', 'create', component, 'x', '--file', whole)).hint).toContain(
      'row-create',
    );
    await configs('create', component, 'Switch', '--id', 'switch');
    const both = await failure('configs', 'update', component, 'switch', '--enable', '--disable');
    expect(both.message).toBe('--enable and --disable exclude each other.');
    expect(
      (await failure('configs', 'create', component, 'x', '--file', file('list.json', '[]'))).message,
    ).toContain('is no JSON object');
  });
});

describe('the command line', () => {
  test('shows what it can do at each step', async () => {
    expect((await storage('--help')).out).toContain('gex storage configs <command>');
    expect((await storage('tables', '--help')).out).toContain('gex storage tables load <table> <file>');
    const { out } = await storage('tables', 'load', '--help');
    expect(out).toContain('--incremental');
    expect(out).toContain('--storage DIR|URL');
  });

  test.each([
    [
      ['tabels', 'list'],
      'There is no command “tabels” of “gex storage”.',
      'Did you mean “gex storage tables”?',
    ],
    [['tables', 'lst'], 'There is no command “lst”', 'Did you mean “gex storage tables list”?'],
    [['jobs', 'mow'], 'There is no command “mow”', 'The commands are list, show, wait, cancel, retry.'],
    [['tables', 'load', 'x'], 'It is written gex storage tables load <table> <file>.', '--help'],
    [['tables', 'list', 'x'], 'list takes no words, and not “x”', 'gex storage tables list --help'],
    [['tables', 'list', '--jsn'], 'There is no option --jsn.', 'Did you mean --json?'],
    [
      ['jobs', 'list', '--status', 'done'],
      '--status is waiting, processing, success or error, and not “done”.',
      'gex storage jobs list --help',
    ],
    [['jobs', 'list', '--limit', 'x'], '--limit is a whole number', '--limit 2'],
  ])('refuses %j and says what to write', async (words, message, hint) => {
    const error = await failure(...words);
    expect(error.code).toBe('command.invalid');
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
  });
});

describe('a command that is at work', () => {
  test('shows on a terminal how far a transfer or a job is', () => {
    let nowMs = 0;
    const shown: string[] = [];
    const io = { isTerminal: true, live: (text: string) => shown.push(text) } as unknown as Io; // all that it looks at
    const env = { now: () => nowMs, randomBytes: () => new Uint8Array(), sleep: async () => {} };
    const { progress, wait, end } = createTransferLine(io, env);
    const moved = (bytes: number, afterMs: number): void => {
      nowMs += afterMs;
      progress({ direction: 'upload', name: 'a.csv', bytes, totalBytes: 4_000_000 });
    };
    moved(0, 1000);
    moved(500_000, 50);
    moved(2_000_000, 1950);
    nowMs += 1000;
    wait.onPoll?.({ id: 7, operationName: 'tableImport', status: 'processing' } as Job); // all that it looks at
    end();
    expect(shown).toEqual([
      'uploading a.csv: 0 B of 4.0 MB, 0 B/s',
      'uploading a.csv: 2.0 MB of 4.0 MB, 1.0 MB/s',
      'job 7 (tableImport): processing, 0 s',
      '',
    ]);
  });

  test('says when it is interrupted that what was taken goes on', async () => {
    const error: unknown = await storageWith(AbortSignal.abort(new Error('ctrl-c')), ['jobs', 'list']).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: 'run.interrupted',
      hint: expect.stringContaining('jobs list') as unknown,
    });
  });
});

describe.concurrent('the program', () => {
  test('shows help, and fails without a verb', { tags: 'thorough' }, async ({ expect }) => {
    const [help, bare] = await Promise.all([gex('storage', 'tables', '-h'), gex('storage', 'files')]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('gex storage tables load <table> <file>');
    expect(bare).toMatchObject({ code: 1, stdout: '' });
    expect(bare.stderr).toContain('gex storage files upload <path..>');
  });

  test(
    'makes a folder of its own, takes JSON from stdin, and leaves nothing running',
    { tags: 'thorough' },
    async ({ expect }) => {
      const dir = file('own');
      const child = spawn(
        process.execPath,
        [
          MAIN,
          'storage',
          'configs',
          'create',
          'ex-generic-v2',
          'A',
          '--id',
          'a',
          '--file',
          '-',
          '--storage',
          dir,
        ],
        { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, NODE_COMPILE_CACHE: CACHE } },
      );
      child.stdin.end('{"parameters":{}}');
      const [printed] = (await once(child.stdout, 'data')) as [Buffer];
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(printed.toString()).toBe('created a (A)\n');
      expect(existsSync(path.join(dir, 'service.json'))).toBe(false);
    },
  );

  test('at an address takes the token of the environment', { tags: 'thorough' }, async ({ expect }) => {
    const { addresses, token } = running;
    const args = ['storage', 'buckets', 'list', '--json', '--storage', addresses.url];
    const good = await startGex(args, { env: { KBC_TOKEN: token } }).ended;
    expect(good.code).toBe(0);
    expect(Array.isArray(JSON.parse(good.stdout))).toBe(true);
  });

  test('ends quietly when nobody reads on', { tags: 'thorough' }, async ({ expect }) => {
    const big = file('big.txt', 'x'.repeat(3_000_000));
    const [made] = (await json('files', 'upload', big)) as { id: number }[];
    const args = ['storage', 'files', 'download', String(made?.id), '-', '--storage', running.dir];
    const child = spawn(process.execPath, [MAIN, ...args, '--log-level', 'warn'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(errors).toBe('');
  });
});

const CACHE = path.join(tmpdir(), 'gex-test-compile-cache');
