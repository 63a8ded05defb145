import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { describeError } from '../../../src/lib/errors.ts';
import { createCaller } from '../../../src/engine/jobs/functions/index.ts';
import {
  encodeExact,
  entriesOf,
  isList,
  isObject,
  objectOf,
  parseExact,
  type Json,
} from '../../../src/lib/json/index.ts';
import { compileSteps, RowWatch, type PageFacts } from '../../../src/engine/records/steps/index.ts';
import { snakeCase } from '../../../src/engine/records/steps/snake-case.ts';
import { times } from '../../support/sample.ts';

const FACTS: PageFacts = {
  now: 1_777_593_600_000,
  response: () => ({ meta: { currency: 'EUR' } }),
  headers: { 'x-total': '7' },
  answer: { status: 200, page: 2, rows: 3, read: null, bytes: 10, url: 'https://api.test/rows' },
  request: { endpoint: 'rows', method: 'GET', params: { lang: 'cs' }, headers: {} },
  contexts: { attr: { country: 'CZ' }, state: { cursor: '2026-01-02' } },
};

function steps(settings: string): ReturnType<typeof compileSteps> {
  const node = parseExact(settings);
  if (!isObject(node)) throw new Error('settings are an object');
  return compileSteps(node, 'job', (now) => createCaller({ ...systemEnv, now }));
}

/** Rows and settings as JSON, in and out. */
function made(settings: string, rows: string): string {
  const list = parseExact(rows);
  return encodeExact(steps(settings)?.of(FACTS)(list as readonly Json[]) ?? []); // the texts below are lists
}

test.each([
  ['"lines"', '[{"a":1,"lines":[{"b":1},{"b":2}]},{"a":2}]', '[{"b":1},{"b":2}]'],
  ['{"path":"lines","with":["a"]}', '[{"a":1,"lines":[{"b":1}]}]', '[{"b":1,"a":1}]'],
  ['{"path":"lines","with":"*"}', '[{"a":1,"lines":["x"],"10":2}]', '[{"data":"x","a":1,"10":2}]'],
  [
    '{"path":"lines","with":["a"],"empty":"keep"}',
    '[{"a":1,"lines":[]},{"a":2,"lines":null}]',
    '[{"a":1},{"a":2}]',
  ],
  ['{"path":"in.lines","with":{"k":{"row":"in.k"}}}', '[{"in":{"k":7,"lines":{"b":1}}}]', '[{"b":1,"k":7}]'],
  ['"$.groups[*].items[*]"', '[{"groups":[{"items":[{"b":1}]},{"items":[{"b":2}]}]}]', '[{"b":1},{"b":2}]'],
])('expand %s: %s becomes %s', (expand, rows, out) => {
  expect(made(`{"expand":${expand}}`, rows)).toBe(out);
});

test.each([
  ['{"b":"a"}', '[{"a":1}]', '[{"a":1,"b":1}]'],
  ['{"a":{"value":9}}', '[{"a":1,"z":2}]', '[{"a":9,"z":2}]'],
  ['{"a":null}', '[{"a":1,"z":2}]', '[{"z":2}]'],
  ['{"o.x":{"value":9},"p.q":{"value":8},"o.y":null}', '[{"o":{"x":1,"y":2}}]', '[{"o":{"x":9},"p.q":8}]'],
  ['{"10":"a"}', '[{"z":1,"a":2}]', '[{"z":1,"a":2,"10":2}]'],
  ['{"b":"a"}', '[{"10":1,"a":2.50}]', '[{"10":1,"a":2.50,"b":2.50}]'],
  ['{"__proto__":"a"}', '[{"a":1}]', '[{"a":1,"__proto__":1}]'],
  ['{"b":"a"}', '[null,5,[1]]', '[null,{"data":5,"b":null},{"data":[1],"b":null}]'],
  [
    '{"c":{"response":"meta.currency"},"h":{"header":"X-Total"},"p":{"answer":"page"}}',
    '[{}]',
    '[{"c":"EUR","h":"7","p":2}]',
  ],
  [
    '{"l":{"request":"lang"},"k":{"attr":"country"},"s":{"state":"cursor"}}',
    '[{}]',
    '[{"l":"cs","k":"CZ","s":"2026-01-02"}]',
  ],
  ['{"t":{"function":"time"}}', '[{}]', '[{"t":1777593600}]'],
  ['{"a":"b","b":"a"}', '[{"a":1,"b":2}]', '[{"a":2,"b":1}]'],
])('columns %s: %s becomes %s', (columns, rows, out) => {
  expect(made(`{"columns":${columns}}`, rows)).toBe(out);
});

test.each([
  ['"exclude":["a"]', '[{"a":1,"b":{"a":2}}]', '[{"b":{"a":2}}]'],
  ['"exclude":["*.a"]', '[{"a":1,"b":{"a":2,"c":{"a":3}}}]', '[{"a":1,"b":{"c":{"a":3}}}]'],
  ['"exclude":["**.a"]', '[{"a":1,"b":[{"a":2},{"c":{"a":3,"d":4}}]}]', '[{"b":[{},{"c":{"d":4}}]}]'],
  ['"exclude":["b.**"]', '[{"a":1,"b":{"a":2}}]', '[{"a":1}]'],
  ['"exclude":["*_url","x*y*z"]', '[{"a_url":1,"xyz":2,"xz":3,"url":4}]', '[{"xz":3,"url":4}]'],
  ['"exclude":["/^(?:a|b[.]c)$/","/UP/i"]', '[{"a":1,"b":{"c":2,"d":3},"up":4}]', '[{"b":{"d":3}}]'],
  ['"exclude":["$.b.c"]', '[{"b":{"c":1,"d":2}}]', '[{"b":{"d":2}}]'],
  ['"rename":{"a":"x","b.c":"y"}', '[{"a":1,"b":[{"c":2}]}]', '[{"x":1,"b":[{"y":2}]}]'],
  ['"rename":{"10":"ten"}', '[{"10":1,"b":2}]', '[{"ten":1,"b":2}]'],
  [
    '"case":"snake","rename":{"userId":"UID"}',
    '[{"userId":1,"homeTown":{"zipCode":2}}]',
    '[{"UID":1,"home_town":{"zip_code":2}}]',
  ],
  ['"case":"lower"', '[{"UserId":1}]', '[{"userid":1}]'],
  ['"case":"snake","columns":{"ItIs":"userId"}', '[{"userId":1}]', '[{"user_id":1,"ItIs":1}]'],
  ['"exclude":["a"],"columns":{"a":"a.b"}', '[{"a":{"b":1}}]', '[{"a":1}]'],
])('%s: %s becomes %s', (settings, rows, out) => {
  expect(made(`{${settings}}`, rows)).toBe(out);
});

test('keys in snake case', () => {
  const cases = {
    userId: 'user_id',
    'User ID': 'user_id',
    HTTPServer: 'http_server',
    v2Name: 'v2_name',
    _links: '_links',
    'e-mail': 'e_mail',
    'größe€': 'größe',
    ID: 'id',
    'a.b': 'a_b',
  };
  expect(Object.fromEntries(Object.keys(cases).map((key) => [key, snakeCase(key)]))).toEqual(cases);
});

const key = fc.constantFrom('a', 'b', 'ab', 'c', '10');
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(1, null, 'x'),
    fc.array(tie('tree'), { maxLength: 2 }),
    fc.array(fc.tuple(key, tie('tree')), { maxLength: 3 }).map((entries): Json => objectOf(entries)),
  ),
}));
const part = fc.constantFrom('a', 'b', 'a*', '*', '**', '10');

describe('for any rows and any pattern', () => {
  test('exclude leaves out what the pattern says, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(tree, { maxLength: 3 }),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        (rows, parts) => {
          const pattern = parts.join('.');
          const out = made(JSON.stringify({ exclude: [pattern] }), encodeExact(rows));
          expect(out).toBe(encodeExact(rows.map((row) => without(row, expressionOf(parts), []))));
        },
      ),
      { numRuns: times(500) },
    );
  });

  test('chunks do not matter, and rows are counted once', () => {
    const settings = '{"where":{"value":"a","is":"present"},"columns":{"z":"a"},"exclude":["b"]}';
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 8 }), fc.nat(8), (rows, at) => {
        const compiled = steps(settings);
        const [watch, other] = [new RowWatch(), new RowWatch()];
        const whole = compiled?.of(FACTS, watch)(rows) ?? [];
        const change = compiled?.of(FACTS, other);
        const parts = [rows.slice(0, at), rows.slice(at)].flatMap((chunk) => change?.(chunk) ?? []);
        expect(encodeExact(parts)).toBe(encodeExact(whole));
        expect([other.asked, other.leftOut]).toEqual([rows.length, rows.length - whole.length]);
        expect([watch.asked, watch.leftOut]).toEqual([other.asked, other.leftOut]);
      }),
    );
  });
});

test('the number of rows so far is refused', () => {
  expect(() => steps('{"columns":{"n":{"answer":"read"}}}')).toThrow('is not known where rows are changed');
  try {
    steps('{"columns":{"n":{"answer":"read"}}}');
  } catch (error) {
    expect(describeError(error)).toContain('job.columns.n.answer');
  }
});

/** A naive reading of a pattern: an expression over keys joined by slashes. */
function expressionOf(parts: readonly string[]): RegExp {
  const texts = parts.map((each) => (each === '**' ? '(?:[^/]+/)*' : `${each.replaceAll('*', '[^/]*')}/`));
  return new RegExp(`^${texts.join('')}$`);
}

function without(value: Json, pattern: RegExp, keys: readonly string[]): Json {
  if (isList(value)) return value.map((item) => without(item, pattern, keys));
  if (!isObject(value)) return value;
  return objectOf(
    entriesOf(value).flatMap(([name, item]): [string, Json][] =>
      pattern.test([...keys, name].map((each) => `${each}/`).join(''))
        ? []
        : [[name, without(item, pattern, [...keys, name])]],
    ),
  );
}
