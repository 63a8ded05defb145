import { describe, expect, test } from 'vitest';
import { findSources } from '../../../../src/authoring/importing/dlt/find-sources.ts';
import { PythonReader } from '../../../../src/authoring/importing/dlt/python/read-python.ts';
import {
  Call,
  Code,
  isList,
  Setting,
  shownValue,
  TextParts,
  ValueMap,
  type Value,
} from '../../../../src/authoring/importing/dlt/value.ts';

/** A value as plain data, for comparing. */
function plain(value: Value | undefined): unknown {
  if (value instanceof ValueMap)
    return {
      ...Object.fromEntries([...value.entries].map(([key, item]) => [key, plain(item)])),
      ...(value.open.length === 0 ? {} : { '**': value.open.map(({ text }) => text) }),
    };
  if (value instanceof Setting) return { setting: value.name, isSecret: value.isSecret };
  if (value instanceof TextParts) return { text: shownValue(value) };
  if (value instanceof Code) return { code: value.text };
  if (value instanceof Call)
    return { call: value.name, args: value.args.map(plain), keywords: plain(value.keywords) };
  return isList(value) ? value.map(plain) : value;
}

const read = (source: string): unknown => plain(new PythonReader(source, 'x.py').valueOf('x', Infinity));

describe('literals of Python are read, and nothing is run', () => {
  test.each<[string, unknown]>([
    ['x = 1_000', 1000],
    ['x = -2.5e3', -2500],
    ['x = 0x1F', 31],
    ['x = None', null],
    ["x = 'a' \"b\" '''c\nd'''", 'abc\nd'],
    [String.raw`x = 'a\n\x41\u00e9\'\q'`, "a\nAé'\\q"],
    [String.raw`x = r'a\n'`, String.raw`a\n`],
    ["x = 'a' + 'b'", 'ab'],
    ['x = ("a"\n     "b")', 'ab'],
    ['x = (1,)', [1]],
    ['x = ()', []],
    ['x = [1, [2, 3,], (4, 5)]', [1, [2, 3], [4, 5]]],
    ["x = {'a': {'b': True}, 'c': [False],}", { a: { b: true }, c: [false] }],
    ["y = 'v1'\nx = f'https://h/{y}/{{z}}'", 'https://h/v1/{z}'],
    ["y = {'a': 1}\nx = {**y, 'b': 2}", { a: 1, b: 2 }],
    ['y = [1]\nx = [*y, 2]', [1, 2]],
    ["y = {'a': 'b'}\nx = y['a']", 'b'],
    ['x: Dict[str, Any] = {"a": 1}  # why', { a: 1 }],
    ['x = {\n  # a comment\n  "a": 1, \\\n  "b": 2\n}', { a: 1, b: 2 }],
    ["x = dlt.secrets['a.b.key']", { setting: 'key', isSecret: true }],
    ["x = os.environ['API_KEY']", { setting: 'api_key', isSecret: true }],
    ["x = os.getenv('API_KEY', 'none')", { setting: 'api_key', isSecret: true }],
    ["t = dlt.secrets['k']\nx = f'Token {t}'", { text: 'Token {k}' }],
    ['def f(x=dlt.secrets.value): pass', { setting: 'x', isSecret: true }],
    ['def f(x: str): pass', { setting: 'x', isSecret: false }],
    ['def f(t=dlt.secrets.value):\n  x = {"t": t} if t else None', { t: { setting: 't', isSecret: true } }],
    ["x = A(1, b='c')", { call: 'A', args: [1], keywords: { b: 'c' } }],
    [
      "x = dlt.sources.incremental('u', initial_value=1)",
      { call: 'incremental', args: ['u'], keywords: { initial_value: 1 } },
    ],
    ['x = lambda a, b=1: a["x"] > b', { code: 'lambda a, b=1: a["x"] > b' }],
    ['x = [lambda a: (a, 1), 2]', [{ code: 'lambda a: (a, 1)' }, 2]],
    ["x = {'a': 1 if y else 2, 'b': 3}", { a: { code: '1 if y else 2' }, b: 3 }],
    ['x = {k: 1 for k in y}', { code: '{k: 1 for k in y}' }],
    [
      "x = {'a': [i for i in y], 'b': z.w()}",
      { a: [{ code: 'i for i in y' }], b: { call: 'w', args: [], keywords: {} } },
    ],
    ["x = {y(): 1, 'a': 2}", { a: 2, '**': ['a key that is no text'] }],
    ['x = pendulum.now().isoformat()', { code: 'pendulum.now().isoformat()' }],
    ["x = 'a' % 1", { code: "'a' % 1" }],
    ['x = x', { code: 'x' }],
  ])('%s', (source, expected) => {
    expect(read(source)).toEqual(expected);
  });

  test.each([
    ["x = 'a", 'A text begins here and does not end.'],
    ['x = $', '“$” is no sign of Python.'],
  ])('%s is refused', (source, message) => {
    expect(() => new PythonReader(source, 'x.py')).toThrow(message);
  });

  test('brackets that are not closed end somewhere', () => {
    for (const source of ['x = {', 'x = [1, (2', 'x = f(', 'x = {"a":', 'x = a[', 'x = {"a" "b"'])
      expect(() => read(source), source).not.toThrow();
  });

  test('what code changes afterwards is seen', () => {
    const source = [
      'base = {"a": [1]}',
      'x = {"b": base, "c": other}',
      'base["a"].append(2)',
      'x["c"] = 3',
      'x.update(d=4)',
      'y = base["a"]',
      'other.append(5)',
    ].join('\n');
    const reader = new PythonReader(source, 'x.py');
    reader.valueOf('x', Infinity);
    expect([...reader.usedNames]).toEqual(['x', 'base']);
    expect(reader.changes()).toEqual([
      { name: 'base', line: 3 },
      { name: 'x', line: 4 },
      { name: 'x', line: 5 },
    ]);
  });
});

describe('the source of a file', () => {
  const dictionary = '{"client": {"base_url": "https://h"}, "resources": ["a"]}';

  test.each([
    ['given', `s = rest_api_source(${dictionary})`],
    ['by name', `s = rest_api_source(config=${dictionary}, name="s")`],
    ['by a variable', `config: RESTAPIConfig = ${dictionary}\npipeline.run(rest_api_source(config))`],
    ['of a function', `def f():\n  c = ${dictionary}\n  yield from rest_api_resources(c)`],
    ['as keys', `s = rest_api(client={"base_url": "https://h"}, resources=["a"])`],
    ['written alone', `CONFIG: RESTAPIConfig = ${dictionary}`],
    ['JSON', dictionary],
  ])('%s', (kind, text) => {
    const { sources, strange, changes } = findSources(text, kind === 'JSON' ? 'x.json' : 'x.py');
    expect(sources).toHaveLength(1);
    expect(plain(sources[0])).toEqual({ client: { base_url: 'https://h' }, resources: ['a'] });
    expect([strange, changes]).toEqual([[], []]);
  });

  test('several are all taken, and what is none is told', () => {
    const { sources, strange } = findSources(
      `a = rest_api_source(${dictionary})\nb = rest_api_source(${dictionary})\nc = rest_api_source(make())`,
      'x.py',
    );
    expect(sources).toHaveLength(2);
    expect(strange.map(({ line }) => line)).toEqual([3]);
  });

  test.each([
    ['x = 1', 'There is no REST API source in the file.'],
    ['s = rest_api_source(make())', 'What is given to the source in line 1 is no dictionary'],
    ['s = rest_api_source({k: v for k in z})', 'The source in line 1 is made by code: {k: v for k in z}'],
    ['{"client": 1', 'The file is not JSON'],
    ['{"client": 1}', 'The file is no configuration of a REST API source.'],
  ])('%s is refused', (text, message) => {
    expect(() => findSources(text, text.startsWith('{') ? 'x.json' : 'x.py')).toThrow(message);
  });
});
