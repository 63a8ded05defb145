import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ManyRows, manyRows, type LineLayout } from '../../../src/lib/wasm/rows.ts';

const LAYOUT: LineLayout = {
  columns: ['id', 'name', 'gift', 'left'].map((name, i) => ({
    name: Buffer.from(`"${name}"`),
    slot: i === 0 ? 0 : undefined,
    isNull: name === 'left',
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
      text: '"1","say ""hi""","","","x"\n"-2.5","","1","","x"\n"","","","","x"\n',
      rows: 3,
      rest: '',
      ids: [6, 39, 0],
    });
  });

  test.each([
    ['{"id":1.50}', 'a number that is written otherwise'],
    ['{"id":0.0001}', 'a number with an exponent in its cell'],
    ['{"id":1234567890123456}', 'a long number'],
    ['{"id":12.3456789012345}', 'a number with many digits behind the point'],
    ['{"id":-0}', 'another zero'],
    ['{"id":012}', 'a number with a zero in front'],
    ['{"id":1e2}', 'a number with an exponent'],
    ['{"id":1.5E2}', 'the same with a point'],
    ['{"id":1.}', 'a number without what is behind its point'],
    ['{"id":1.5.5}', 'a number with two points'],
    ['{"id":-}', 'a sign alone'],
    ['{"gift":trux}', 'a word that begins as another one'],
    ['{"gift":falsx}', 'the same'],
    ['{"gift":nulx}', 'the same'],
    ['{"name":"a\tb"}', 'a text with a control character'],
    ['{"id" 1}', 'a name without its colon'],
    ['{"id":1,}', 'a comma too many'],
    ['{"id":1 "name":"x"}', 'a comma too few'],
    ['{"left":1}', 'a value where nothing but null may come'],
    ['{"name":"\\u0041"}', 'an escape by its number'],
    ['{"more":1}', 'a new column'],
    ['{"name":"x","id":1}', 'another order'],
    ['{"id":[1]}', 'a list'],
    ['{"id":nul}', 'no JSON'],
    ['null', 'no object'],
  ])('end in front of %s, which is %s', (odd) => {
    const { text, rows, rest } = written(`{"id":1},${odd},{"id":3}`, 3);
    expect({ text, rows, rest }).toEqual({ text: '"1","","","","x"\n', rows: 1, rest: `,${odd},{"id":3}` });
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

function skipped(rows: string, mostLevels: number): { rows: number; rest: string; plain: boolean } {
  const bytes = Buffer.from(`${rows}]`);
  const many = ManyRows.create();
  if (many === undefined) throw new Error('the runtime does not take the code');
  const { rows: count, behind, plain } = many.skip(bytes, 0, bytes.length, mostLevels);
  return { rows: count, rest: count === 0 ? rows : rows.slice(behind), plain };
}

describe('rows that are skipped at once', () => {
  test('end in front of one that has more levels than are allowed', () => {
    const rows = '{"a":[1]},{"a":[[1]]}';
    expect(skipped(rows, 2)).toEqual({ rows: 1, rest: ',{"a":[[1]]}', plain: true });
    expect(skipped(rows, 3)).toEqual({ rows: 2, rest: '', plain: true });
  });

  test.each(['{"a":1.0}', '{"a":1e2}', '{"a":-0}', '{"a":1234567890123456}', '{"7":1}', '{"a":"\\ud800"}'])(
    'are told apart where the plain parse loses something: %s',
    (row) => {
      expect(skipped(`{"a":"x"},${row}`, 9)).toEqual({ rows: 2, rest: '', plain: false });
    },
  );
});

test('a runtime that does not take the code has none', () => {
  expect(manyRows()).toBe(manyRows());
  vi.stubGlobal('WebAssembly', undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(ManyRows.create()).toBeUndefined();
});
