import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { openStorage } from '../../src/service/open/index.ts';
import { statementsIn } from '../../src/cli/sql/statements.ts';
import { clientOf } from '../service/data/client.ts';
import { startService } from '../service/harness.ts';
import { MAIN } from '../support/command.ts';
import { gexHere } from './support.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-sql-'));
const dir = path.join(folder, 'storage');
const USERS = '"in.c-main".users';

/** The folder is left without a service: the command opens it itself. */
beforeAll(async () => {
  const api = await startService({ dir });
  await api.call('POST', 'buckets', { stage: 'in', name: 'main' });
  const made = await clientOf(api).create('in.c-main', 'users', 'id,name\n1,Ada\n2,"Bob; the second"\n');
  expect(made.error).toBeUndefined();
  await api.service.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sql = async (
  ...words: readonly string[]
): Promise<{ code: number | null; out: string; err: string }> => {
  const { code, stdout, stderr } = await gexHere('sql', ...words, '--storage', dir);
  return { code, out: stdout, err: stderr };
};

test('a query is answered as a table, as text and as files', async () => {
  const table = await sql(`SELECT id::INT AS id, name, NULL AS n FROM ${USERS} ORDER BY id`);
  expect(table).toMatchObject({
    code: 0,
    out: 'id  name                n\n 1  Ada              NULL\n 2  Bob; the second  NULL\n',
  });
  expect(table.err).toContain('2 rows');
  expect((await sql(`FROM ${USERS}`, '--format', 'csv')).out).toBe('id,name\n1,Ada\n2,Bob; the second\n');
  const file = path.join(folder, 'users.parquet');
  expect((await sql(`FROM ${USERS}`, '--out', file)).code).toBe(0);
  expect(readFileSync(file, 'latin1').slice(0, 4)).toBe('PAR1');
  const workbook = path.join(folder, 'users.xlsx');
  expect((await sql(`FROM ${USERS}`, '--out', workbook)).err).toMatch(/users\.xlsx: [\d.]+ kB/);
  expect(readFileSync(workbook, 'latin1').slice(0, 4)).toBe('PK\u0003\u0004');
  const cut = await sql(`FROM ${USERS}`, '--limit', '1');
  expect(cut.err).toContain('1 row, and there are more');
});

test('a mistake is told with its place, and a file without a format is refused', async () => {
  const wrong = await sql(`SELECT nope FROM ${USERS}`);
  expect([wrong.code === 0, wrong.out]).toEqual([false, '']);
  expect(wrong.err).toMatch(
    /^error: Line 1, column 8: Referenced column "nope" not found .*\n {2}SELECT nope FROM .*\n {9}\^\nCandidate bindings: /,
  );
  const long = await sql(`SELECT '${'x'.repeat(200)}',\n\t'čč', nope, '${'y'.repeat(200)}' FROM ${USERS}`);
  expect(long.err).toMatch(/^error: Line 2, column 8: .*\n {2}\t'čč', nope, 'y+…\n {2}\t {6}\^\n/);
  const far = await sql(`SELECT '${'x'.repeat(200)}', nope FROM ${USERS}`);
  expect(far.err).toMatch(/^error: Line 1, column 212: .*\n {2}…(x+', )nope FROM .*\n {3} +\^\n/);
  const none = await sql('FROM "in.c-main".user');
  expect([none.code, none.err]).toEqual([
    1,
    'error: Line 1, column 6: There is no table "in.c-main"."user" that this token may read. Did you mean "in.c-main"."users"?\n  FROM "in.c-main".user\n       ^\n',
  ]);
  const out = path.join(folder, 'users.txt');
  expect((await sql(`FROM ${USERS}`, '--out', out)).err).toContain('says no format');
  expect(existsSync(out)).toBe(false);
  expect((await sql(`FROM ${USERS}`, '--format', 'xlsx')).err).toContain('A workbook needs a file');
});

test('statements of stdin are answered one after another', async () => {
  const input = `\\d\n\\d in.c-main.users\nSELECT 'a;b' AS x;\n\\x\nSELECT id, name\nFROM ${USERS} -- ;\nWHERE id = 2; SELECT 1 AS one`;
  const child = spawnSync(process.execPath, [MAIN, 'sql', '--storage', dir], { input, encoding: 'utf8' });
  expect([child.status, child.stderr.includes('Error')]).toEqual([0, false]);
  expect(child.stdout).toBe(
    [
      'table                rows',
      '"in.c-main"."users"     2',
      'column  type',
      'id      VARCHAR',
      'name    VARCHAR',
      'x',
      'a;b',
      '-- row 1',
      'id    2',
      'name  Bob; the second',
      '-- row 1',
      'one  1',
      '',
    ].join('\n'),
  );
});

test('a query of a folder ends when its client ends it, and the next one is answered', async () => {
  const opened = await openStorage({
    storage: dir,
    environment: {},
    log: silentLog,
    signal: new AbortController().signal,
    purpose: 'look',
    mustExist: true,
  });
  try {
    const endless = 'SELECT count(*) FROM range(100000000000) a, range(1000) b';
    const before = Date.now();
    await expect(
      opened.client.sql.query(endless, { signal: AbortSignal.timeout(1500) }),
    ).rejects.toMatchObject({ name: 'TimeoutError' });
    // Its own limit is 50 seconds.
    expect(Date.now() - before).toBeLessThan(40_000);
    expect((await opened.client.sql.query('SELECT 1')).rows).toEqual([['1']]);
  } finally {
    await opened.close();
  }
});

test('words that people try first are commands of the shell', async () => {
  const input = `help\n\\d users\n\\d usrs\n`;
  const child = spawnSync(process.execPath, [MAIN, 'sql', '--storage', dir], { input, encoding: 'utf8' });
  expect(child.stdout).toBe('column  type\nid      VARCHAR\nname    VARCHAR\n');
  expect(child.stderr).toContain('the columns of a table, with their types');
  expect(child.stderr).toContain('There is no table usrs.\nDid you mean users?');
  const ended = spawnSync(process.execPath, [MAIN, 'sql', '--storage', dir], {
    input: 'quit;\nSELECT nope;',
    encoding: 'utf8',
  });
  expect([ended.status, ended.stdout]).toEqual([0, '']);
});

describe('statements end at semicolons', () => {
  test.each([
    ['SELECT 1; SELECT 2', ['SELECT 1'], ' SELECT 2'],
    [`SELECT ';''"' ;`, [`SELECT ';''"' `], ''],
    ['SELECT ";" ;', ['SELECT ";" '], ''],
    ['SELECT 1 -- a ; b\n;', ['SELECT 1 -- a ; b\n'], ''],
    ['SELECT /* ; */ $x$;$x$; ;', ['SELECT /* ; */ $x$;$x$'], ''],
    ["SELECT ';", [], "SELECT ';"],
  ])('%s', (text, statements, rest) => {
    expect(statementsIn(text)).toEqual({ statements, rest });
  });
});
