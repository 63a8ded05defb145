import { stream, type MockAnswer, type TwoRuns } from '../../support/two-runs.ts';

const NESTED: MockAnswer = () => [
  { id: 1, a: { b: 'x' } },
  { id: 2, a: { b: 'y' } },
  { id: 3, a: null },
  { id: 4 },
  { id: 5, a: { b: null } },
  { id: 6, a: {} },
];
const NUMBERS: MockAnswer = () => [
  { id: 1, n: 1 },
  { id: 2, n: 5 },
  { id: 3, n: null },
  { id: 4 },
  { id: 5, n: '1' },
];
const FALSY: MockAnswer = () => [
  { id: 1, n: 0 },
  { id: 2, n: '0' },
  { id: 3, n: false },
  { id: 4, n: 1 },
  { id: 5, n: '1' },
  { id: 6, n: true },
  { id: 7, n: '' },
  { id: 8, n: null },
  { id: 9 },
];
const GUARDED = "not record.a or record.a.b != 'x'";
const withoutTexts: MockAnswer = (...request) => (NUMBERS(...request) as readonly object[]).slice(0, 4);

const kept = (name: string, condition: string, api: MockAnswer, ...ids: readonly string[]): TwoRuns => ({
  name,
  stream: stream('items', '/a', {
    selector: { record_filter: { type: 'RecordFilter', condition: `{{ ${condition} }}` } },
  }),
  api,
  asks: [['GET /a'], ['GET /a']],
  ids: [ids, ids],
});

const LISTS = (): readonly object[] => [
  { id: 1, l: ['a'] },
  { id: 2, l: null },
  { id: 3 },
  { id: 4, l: ['b'] },
];
const OBJECTS = (): readonly object[] => [
  { id: 1, l: { x: 5 } },
  { id: 2, l: null },
  { id: 3 },
  { id: 4, l: {} },
];
const DAYS = (): readonly object[] => [{ id: 1 }, { id: 2, n: '2025' }, { id: 3, n: null }];

/** Filters over fields that are null, missing or of another type. */
export const FILTER_CASES: readonly TwoRuns[] = [
  kept('a field below one that is missing is an error', "record.a.b != 'x'", NESTED, '2', '3', '5', '6'),
  kept('so it is under “not”', "not record['a']['b']", NESTED, '3', '5', '6'),
  kept('also where another part holds', "record.a.b == 'x' or record.id == 4", NESTED, '1'),
  kept('and is none where it is not looked for', GUARDED, NESTED, '2', '3', '4', '5', '6'),
  kept('null that is compared by order is kept', 'record.n > 1', withoutTexts, '2', '3'),
  kept('whatever else is asked', 'record.n > 1 and record.id == 2', withoutTexts, '2', '3'),
  kept('unless it is not reached', 'record.id != 3 and not (record.n > 1)', withoutTexts, '1'),
  kept('what “get” does not find is null, too', "record.get('n') > 1", withoutTexts, '2', '3', '4'),
  kept('null that has no items is kept', "'a' in record.l", LISTS, '1', '2'),
  kept('also where “get” finds none', "'a' in record.get('l')", LISTS, '1', '2', '3'),
  kept('and where it is counted', 'record.l | length > 0', LISTS, '1', '2', '4'),
  kept('null has no “get”', "record.get('l', {}).get('x') != 1", OBJECTS, '1', '3', '4'),
  kept(
    'what “get” takes an empty text for is before a text',
    "record.get('n', '') <= '2024'",
    DAYS,
    '1',
    '3',
  ),
  kept('a number is no text', "record.n == '1' or record.n in ['5']", NUMBERS, '5'),
  kept('nor one of several', "record.n not in ['1', '5']", NUMBERS, '1', '2', '3', '4'),
  kept('a text is no number, and true is 1', 'record.n == 1', FALSY, '4', '6'),
  kept('false is 0', 'record.n != 0', FALSY, '2', '4', '5', '6', '7', '8', '9'),
  kept('so they are among several', 'record.n in [0, 1]', FALSY, '1', '3', '4', '6'),
  kept('1 is true', 'record.n == true', FALSY, '4', '6'),
  kept('and is another value', 'record.n is true', FALSY, '6'),
  kept(
    'so are those with a default',
    "record.get('n', '0') != '0'",
    FALSY,
    '1',
    '3',
    '4',
    '5',
    '6',
    '7',
    '8',
  ),
  kept('which counts where there is none', "record.get('n', 0) in [0, 1]", FALSY, '1', '3', '4', '6', '9'),
  kept('an empty text is not false', "record.n != ''", FALSY, '1', '2', '3', '4', '5', '6', '8', '9'),
  kept('a text that is compared with a number is kept', 'record.n > 0', FALSY, '2', '4', '5', '6', '7', '8'),
  kept('and a number with a text', "record.n > '0'", FALSY, '1', '3', '4', '5', '6', '8'),
  kept('a text of a zero is not nothing', 'not record.n', FALSY, '1', '3', '7', '8', '9'),
  kept('in front of “and”, too', 'record.n and record.id > 1', FALSY, '2', '4', '5', '6'),
  kept('a field that is missing inside of another is not null', 'record.a.b is none', NESTED, '5'),
  kept('whatever says so', 'record.a.b != none', NESTED, '1', '2', '3', '6'),
  {
    name: 'a default is for a field that is missing, and not for null',
    stream: stream('items', '/a', {
      transformations: [
        {
          type: 'AddFields',
          fields: [{ path: ['id'], value: "{{ record.get('n', 'x') }}" }],
        },
        {
          type: 'AddFields',
          condition: '{{ record.a == 1 }}',
          fields: [{ path: ['id'], value: "{{ record.n | default('y') }}" }],
        },
      ],
    }),
    api: () => [{ n: 1 }, { n: null }, {}, { n: null, a: 1 }, { a: 1 }].map((row) => ({ ...row, b: 1 })),
    asks: [['GET /a'], ['GET /a']],
    ids: [
      ['', '', '1', 'x', 'y'],
      ['', '', '1', 'x', 'y'],
    ],
  },
  {
    name: 'a field that is missing leaves the rest of a text',
    stream: stream('items', '/a', {
      transformations: [
        { type: 'AddFields', fields: [{ path: ['id'], value: "{{ record.n }}-{{ record['a'] ~ '/x' }}" }] },
      ],
    }),
    api: () => [{ n: 1, a: 'a' }, { n: 2 }, { a: 'b' }],
    asks: [['GET /a'], ['GET /a']],
    ids: [
      ['-b/x', '1-a/x', '2-/x'],
      ['-b/x', '1-a/x', '2-/x'],
    ],
  },
  {
    name: 'an object without a field is no record',
    stream: stream('items', '/a'),
    api: () => [{ id: 1 }, {}],
    asks: [['GET /a'], ['GET /a']],
    ids: [['1'], ['1']],
  },
];
