import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ManyRows, manyRows, type LineLayout } from '../../../src/lib/wasm/rows.ts';

const LAYOUT: LineLayout = {
  columns: ['id', 'name', 'gift'].map((name, i) => ({
    name: Buffer.from(`"${name}"`),
    slot: i === 0 ? 0 : undefined,
    isNull: false,
  })),
  words: { null: Buffer.from('""'), true: Buffer.from('"1"'), false: Buffer.from('""') },
  tail: Buffer.from('"x"'),
  noted: 1,
};

function written(rows: string, count: number): { text: string; rows: number; rest: string; ids: number[] } {
  const many = ManyRows.create();
  if (many?.begin(LAYOUT) !== true) throw new Error('the runtime does not take the code');
  const bytes = Buffer.from(rows);
  const made = many.write(bytes, 0, bytes.length, true, count);
  return {
    text: Buffer.from(made.lines).toString(),
    rows: made.rows,
    rest: rows.slice(made.at),
    ids: [...made.noted],
  };
}

describe('rows that are written at once', () => {
  test('are lines with a cell for each column, missing ones included, and what is behind them', () => {
    const rows = '{"id":1,"name":"say \\"hi\\""} , {"id" : -2.5, "gift":true},{"name":null}';
    expect(written(rows, 3)).toEqual({
      text: '"1","say ""hi""","","x"\n"-2.5","","1","x"\n"","","","x"\n',
      rows: 3,
      rest: '',
      ids: [6, 39, 0],
    });
  });

  test.each([
    ['{"id":1.50}', 'a number that is written otherwise'],
    ['{"id":0.0001}', 'a number with an exponent in its cell'],
    ['{"id":1234567890123456}', 'a long number'],
    ['{"name":"\\u0041"}', 'an escape by its number'],
    ['{"more":1}', 'a new column'],
    ['{"name":"x","id":1}', 'another order'],
    ['{"id":[1]}', 'a list'],
    ['{"id":nul}', 'no JSON'],
    ['null', 'no object'],
  ])('end in front of %s, which is %s', (odd) => {
    const { text, rows, rest } = written(`{"id":1},${odd},{"id":3}`, 3);
    expect({ text, rows, rest }).toEqual({ text: '"1","","","x"\n', rows: 1, rest: `,${odd},{"id":3}` });
  });

  test('are left to others where a line may need more room than there is', () => {
    const columns = Array.from({ length: 20_000 }, (_, i) => ({
      name: Buffer.from(`"c${i}"`),
      slot: undefined,
      isNull: false,
    }));
    expect(ManyRows.create()?.begin({ ...LAYOUT, columns })).toBe(false);
  });
});

test('a runtime that does not take the code has none', () => {
  expect(manyRows()).toBe(manyRows());
  vi.stubGlobal('WebAssembly', undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(ManyRows.create()).toBeUndefined();
});
