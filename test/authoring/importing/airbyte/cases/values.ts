import { stream, type TwoRuns } from '../../support/two-runs.ts';

/** Makes the id of each row from a template; ids are in the order of their texts. */
const made = (
  name: string,
  value: string,
  rows: readonly object[],
  ids: readonly string[],
  more: object = {},
): TwoRuns => ({
  name,
  stream: stream('items', '/a', {
    transformations: [{ type: 'AddFields', fields: [{ path: ['id'], value, ...more }] }],
  }),
  api: () => rows.map((row) => ({ row: 1, ...row })),
  asks: [['GET /a'], ['GET /a']],
  ids: [ids, ids],
});

/** The same with a schema that has the types of the rows: what is an error in Python is ruled out by it. */
const typed: typeof made = (name, value, rows, ids) => {
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const properties = Object.fromEntries(
    fields.map((field) => [
      field,
      {
        type: [
          ...new Set(rows.flatMap((row) => typeOf(Object.entries(row).find(([key]) => key === field)?.[1]))),
        ],
      },
    ]),
  );
  const of = made(name, value, rows, ids);
  const schema_loader = { type: 'InlineSchemaLoader', schema: { type: 'object', properties } };
  return { ...of, stream: { ...of.stream, schema_loader } };
};

function typeOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  return [value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value];
}

const TEXTS = ['1.50', '007', '1e3', 'None', "'q'", 'True', '1_0', 'a b', '-', '+5', '  3'].map((s) => ({
  s,
}));

/** Values of added fields, by airbyte-cdk 7.39.1. */
export const VALUE_CASES: readonly TwoRuns[] = [
  made('a text is read as a literal of Python', '{{ record.s }}', TEXTS, [
    '',
    '-',
    '007',
    '1',
    '1.5',
    '10',
    '1000',
    '3',
    '5',
    'a b',
    'q',
  ]),
  made(
    'so are texts that are joined',
    '{{ record.a }}_{{ record.b }}',
    [
      { a: 1, b: 2 },
      { a: 'x', b: 2 },
    ],
    ['12', 'x_2'],
  ),
  made(
    'a number below a line that sets a name is one',
    "{% set v = record.get('s') %}\n{{ v | replace('%', '') | float if v is not none and v != '' else None }}\n",
    [{ s: '12.50%' }, { s: '' }, { s: null }, {}, { s: '7' }],
    ['', '', '', '12.5', '7'],
  ),
  made(
    'so are items of a list that is written out',
    "{{ [record.get('a', ''), record.b, 'c'] | join('|') }}",
    [{ a: 1, b: 'x' }, { b: 2 }, { a: null }],
    ['1|x|c', 'None||c', '|2|c'],
  ),
  made(
    'also by a method of the text between them',
    "{{ '-'.join([record.a, record.b]) }}",
    [{ a: 'x', b: 'y' }],
    ['x-y'],
  ),
  made(
    'null inside of a text is None, and a field that is missing is nothing',
    "{{ record.s ~ '/' ~ record.get('t') }}",
    [{ s: null, t: 1 }, { s: 'a', t: null }, {}, { s: true, t: 1.5 }],
    ['/None', 'None/1', 'True/1.5', 'a/None'],
  ),
  made(
    'so it is in the text of a value',
    '{{ record.s }}',
    [{ s: null }, { s: '1.50' }, {}],
    ['', '1.50', 'None'],
    {
      value_type: 'string',
    },
  ),
  made(
    'and where it is written in small letters',
    '{{ record.s | lower }}',
    [{ s: null }, { s: 'A' }, {}],
    ['', 'a', 'none'],
  ),
  made(
    'whole numbers are cut',
    '{{ record.n | int }}',
    [{ n: -2.5 }, { n: '3.7' }, { n: 'x' }, {}],
    ['-2', '0', '0', '3'],
  ),
  typed(
    'the rest of a division has the sign of the divisor',
    '{{ record.n % 3 }}',
    [{ n: -7 }, { n: 7 }],
    ['1', '2'],
  ),
  typed('a list that is missing has no items', '{{ record.l | length }}', [{ l: [1, 2] }, {}], ['0', '2']),
  typed(
    'an item of a text is a character',
    '{{ record.v[0] }}{{ record.v | last }}',
    [{ v: 'xyz' }, { v: ['a', 'b'] }],
    ['ab', 'xz'],
  ),
  made(
    'a text is no number',
    "{{ 'same' if record.n == '1' else 'other' }}",
    [{ n: 1 }, { n: '1' }],
    ['other', 'same'],
  ),
  made(
    'two fields are equal by their types',
    "{{ 'same' if record.a == record.b else 'other' }}",
    [
      { a: 1, b: '1' },
      { a: 1, b: 1.0 },
      { a: 'x', b: 'x' },
    ],
    ['other', 'same', 'same'],
  ),
  made(
    'a part that a text does not have is no None',
    "{{ record.s.split('|')[1] | lower }}",
    [{ s: 'a|B' }, { s: 'c' }],
    ['', 'b'],
  ),
  made('the text 0 is true', "{{ 'yes' if record.n else 'no' }}", [{ n: '0' }, { n: 0 }], ['no', 'yes']),
  made('a constant is read, too', '1.50', [{}], ['1.5']),
  typed(
    'fractions are kept in binary digits',
    '{{ record.n * 1.1 }}',
    [{ n: 3 }, { n: 0.1 }],
    ['0.11000000000000001', '3.3000000000000003'],
  ),
  typed(
    'texts and lists are repeated',
    '{{ record.s * 2 }}',
    [{ s: 'ab' }, { s: 4 }, { s: true }],
    ['2', '8', 'abab'],
  ),
  typed('a quotient has a fraction', '{{ (record.n / 2) ~ "x" }}', [{ n: 4 }, { n: 5 }], ['2.0x', '2.5x']),
  typed(
    'a part of a list is one',
    "{{ record.l[1:] | join('-') }}",
    [{ l: ['a', 'b', 'c'] }, { l: [] }],
    ['', 'b-c'],
  ),
  typed('a part may have a step', '{{ record.s[::2] }}', [{ s: 'abcde' }, { s: 'x' }], ['ace', 'x']),
  typed(
    'joined items are written as Python writes them',
    "{{ record.l | join('|') }}",
    [{ l: [true, 1.5, null] }, { l: ['x', 'y'] }],
    ['True|1.5|None', 'x|y'],
  ),
  typed(
    'what is no text is JSON by the filter string',
    '{{ record.s | string }}',
    [{ s: 5 }, { s: null }, { s: 'x' }],
    ['5', 'null', 'x'],
  ),
  typed(
    'a number is no text in a list',
    "{{ 'yes' if '1' in record.l else 'no' }}",
    [{ l: ['1'] }, { l: [1] }],
    ['no', 'yes'],
  ),
  made(
    'the text 0 is a value',
    "{{ record.s or 'none' }}",
    [{ s: '0' }, { s: '' }, { s: 0 }],
    ['0', 'none', 'none'],
  ),
  made(
    'an item that a list does not have is nothing in a text',
    '{{ record.l[1] }}/',
    [{ l: ['a', 'b'] }, { l: ['a'] }],
    ['/', 'b/'],
  ),
  typed(
    'a text that stands for a missing one has parts',
    "{{ 'x' + record.get('s', '') }}",
    [{}, { s: 'y' }],
    ['x', 'xy'],
  ),
  made('true is 1', '{{ record.b | int }}', [{ b: true }, { b: '7.9' }, { b: 'x' }], ['0', '1', '7']),
  typed(
    'the time of a text keeps its fraction of a second',
    "{{ format_datetime(record.t, '%Y-%m-%dT%H:%M:%S.%f') }} {{ format_datetime(record.t, '%ms') }} {{ timestamp(record.t) }}",
    [{ t: '2024-01-15T10:00:00.123Z' }, { t: '2024-01-15T10:00:00+01:00' }],
    [
      '2024-01-15T09:00:00.000000 1705309200000 1705309200.0',
      '2024-01-15T10:00:00.123000 1705312800123 1705312800.123',
    ],
  ),
  made(
    'an object that is missing is the one that stands for it',
    "{{ 'none' if record.get('o', {}) is none else 'some' }}",
    [{}, { o: { a: 1 } }, { o: null }],
    ['none', 'some', 'some'],
  ),
];

const SETTINGS = { text: 'abc', list: ['a', 'b'], count: '12' };

/** Values of parameters and bodies that settings make. */
const sent = (
  name: string,
  values: Readonly<Record<string, string>>,
  query: string,
  body: string,
): TwoRuns => ({
  name,
  stream: stream('items', '/a', {
    requester: { http_method: 'POST', request_parameters: values, request_body_json: values },
  }),
  settings: SETTINGS,
  api: () => [],
  asks: [[`POST /a?${query} application/json ${body}`], [`POST /a?${query} application/json ${body}`]],
});

export const SENT_CASES: readonly TwoRuns[] = [
  {
    name: 'a number with its fraction, in an address and a parameter',
    stream: stream('items', '/a/{{ 7 / config.part }}', {
      requester: { request_parameters: { n: '{{ config.part * 1.5 }}', m: '{{ (7 / config.part) | int }}' } },
    }),
    settings: { part: 2 },
    more: {
      spec: {
        type: 'Spec',
        connection_specification: { type: 'object', properties: { part: { type: 'integer' } } },
      },
    },
    api: () => [],
    asks: [['GET /a/3.5?m=3&n=3.0'], ['GET /a/3.5?m=3&n=3.0']],
  },
  sent(
    'parts of settings',
    { a: '{{ config.text[0] }}', b: '{{ config.list[-1] }}', c: '{{ config.text ~ config.list[0] }}' },
    'a=a&b=b&c=abca',
    '{"a":"a","b":"b","c":"abca"}',
  ),
  sent('a text is no number', { a: '{{ config.count == 12 }}' }, 'a=False', '{"a":false}'),
  sent(
    'a text of digits is read as a number in a body',
    { a: "{{ '1' + config.count }}" },
    'a=112',
    '{"a":112}',
  ),
  sent(
    'so is a time in seconds',
    { a: "{{ format_datetime('2024-01-15T10:00:00Z', '%s') }}", b: "{{ now_utc().strftime('%Y') }}" },
    'a=1705312800&b=2024',
    '{"a":1705312800,"b":2024}',
  ),
];
