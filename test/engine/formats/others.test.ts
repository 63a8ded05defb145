import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLines } from '../../../src/engine/formats/json-lines.ts';
import { textLines } from '../../../src/engine/formats/lines.ts';
import { wildcard } from '../../../src/engine/formats/wildcard.ts';
import { xmlRows } from '../../../src/engine/formats/xml.ts';
import { compilePath, encodeExact, parseExact, type Json } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, startApi } from '../../cli/support.ts';
import { bodyOf, measure, take } from './support.ts';
import { times } from '../../support/sample.ts';

const plain = { dataField: undefined, isExact: false, redact: (text: string) => text };

function lineValues(text: string, piece?: number): readonly Json[] {
  return take(jsonLines(bodyOf(text, piece), plain));
}

/** The rows of JSON lines by the parser of the platform, line by line; or the number of the first line that is none. */
function reference(text: string): { readonly rows: readonly string[]; readonly bad?: number } {
  const rows: string[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (/^[ \t\r]*$/.test(line)) continue;
    try {
      JSON.parse(line);
    } catch {
      return { rows, bad: i + 1 };
    }
    rows.push(encodeExact(parseExact(line)));
  }
  return { rows };
}

function lines(text: string): readonly Json[] {
  return take(textLines(bodyOf(text, 3), undefined));
}

describe('JSON lines', () => {
  test('give back what was written, line by line', () => {
    const all = fc.array(fc.jsonValue());
    fc.assert(
      fc.property(
        all,
        fc.constantFrom('\n', '\r\n', '\n\n'),
        fc.integer({ min: 1, max: 40 }),
        (values, end, piece) => {
          const texts = values.map((value) => JSON.stringify(value));
          const rows = lineValues(texts.join(end), piece);
          expect(rows.map((row) => encodeExact(row))).toEqual(
            texts.map((text) => encodeExact(parseExact(text))),
          );
        },
      ),
    );
  });

  test('numbers keep their literals', () => {
    expect(lineValues('{"a":12345678901234567890}\n{"a":1.50}\n').map((row) => encodeExact(row))).toEqual([
      '{"a":12345678901234567890}',
      '{"a":1.50}',
    ]);
  });

  test.each([
    ['{"a":1},{"b":2}\n', 'Line 1'],
    ['{"a":1}\n[1\n2]\n', 'Line 2'],
    ['{"a":[{"b":1}\n{"c":2}]}\n{"a":1},{"b":2}\n', 'Line 1'],
    ['{\n  "a": 1\n}\n', 'Line 1'],
    ['{"a":1}\n\n{"b":', 'Line 3'],
    ['{"a":1}\n{"b":2}\n,', 'Line 3'],
    [',', 'Line 1'],
    ['{"a":1}\n \t, ', 'Line 2'],
    ['{"a":1}\n{"b":2},', 'Line 2'],
  ])('%j is not taken for other rows than it has', (text, line) => {
    expect(() => lineValues(text)).toThrow(`${line} of the response is no JSON`);
  });

  test('are read as a reference reads them, whatever the lines are and however they come', () => {
    const pieces = [
      '{"a":1}',
      '[]',
      '"é"',
      '1',
      'null',
      ',',
      '[',
      ']',
      '{',
      '}',
      ':',
      '"',
      '\\',
      ' ',
      '\t',
      '\r',
    ];
    const line = fc.oneof(
      { weight: 3, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
      {
        weight: 1,
        arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((some) => some.join('')),
      },
    );
    const file = fc.tuple(fc.array(line, { maxLength: 6 }), fc.constantFrom('', '\n'));
    fc.assert(
      fc.property(file, fc.integer({ min: 1, max: 40 }), ([all, end], piece) => {
        const text = all.join('\n') + end;
        const rows = jsonLines(bodyOf(text, piece), plain);
        const expected = reference(text);
        if (expected.bad === undefined) {
          expect(measure(rows).rows).toBe(expected.rows.length);
          expect([...rows.chunks()].flat().map((row) => encodeExact(row))).toEqual(expected.rows);
        } else expect(() => [...rows.chunks()]).toThrow(`Line ${expected.bad} of the response is no JSON`);
      }),
      { numRuns: times(1000) },
    );
  });

  test('lines without the data field are told of', () => {
    const rows = jsonLines(bodyOf('{"r":[1,2]}\n{"s":1}\n{"r":3}\n'), {
      ...plain,
      dataField: compilePath('r'),
    });
    expect(take(rows)).toEqual([1, 2, 3]);
    expect(measure(rows).warning).toBe('1 of 3 lines of the response have nothing at “r” and give no row');
  });

  test('the last line without the data field is beside the rows', () => {
    const rows = jsonLines(bodyOf('{"r":1}\n{"meta":{"total":23}}\n'), {
      ...plain,
      dataField: compilePath('r'),
    });
    expect(measure(rows).envelope).toEqual({ meta: { total: 23 } });
  });

  test('whose last line was cut are asked for again by the run that goes on', async () => {
    const whole = '{"id":1}\n{"id":2}\n';
    const api = await startApi((_, response) => {
      const body = api.seen.length > 1 ? whole : whole.slice(0, -3);
      return response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).end(body);
    });
    const folder = dataFolder(configOf(api, [{ endpoint: 'books', dataType: 'books' }]));
    const start = async (): Promise<unknown> => await run({ dataFolder: folder, log: silentLog });
    await expect(start()).rejects.toThrow('Line 2 of the response is no JSON');
    await start();
    expect(api.seen).toEqual(['GET /books', 'GET /books']);
    expect(filesOf(folder)['out/tables/library.books']).toBe('"id"\n"1"\n"2"\n');
  });
});

test('lines of text', () => {
  expect(lines('a\r\n\nß c\n')).toEqual([{ line: 'a' }, { line: '' }, { line: 'ß c' }]);
  expect(lines('a\nb')).toEqual([{ line: 'a' }, { line: 'b' }]);
  expect(lines('')).toEqual([]);
});

describe('XML', () => {
  const settings = { leaves: 'texts', namespaces: 'keep' } as const;
  const rowsOf = (text: string, path?: string, piece?: number): readonly Json[] =>
    take(xmlRows(bodyOf(text, piece), { settings, path: path?.split('.'), charset: undefined }));

  test('is the same, however it comes', () => {
    const text = '<a><b n="1">é &lt;</b><c/><b n="2"><d>x</d><d/></b></a>';
    const rows = [
      { '@n': '1', '#text': 'é <' },
      { '@n': '2', d: ['x', null] },
    ];
    for (let piece = 1; piece < 20; piece++) expect(rowsOf(text, 'a.b', piece)).toEqual(rows);
  });

  test('what is beside the rows is kept for the pagination', () => {
    const text = '<a total="2"><next>2</next><list><b>1</b><b>2</b></list></a>';
    const rows = xmlRows(bodyOf(text), { settings, path: ['a', 'list', 'b'], charset: undefined });
    expect(measure(rows)).toMatchObject({
      rows: 2,
      envelope: { a: { '@total': '2', next: '2', list: null } },
    });
  });

  test('a text that comes in very many pieces is whole', () => {
    const pieces = Array.from({ length: 3000 }, (_, i) => `é${i}<!-- -->\n`);
    const text = `<a><b>${pieces.join('')}</b>${'\n<c/>'.repeat(5000)} end</a>`;
    const rows = xmlRows(bodyOf(text, 999), { settings, path: ['a', 'b'], charset: undefined });
    expect(take(rows)).toEqual([pieces.join('').replaceAll('<!-- -->', '')]);
    expect(measure(rows).envelope).toMatchObject({ a: { '#text': `${'\n'.repeat(5000)} end` } });
  });

  test('rows may hold elements of their own name, and the path may come again elsewhere', () => {
    expect(rowsOf('<a><b><b>1</b></b><c><b>no</b></c></a>', 'a.b')).toEqual([{ b: '1' }]);
  });

  test('an encoding that is declared is used', () => {
    const text = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a><b>\xe9</b></a>', 'latin1');
    expect(take(xmlRows(bodyOf(text), { settings, path: undefined, charset: undefined }))).toEqual(['é']);
  });

  test.each([
    ['<a><b></a>', 'Line 1'],
    ['<a>\n<b/>', 'unclosed tag: a'],
    ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><b>&x;</b></a>', 'undefined entity'],
    ['<a><b/><c/></a>', 'more than one kind of element below “a”: “b”, “c”'],
    ['', 'document must contain a root element'],
    ['{"error": 1}', 'Line 1'],
  ])('%j is an error that says what is wrong', (text, message) => {
    expect(() => rowsOf(text)).toThrow(message);
  });

  test('what is nested deeper than data is refused', () => {
    expect(() => rowsOf(`${'<a>'.repeat(300)}${'</a>'.repeat(300)}`)).toThrow('nested too deeply');
  });

  test('a path that leads nowhere is told of, with what is there', () => {
    const rows = xmlRows(bodyOf('<a><list><b/></list></a>'), {
      settings,
      path: ['a', 'b'],
      charset: undefined,
    });
    expect(measure(rows).warning).toBe('The response has no element at “a.b”. It has “a.list.b”.');
  });
});

test('wildcards fit what is between their stars', () => {
  const fits = wildcard('a*b*.csv');
  expect(['ab.csv', 'axxbyy.csv', 'a.csv', 'ab.csv.gz', 'bab.csv'].map(fits)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(wildcard('a')('a')).toBe(true);
  expect(wildcard('*')('')).toBe(true);
  expect(wildcard('aa*aa')('aaa')).toBe(false);
});
