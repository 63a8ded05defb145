import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CellKind } from '../../src/lib/xlsx/cell.ts';
import { writeWorkbook, type SheetColumn, type SheetRows } from '../../src/lib/xlsx/workbook.ts';
import { cellsOf, partsOf } from '../support/workbook.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'xlsx-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { signal } = new AbortController();
async function write(
  name: string,
  columns: readonly SheetColumn[],
  rows: readonly SheetRows[],
  rowsPerSheet?: number,
): Promise<string> {
  const file = path.join(folder, name);
  async function* groups(): AsyncGenerator<SheetRows> {
    yield* rows;
  }
  await writeWorkbook(file, columns, groups(), {
    signal,
    ...(rowsPerSheet === undefined ? {} : { rowsPerSheet }),
  });
  return file;
}

const one = (kind: CellKind): SheetColumn[] => [{ name: 'v', kind }];

describe('a workbook', () => {
  test('has values of each kind, under the names of the columns', async () => {
    const columns: SheetColumn[] = [
      { name: 'id & <more>', kind: 'decimal' },
      { name: 'ok', kind: 'boolean' },
      { name: 'day', kind: 'date' },
      { name: 'at', kind: 'time' },
      { name: 'note', kind: 'text' },
    ];
    const file = await write('kinds.xlsx', columns, [
      [['7', 'true', '2024-02-29', '2024-02-29 12:00:00', 'a\n"b"']],
      [
        [null, null, null, null, ''],
        ['-1.5', 'false', '1900-03-01', '2024-02-29 18:00:00.5', ' x '],
      ],
    ]);
    expect(await cellsOf(file)).toEqual([
      { A1: "'id & <more>", B1: "'ok", C1: "'day", D1: "'at", E1: "'note" },
      { A2: ':7', B2: 'b:1', C2: '2:45351', D2: '3:45351.5', E2: '\'a\n"b"' },
      {},
      { A4: ':-1.5', B4: 'b:0', C4: '2:61', D4: `3:${45351.75 + 0.5 / 86_400}`, E4: "' x " },
    ]);
    expect((await partsOf(file)).keys().next().value).toBe('[Content_Types].xml');
  });

  test.each<[CellKind, string, string]>([
    ['decimal', '123456789012345', ':123456789012345'],
    ['decimal', '9007199254740993', "'9007199254740993"],
    ['decimal', '-0.1234567890123456', "'-0.1234567890123456"],
    ['decimal', '0.00001', ':0.00001'],
    ['decimal', '1000000000000000000', ':1000000000000000000'],
    ['double', '0.1234567890123456', ':0.1234567890123456'],
    ['double', '5e-324', "'5e-324"],
    ['double', 'inf', "'inf"],
    ['double', 'nan', "'nan"],
    ['date', '1900-02-28', "'1900-02-28"],
    ['date', '9999-12-31', '2:2958465'],
    ['date', '10000-01-01', "'10000-01-01"],
    ['date', '2024-02-29 (BC)', "'2024-02-29 (BC)"],
    ['time', '2024-02-29 10:00:00.123456', "'2024-02-29 10:00:00.123456"],
    ['time', '2024-02-29 00:00:00.250000', `3:${45351 + 0.25 / 86_400}`],
  ])('keeps a %s %s as it is', async (kind, value, cell) => {
    expect(await cellsOf(await write('kept.xlsx', one(kind), [[[value]]]))).toEqual([
      { A1: "'v" },
      { A2: cell },
    ]);
  });

  test('has texts as texts: no formula, no character that XML cannot have, nothing that reads like an escape', async () => {
    const texts = ['=1+1', '+cmd', '@x', '007', 'a\u0001\r', '_x0041_', ']]>&amp;<f>1</f>', '😀'];
    const file = await write('texts.xlsx', one('text'), [texts.map((each) => [each])]);
    const written = (await cellsOf(file)).slice(1).map((row) => Object.values(row)[0]);
    expect(written).toEqual(
      texts.map(
        (each) => `'${each.replace('\u0001\r', '_x0001__x000D_').replace('_x0041_', '_x005F_x0041_')}`,
      ),
    );
    expect((await partsOf(file)).get('xl/worksheets/sheet1.xml')).not.toContain('<f>');
  });

  test('goes on in a further sheet when one is full', async () => {
    const rows = Array.from({ length: 7 }, (_, i) => [String(i)]);
    const file = await write('sheets.xlsx', one('decimal'), [rows.slice(0, 5), [], rows.slice(5)], 4);
    expect(await cellsOf(file, 1)).toEqual([{ A1: "'v" }, { A2: ':0' }, { A3: ':1' }, { A4: ':2' }]);
    expect(await cellsOf(file, 3)).toEqual([{ A1: "'v" }, { A2: ':6' }]);
    const full = await write('full.xlsx', one('decimal'), [rows.slice(0, 3)], 4);
    expect([...(await partsOf(full)).keys()].filter((name) => name.includes('/sheet'))).toHaveLength(1);
    const workbook = (await partsOf(file)).get('xl/workbook.xml') ?? '';
    expect(Array.from(workbook.matchAll(/<sheet name="(\w+)"/g), ([, name]) => name)).toEqual([
      'Sheet1',
      'Sheet2',
      'Sheet3',
    ]);
  });

  test('of no rows has the names alone', async () => {
    expect(await cellsOf(await write('none.xlsx', one('text'), []))).toEqual([{ A1: "'v" }]);
  });

  test('names a column behind Z by two letters, and by three behind ZZ', async () => {
    const columns = Array.from({ length: 703 }, (_, i): SheetColumn => ({ name: `c${i}`, kind: 'text' }));
    const [names = {}] = await cellsOf(await write('wide.xlsx', columns, []));
    expect([names['Z1'], names['AA1'], names['ZZ1'], names['AAA1']]).toEqual([
      "'c25",
      "'c26",
      "'c701",
      "'c702",
    ]);
  });

  test('is not left behind when something does not fit, or it is ended', async () => {
    const before = readdirSync(folder);
    const long = 'x'.repeat(32_768);
    await expect(write('no.xlsx', one('text'), [[['a']], [['b'], [long]]])).rejects.toThrow(
      'Row 3: the value of the column "v" has 32,768 characters, and a cell of a workbook holds 32,767.',
    );
    const many = Array.from({ length: 16_385 }, (_, i): SheetColumn => ({ name: `c${i}`, kind: 'text' }));
    await expect(write('no.xlsx', many, [])).rejects.toThrow(
      'A sheet holds 16,384 columns, and there are 16,385.',
    );
    const controller = new AbortController();
    async function* endless(): AsyncGenerator<SheetRows> {
      for (;;) {
        yield [['a']];
        controller.abort(new Error('ended'));
      }
    }
    const file = path.join(folder, 'no.xlsx');
    await expect(writeWorkbook(file, one('text'), endless(), { signal: controller.signal })).rejects.toThrow(
      'ended',
    );
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual(before);
    await expect(write('no/such/folder.xlsx', one('text'), [[['a']]])).rejects.toThrow('ENOENT');
  });
});
