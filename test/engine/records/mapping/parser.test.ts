import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../src/lib/errors.ts';
import { parseExact, type AnyObject, type Json } from '../../../../src/lib/json/index.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { createLegacyParser } from '../../../../src/engine/records/legacy/parser.ts';
import { parseMappings } from '../../../../src/engine/records/mapping/parse.ts';
import { createMappedParser, type MappedParser } from '../../../../src/engine/records/mapping/parser.ts';
import type { PageRows, RecordParser } from '../../../../src/engine/records/parser.ts';
import { Collected, page, run } from '../collect.ts';

function parser(
  mappings: string,
  otherwise: RecordParser = createLegacyParser({ log: silentLog }),
): MappedParser {
  return createMappedParser({
    mappings: parseMappings(parseExact(mappings), 'mappings'),
    otherwise,
    parseTime: (text) => (text === '2017-04-20' ? 1_492_646_400 : undefined),
  });
}

/** The tables that the mapping of `t` makes of the rows. */
function mapped(mapping: string, rows: string, extra: AnyObject = {}): Collected {
  return run(parser(`{"t": ${mapping}}`), [page('t', rows, extra)]);
}

describe('columns', () => {
  test('are the values at their paths, as text', () => {
    const out = mapped(
      '{"a.b": "nested", "l.1": "second", "n": "number", "yes": "yes", "no": "no", "none": "none", "gone": "gone"}',
      '[{"a": {"b": "say \\"hi\\""}, "l": [1, 2], "n": 0.30000000000000004, "yes": true, "no": false, "none": null}]',
    );
    expect(out.csv('t')).toBe(
      '"nested","second","number","yes","no","none","gone"\n"say ""hi""","2","0.30000000000000004","1","","",""\n',
    );
    expect(out.rows('t')).toBe(1);
  });

  test('are written page by page, chunk by chunk', () => {
    const out = run(parser('{"t": {"a": "a"}}'), [
      page('t', ['[{"a": 1}]', '[{"a": 2}]']),
      page('t', '[{"a": 3}]'),
    ]);
    expect(out.show('t')).toEqual(['a', '1', '2', '3']);
  });

  test('a delimiter of their own', () => {
    expect(
      mapped('{"a.b/c": {"delimiter": "/", "mapping": {"destination": "x"}}}', '[{"a.b": {"c": 1}}]').show(
        't',
      ),
    ).toEqual(['x', '1']);
  });

  test('rows that are lists are read by index', () => {
    expect(mapped('["day", "clicks"]', '[["2017-05-27", 83008], ["2017-05-28"]]').show('t')).toEqual([
      'day | clicks',
      '2017-05-27 | 83008',
      '2017-05-28 | ',
    ]);
  });

  test.each(['.', ''])('a row that is a scalar is at the path “%s”, and nothing is elsewhere', (path) => {
    const out = mapped(`{"${path}": "self", "a": "other"}`, '["x", 5, true, null]');
    expect(out.show('t')).toEqual(['self | other', 'x | ', '5 | ', '1 | ', ' | ']);
  });

  test('the empty path of an object is its property without a name', () => {
    expect(mapped('{"": "self"}', '[{"": 1}]').show('t')).toEqual(['self', '1']);
  });

  test('odd names are names like any other', () => {
    const out = mapped(
      '{"b": "b", "10": "ten", "__proto__": "proto", "toString": "toString"}',
      '[{"10": 1, "__proto__": 2}]',
    );
    expect(out.show('t')).toEqual(['b | ten | proto | toString', ' | 1 | 2 | ']);
  });

  test('forceType writes lists and objects as JSON text, scalars as they are', () => {
    const out = mapped(
      '{"a": {"forceType": true, "mapping": {"destination": "a"}}}',
      '[{"a": ["x"]}, {"a": {}}, {"a": "x/y"}, {"a": null}]',
    );
    expect(out.csv('t')).toBe('"a"\n"[""x""]"\n"{}"\n"x/y"\n""\n');
  });

  test('a list without forceType is an error that names the column', () => {
    expect(() => mapped('{"a": "col"}', '[{"a": [1]}]')).toThrow(
      'The value for the column “col” of the table “t” is a list',
    );
    expect(() => mapped('{".": "col"}', '[{"a": 1}]')).toThrow('is an object');
  });

  test('a page that fails leaves no lines', () => {
    const out = new Collected();
    const mapping = parser('{"t": {"a": "a"}}');
    expect(() => mapping.take(page('t', '[{"a": 1}, {"a": []}]'), out)).toThrow(RecordError);
    mapping.take(page('t', '[{"a": 2}]'), out);
    expect(out.show('t')).toEqual(['a', '2']);
  });

  test('an unknown type is read as a column', () => {
    expect(
      mapped('{"a": {"type": "strange", "mapping": {"destination": "a"}}}', '[{"a": 1}]').show('t'),
    ).toEqual(['a', '1']);
  });

  test('a date becomes seconds since 1970, and what is no date stays', () => {
    const out = mapped(
      '{"d": {"type": "date", "mapping": {"destination": "d"}}}',
      '[{"d": "2017-04-20"}, {"d": "soon"}, {"d": null}, {}]',
    );
    expect(out.show('t')).toEqual(['d', '1492646400', 'soon', '', '']);
  });

  test('user columns are the extra columns of the page, with “/” between keys', () => {
    const mapping = parser(`{"t": {"id": "id",
      "parent_user.id": {"type": "user", "mapping": {"destination": "user"}},
      "deep/x": {"type": "user", "mapping": {"destination": "x"}},
      "gone": {"type": "user", "mapping": {"destination": "gone"}}}}`);
    const out = run(mapping, [
      page('t', '[{"id": 1, "gone": "data"}]', { 'parent_user.id': 7, deep: { x: 'y' } }),
      page('t', '[{"id": 2}]', { 'parent_user.id': 8 }),
    ]);
    expect(out.show('t')).toEqual(['id | user | x | gone', '1 | 7 | y | ', '2 | 8 |  | ']);
  });

  test('the primary key is part of the layout', () => {
    const out = mapped(
      '{"a": {"mapping": {"destination": "x", "primaryKey": true}}, "b": "b", "c": {"type": "user", "mapping": {"destination": "z", "primaryKey": true}}}',
      '[]',
    );
    expect(out.layouts.get('t')).toEqual({ name: 't', columns: ['x', 'b', 'z'], primaryKey: ['x', 'z'] });
  });
});

describe('child tables of rows without a primary key', () => {
  const NESTED = `{"a": "a", "n": {"type": "table", "destination": "items", "tableMapping": {
    "q": "q", "m": {"type": "table", "destination": "marks", "tableMapping": {"r": "r"}}}}}`;
  const ROW = '{"a":1,"b":2,"n":[{"q":1,"m":[{"r":1}]}]}';

  test('are linked by the MD5 of the row', () => {
    const out = mapped(NESTED, `[${ROW}]`);
    expect(out.show('t')).toEqual(['a | items', '1 | 4176a2d2f8d59844de674129c34d486d']);
    expect(out.show('items')).toEqual([
      'q | marks | t_pk',
      '1 | 30d5fdc23a96f90b968a43b2f43a9aac | 4176a2d2f8d59844de674129c34d486d',
    ]);
    expect(out.show('marks')).toEqual(['r | items_pk', '1 | 30d5fdc23a96f90b968a43b2f43a9aac']);
  });

  test('the MD5 covers the extra columns when there are any', () => {
    const out = mapped(NESTED, `[${ROW}]`, { country: 'UK' });
    expect(out.show('t')).toEqual(['a | items', '1 | 3a6a325316e0d5b067adbd941dd1bfcd']);
  });

  test.each(['{}', '{"n": null}', '{"n": []}', '{"n": 0}', '{"n": ""}', '{"n": false}'])(
    'nothing in %s: a blank link, and no child table',
    (row) => {
      const out = mapped(
        '{"a": "a", "n": {"type": "table", "destination": "items", "tableMapping": {"q": "q"}}}',
        `[${row}]`,
      );
      expect(out.show('t')).toEqual(['a | items', ' | ']);
      expect(out.names).toEqual(['t']);
    },
  );

  test('a value that is no list is one row', () => {
    const out = mapped(
      '{"n": {"type": "table", "destination": "items", "tableMapping": {"q": "q"}}}',
      '[{"n": {"q": 5}}]',
    );
    expect(out.show('items')[1]).toMatch(/^5 \| [0-9a-f]{32}$/);
    expect(
      mapped(
        '{"n": {"type": "table", "destination": "items", "tableMapping": {".": "q"}}}',
        '[{"n": "x"}]',
      ).show('items')[1],
    ).toMatch(/^x \| [0-9a-f]{32}$/);
  });

  test('with the parent key disabled there is no link at either end', () => {
    const out = mapped(
      '{"a": "a", "n": {"type": "table", "destination": "items", "parentKey": {"disable": true}, "tableMapping": {"q": "q"}}}',
      `[${ROW}]`,
    );
    expect(out.show('t')).toEqual(['a', '1']);
    expect(out.show('items')).toEqual(['q', '1']);
  });

  test('the parent key may have a name, and be part of the key', () => {
    const out = mapped(
      '{"n": {"type": "table", "destination": "items", "parentKey": {"destination": "t_link", "primaryKey": true}, "tableMapping": {"q": "q"}}}',
      `[${ROW}]`,
    );
    expect(out.layouts.get('items')).toEqual({
      name: 'items',
      columns: ['q', 't_link'],
      primaryKey: ['t_link'],
    });
    expect(out.show('items')[1]).toBe('1 | 4176a2d2f8d59844de674129c34d486d');
  });

  test('two entries may fill one child table; the link is there when either has rows', () => {
    const out = mapped(
      `{"home": {"type": "table", "destination": "address", "tableMapping": {"street": "street"}},
        "id": "id",
        "work": {"type": "table", "destination": "address", "tableMapping": {"road": "street"}}}`,
      '[{"id": 1, "home": {"street": "A"}, "work": {"road": "B"}}, {"id": 2, "work": {"road": "C"}}, {"id": 3}]',
    );
    const [, first, second, third] = out.show('t').map((line) => line.split(' | '));
    expect(out.show('address')).toEqual([
      'street | t_pk',
      `A | ${first?.[0]}`,
      `B | ${first?.[0]}`,
      `C | ${second?.[0]}`,
    ]);
    expect(second?.[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(third).toEqual(['', '3']);
  });

  test('a mapping of nothing but child tables without links makes no table of its own', () => {
    const out = mapped(
      '{"n": {"type": "table", "destination": "items", "parentKey": {"disable": true}, "tableMapping": {"q": "q"}}}',
      `[${ROW}]`,
    );
    expect(out.names).toEqual(['items']);
  });
});

/** A child table “items”. */
function child(tableMapping: string, parentKey = '{}'): string {
  return `{"type": "table", "destination": "items", "parentKey": ${parentKey}, "tableMapping": ${tableMapping}}`;
}

/** A column of the primary key. */
function pk(column: string): string {
  return `{"mapping": {"destination": "${column}", "primaryKey": true}}`;
}

describe('child tables of rows with a primary key', () => {
  test('carry its values joined by a comma, wherever the key stands in the mapping', () => {
    const out = mapped(
      `{"n": ${child('{".": "n"}')}, "first": ${pk('f')}, "last": ${pk('l')}}`,
      '[{"first": "John", "last": "Doe", "n": [1, 2]}]',
    );
    expect(out.show('t')).toEqual(['f | l', 'John | Doe']);
    expect(out.show('items')).toEqual(['n | t_pk', '1 | John,Doe', '2 | John,Doe']);
  });

  test('the key may hold user columns and the key of the parent', () => {
    const grand = `{"type": "table", "destination": "marks", "tableMapping": {".": "mark"}}`;
    const out = mapped(
      `{"id": ${pk('id')}, "shop": {"type": "user", "mapping": {"destination": "shop", "primaryKey": true}},
        "n": ${child(`{"no": ${pk('no')}, "m": ${grand}}`, '{"primaryKey": true}')}}`,
      '[{"id": 7, "n": [{"no": 1, "m": ["a"]}, {"no": null, "m": ["b"]}]}]',
      { shop: 'S' },
    );
    expect(out.show('items')).toEqual(['no | t_pk', '1 | 7,S', ' | 7,S']);
    expect(out.show('marks')).toEqual(['mark | items_pk', 'a | 1,7,S', 'b | ,7,S']);
  });

  test('a key that is a list is an error', () => {
    expect(() =>
      mapped(`{"id": ${pk('id')}, "n": ${child('{".": "n"}')}}`, '[{"id": [1], "n": [1]}]'),
    ).toThrow('The value for the column “id”');
  });

  test.each(['{"id": 1}', '{"id": 1, "n": null}', '{"id": 1, "n": []}'])(
    'nothing in %s: no blank row, and the child table exists',
    (row) => {
      const out = mapped(`{"id": ${pk('id')}, "n": ${child('{"q": "q"}')}}`, `[${row}]`);
      expect(out.show('t')).toEqual(['id', '1']);
      expect(out.show('items')).toEqual(['q | t_pk']);
    },
  );
});

describe('rows inside of rows for the same table', () => {
  const SELF =
    '{"id": "id", "children": {"type": "table", "destination": "t", "parentKey": {"disable": true}}}';

  test('are parsed with the same mapping, children before their parent', () => {
    const out = mapped(
      SELF,
      '[{"id": 1, "children": [{"id": 2, "children": [{"id": 3}]}, {"id": 4}]}, {"id": 5, "children": []}]',
    );
    expect(out.show('t')).toEqual(['id', '3', '2', '4', '1', '5']);
  });

  test('may be a single object', () => {
    expect(mapped(SELF, '[{"id": 1, "children": {"id": 2}}, {"id": 3, "children": null}]').show('t')).toEqual(
      ['id', '2', '1', '3'],
    );
  });

  test('keep the parent key of the row they are in', () => {
    const out = mapped(
      `{"id": {"mapping": {"destination": "id", "primaryKey": true}}, "n": {"type": "table", "destination": "items", "tableMapping": {
        "q": "q", "more": {"type": "table", "destination": "items", "parentKey": {"disable": true}}}}}`,
      '[{"id": 9, "n": [{"q": 1, "more": [{"q": 2}]}]}]',
    );
    expect(out.show('items')).toEqual(['q | t_pk', '2 | 9', '1 | 9']);
  });
});

describe('which tables there are', () => {
  test('a data type that was processed has its table, with zero rows too', () => {
    const out = mapped(
      '{"a": "a", "n": {"type": "table", "destination": "items", "tableMapping": {"q": "q"}}}',
      '[]',
    );
    expect(out.csv('t')).toBe('"a","items"\n');
    expect(out.names).toEqual(['t']);
  });

  test('data types without a mapping go to the other parser', () => {
    const pages = [page('free', '[{"x": 1}]'), page('t', '[{"a": 2}]'), page('free', '[{"x": 3, "y": 4}]')];
    const out = run(parser('{"t": {"a": "a"}}'), pages);
    expect(out.show('t')).toEqual(['a', '2']);
    expect(out.show('free')).toEqual(['x | y', '1 | ', '3 | 4']);
  });

  test('the other parser is asked to finish with its own pages only', () => {
    const seen: string[] = [];
    const otherwise: RecordParser = {
      take() {},
      finish(pages) {
        for (const { dataType } of pages()) seen.push(dataType);
      },
      struct: {},
    };
    const mapping = parser('{"t": {"a": "a"}}', otherwise);
    run(mapping, [page('x', '[1]'), page('t', '[{"a": 1}]'), page('y', '[1]')]);
    expect(seen).toEqual(['x', 'y']);
    expect(mapping.struct).toBeUndefined();
    expect([mapping.writesAtOnce('t'), mapping.writesAtOnce('x')]).toEqual([true, false]);
  });

  test('rows without a mapping join a mapped table of the same columns', () => {
    const mapping =
      '{"t": {"n": {"type": "table", "destination": "items", "parentKey": {"disable": true}, "tableMapping": {"q": "q"}}}}';
    const pages = [page('t', '[{"n": [{"q": 1}]}]'), page('items', '[{"q": 2}]')];
    expect(run(parser(mapping), pages).show('items')).toEqual(['q', '1', '2']);
    expect(() => run(parser(mapping), [...pages, page('items', '[{"other": 2}]')])).toThrow(RecordError);
  });

  test('rows without a mapping never change the columns of a mapped table', () => {
    const otherwise: RecordParser = {
      take: (taken: PageRows, out) => out.relayout({ name: taken.dataType, columns: ['q', 'new'] }),
      finish() {},
      struct: undefined,
    };
    const mapping = parser(
      '{"t": {"n": {"type": "table", "destination": "items", "tableMapping": {"q": "q"}}}}',
      otherwise,
    );
    const out = new Collected();
    expect(() => mapping.take(page('items', '[]'), out)).toThrow(
      'would add columns to the mapped table “items”',
    );
    mapping.take(page('free', '[]'), out);
    expect(out.layouts.get('free')?.columns).toEqual(['q', 'new']);
  });

  test('many rows reach the output in batches of bounded size', () => {
    const sizes: number[] = [];
    const out = {
      open() {},
      append: (_: string, lines: string) => sizes.push(lines.length),
      relayout() {},
      rewrite() {},
    };
    const rows: Json[] = Array.from({ length: 2000 }, (_, id) => ({ id, text: 'x'.repeat(100) }));
    parser('{"t": {"id": "id", "text": "text"}}').take(
      { dataType: 't', extra: {}, chunks: () => [rows], count: rows.length },
      out,
    );
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThan(70_000);
  });
});
