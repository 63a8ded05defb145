import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../src/lib/errors.ts';
import {
  compilePath,
  encodeExact,
  isList,
  parseExact,
  type Json,
  type Path,
} from '../../../src/lib/json/index.ts';
import { readPage, type Page } from '../../../src/engine/records/page.ts';
import { times } from '../../support/sample.ts';

function pageOf(text: string, dataField: Path | undefined): Page {
  return readPage(Buffer.from(text), {
    dataField,
    endpoint: 'users',
    describeUrl: () => 'https://api.example.com/users',
    redact: (shown) => shown.replaceAll('hunter2', '***'),
  });
}

function rowsOf(text: string, path: string): string {
  return encodeExact(pageOf(text, compilePath(path)).pieces.flatMap((piece) => piece.decode()));
}

describe('for every document, its rows and the rest are those of a plain parse', () => {
  const key = fc.constantFrom('data', 'x', '1', '10', 'data.x', 'é').chain(escaped);
  const scalar = fc.constantFrom(
    '1',
    '1.0',
    '"a"',
    String.raw`"\ud800"`,
    'null',
    'true',
    '"1"',
    '12345678901234567890',
    '-0',
  );
  // Keys may come twice.
  const { text } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
      fc
        .array(fc.tuple(key, tie('text')), { maxLength: 4 })
        .map((entries) => `{${entries.map(([name, value]) => `"${name}": ${value}`).join(',')}}`),
    ),
  }));
  const document = fc
    .array(fc.tuple(key, text), { maxLength: 4 })
    .map((entries) => `{${entries.map(([name, value]) => `"${name}" :${value}`).join(',')}}`);
  const path = fc.constantFrom(
    'data',
    'data.x',
    'data.1',
    'data.0',
    '.',
    '1',
    '$.data[-1]',
    '$.data[*]',
    '$.data[*].x',
  );

  test('with names written in escapes, and names that come twice', () => {
    fc.assert(
      fc.property(fc.oneof(document, text), path, (body, at) => {
        const wanted = compilePath(at).find(parseExact(body));
        const page = pageOf(body, compilePath(at));
        const rows = page.pieces.flatMap((piece) => piece.decode());
        const none = page.rows === 0 && !isList(wanted);
        const expected: Json = none ? [] : isList(wanted) ? wanted : [wanted ?? null];
        expect(encodeExact(rows)).toBe(encodeExact(expected));
        expect(encodeExact(page.response())).toBe(encodeExact(parseExact(body)));
      }),
      { numRuns: times(4000) },
    );
  });

  test('and a body that is no JSON is said to be none, wherever its mistake is', () => {
    fc.assert(
      fc.property(
        document,
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', ']', '{', ' 1', ':'),
        (body, nth, other) => {
          const at = nth % body.length;
          const broken = body.slice(0, at) + other + body.slice(at + 1);
          const valid = resultOf(() => parseExact(broken));
          const page = pageOrError(broken);
          if (valid === undefined) expect(page).toMatchObject({ code: 'response.notJson' });
          else expect(page).toEqual(encodeExact(valid));
        },
      ),
      { numRuns: times(4000) },
    );
  });
});

describe('rows', () => {
  test('keep the order of columns that are written with escapes', () => {
    expect(rowsOf(String.raw`{"data":[{"b":1,"\u0031":2}]}`, 'data')).toBe('[{"b":1,"1":2}]');
    expect(rowsOf(String.raw`[{"b":1,"1\u0030":2}]`, '.')).toBe('[{"b":1,"10":2}]');
  });

  test('are those of the last of two keys', () => {
    expect(rowsOf('{"data":[1,2],"data":{"x":1}}', 'data')).toBe('[{"x":1}]');
    expect(rowsOf('{"data":{"x":1},"data":[1,2]}', 'data')).toBe('[1,2]');
    expect(rowsOf('{"a":{"data":[1]},"a":{"b":2}}', 'a.data')).toBe('[]');
    expect(pageOf('{"data":[1,2],"data":5}', undefined).rows).toBe(0);
  });

  test('are found behind a byte order mark', () => {
    expect(rowsOf('\ufeff{"data":[1]}', 'data')).toBe('[1]');
    expect(pageOf('\ufeff', undefined).rows).toBe(0);
  });

  test('in the items of an answer that is a list are not taken, and the path to them is told', () => {
    expect(rowsOf('[{"data":[1,2]},{"data":[3]}]', 'data')).toBe('[]');
    expect(missed('[{"other":4},{"data":[1,2]}]', 'data')).toEqual({ looked: 'data', near: '$[*].data[*]' });
    expect(missed('[{"a":{"b c":{"x":1}}}]', 'a.b c')).toEqual({ looked: 'a.b c', near: '$[*].a["b c"]' });
    expect(rowsOf('[{"a":{"b c":[1]}},{"a":{"b c":[2]}}]', '$[*].a["b c"][*]')).toBe('[1,2]');
    for (const body of ['[]', '[{"other":1}]', '[{"data":[]}]', '[5]', '{"a":{"data":[1]}}'])
      expect(missed(body, 'data'), body).toBeUndefined();
  });

  test('are found at a key that has a dot in its name, and at the last item', () => {
    expect(rowsOf('{"odata.value":[1,2]}', 'odata.value')).toBe('[1,2]');
    expect(rowsOf('{"lines":[{"stops":[1]},{"stops":[2,3]}]}', '$.lines[-1].stops')).toBe('[2,3]');
  });
});

describe('what went wrong is shown', () => {
  test('an answer without the rows, by its keys and its beginning', () => {
    const body = '{"error": {"message":"No\u202e access with hunter2"}, "code\\n": 7}';
    expect(pageOf(body, compilePath('data')).warning).toBe(
      'The response of “users” contains no data at “data”. The answer has “error”, “code\\n” and begins with: ' +
        '{"error": {"message":"No\\u202e access with ***"}, "code\\n": 7}',
    );
    expect(pageOf(body, undefined).warning).toContain('No list found in the response of “users”');
    expect(pageOf(body, undefined).warning).toContain('The answer has “error”, “code\\n” and begins with');
  });

  test('not where the data is there and empty', () => {
    expect(pageOf('{"data":null}', compilePath('data')).warning).toBe(
      'The response of “users” contains no data at “data”',
    );
  });

  test('shortened, and no half of a secret', () => {
    const body = `{"text":"${'x'.repeat(185)}hunter2${'y'.repeat(9000)}"}`;
    const { warning = '' } = pageOf(body, compilePath('data'));
    expect(warning).toMatch(/x\*\*\*y* …$/);
    expect(warning.length).toBeLessThan(400);
  });

  test('a mistake inside the rows, by its place in the whole body', () => {
    const page = pageOf('{"items":\n[{"a":1},\n {"a":1 "b":2}]}', compilePath('items'));
    const where = { url: 'https://api.example.com/users' };
    expect(() => page.pieces.flatMap((piece) => piece.decode())).toThrow(
      expect.objectContaining({ code: 'response.notJson', where }),
    );
    expect(() => page.response()).toThrow('at line 3, column 9. It begins with: {"items": [{"a":1},');
  });
});

/** Returns the place of rows that were looked for in vain. */
const missed = (body: string, at: string): unknown => pageOf(body, compilePath(at)).missed;

/** The name with some of its characters as escapes. */
function escaped(name: string): fc.Arbitrary<string> {
  const shape = { minLength: name.length, maxLength: name.length };
  return fc
    .array(fc.boolean(), shape)
    .map((flags) =>
      Array.from(name, (char, i) =>
        flags[i] === true ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
      ).join(''),
    );
}

function pageOrError(body: string): unknown {
  try {
    const page = pageOf(body, compilePath('data'));
    for (const piece of page.pieces) piece.decode();
    return encodeExact(page.response());
  } catch (error) {
    if (error instanceof RecordError) return error;
    throw error;
  }
}

function resultOf<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
