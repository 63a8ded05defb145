import { describe, expect, test } from 'vitest';
import { findSources } from '../../../../src/authoring/importing/dlt/find-sources.ts';
import { PythonFile } from '../../../../src/authoring/importing/python/python-file.ts';
import { PythonReader } from '../../../../src/authoring/importing/dlt/python/read-python.ts';
import {
  PythonCall,
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
  if (value instanceof PythonCall)
    return { call: value.name, args: value.args.map(plain), keywords: plain(value.keywords) };
  return isList(value) ? value.map(plain) : value;
}

const readerOf = (source: string): PythonReader => new PythonReader(new PythonFile(source, 'x.py'));
const read = (source: string): unknown => plain(readerOf(source).valueOf('x', Infinity));

/** Names of which each stands for two of the one before: forty lines are 2 ** 40 values. */
function doubling(twice: (name: string) => string): string {
  const lines = Array.from({ length: 40 }, (_, i) => `x${i + 1} = ${twice(`x${i}`)}`);
  return ["x0 = 'a'", ...lines, 'x = x40'].join('\n');
}

describe('literals of Python are read, and nothing is run', () => {
  test.each<[string, unknown]>([
    ['x = 1_000', 1000],
    ['x = -2.5e3', -2500],
    ['x = 0x1F', 31],
    ['x = [1., 2.5, .5]', [1, 2.5, 0.5]],
    ["x = '1.'", '1.'],
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
    ['y = {"a": x}\nx = y', { a: { code: 'x' } }],
    ["x = f'{1!r}'", { code: "f'{1!r}'" }],
    ["y = {'a': {'b': 1}}\nx = y['a']['b']", 1],
    [
      "x = {'a': {k: 1 for k in y}, 'b': f(i for i in y)}",
      { a: { code: '{k: 1 for k in y}' }, b: { call: 'f', args: [{ code: 'i for i in y' }], keywords: {} } },
    ],
    ["x = f(**{**y, 'a': 1})", { call: 'f', args: [], keywords: { a: 1, '**': ['y'] } }],
  ])('%s', (source, expected) => {
    expect(read(source)).toEqual(expected);
  });

  test.each([
    ["x = 'a", 'A text begins here and does not end.', 5],
    ["y = f'a{b", 'A text begins here and does not end.', 5],
    ['x = $', '“$” is no sign of Python.', 5],
    ['x = {', 'The syntax is not valid Python.', 6],
    ['x = [1, (2', 'The syntax is not valid Python.', 11],
    ['x = f(', 'The syntax is not valid Python.', 7],
    ['x = {"a":', 'The syntax is not valid Python.', 10],
    ['x = a[', 'The syntax is not valid Python.', 7],
    ['x = {"a" "b"', 'The syntax is not valid Python.', 13],
    ['x = {"a": 1 "b": 2}', 'The syntax is not valid Python.', 13],
  ])('%s is refused with its place', (source, message, column) => {
    const where = { file: 'x.py', line: 2, column };
    expect(() => read(`\n${source}`)).toThrow(expect.objectContaining({ message, where }));
  });

  test.each([
    'with (a as b, c as d): pass',
    '@a.b(c)(d)\ndef f(): pass',
    'y = a[*b]',
    'y = {"a": 1 "b": 2}',
    '%pip install dlt',
  ])('what the parser does not know elsewhere is passed over: %s', (other) => {
    expect(read(`${other}\nx = {"a": 1}`)).toEqual({ a: 1 });
  });

  const long = 1_000_000;
  test.each<[string, string]>([
    ['brackets', `x = ${'['.repeat(long)}`],
    ['brackets that are closed', `x = ${'['.repeat(long / 2)}${']'.repeat(long / 2)}`],
    ['brackets of all kinds', `x = ${'({['.repeat(long / 3)}`],
    ['calls', `x = ${'f('.repeat(long / 2)}`],
    ['commas', `x = [${','.repeat(long)}`],
    ['colons of a short file', `x = {${':'.repeat(20_000)}`],
    ['signs of no language', `x = ${'$'.repeat(long)}`],
    ['texts', `x = ${`f'{`.repeat(long / 3)}`],
    ['minus signs', `x = ${'-'.repeat(long)}1`],
    ['choices', `x = ${'a if '.repeat(long / 5)}`],
    ['a sum', `x = ${'a + '.repeat(long / 4)}`],
    ['values that are too many', `x = [${'1,'.repeat(120_000)}]`],
    ['values that are nested', `x = ${'['.repeat(150)}${']'.repeat(150)}`],
    ['lists that double', doubling((name) => `[${name}, ${name}]`)],
    ['texts that double', doubling((name) => `f'{${name}}{${name}}'`)],
    ['sums that double', doubling((name) => `${name} + ${name}`)],
  ])('a hostile file is refused in a short time: %s', { tags: 'thorough' }, (_, source) => {
    const start = process.cpuUsage();
    expect(() => read(source)).toThrow(expect.objectContaining({ code: 'import.invalid' }));
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1e6).toBeLessThan(20);
  });

  test('a long sum, a long list and many attributes are read', () => {
    expect(read(`x = ${"'a' + ".repeat(400)}'b'`)).toHaveLength(401);
    expect(read(`x = [${'1,'.repeat(20_000)}]`)).toHaveLength(20_000);
    expect(read(`x = a${'.b'.repeat(400)}`)).toHaveProperty('code');
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
      'del base["a"]',
    ].join('\n');
    const reader = readerOf(source);
    reader.valueOf('x', Infinity);
    expect([...reader.usedNames]).toEqual(['x', 'base']);
    expect(reader.changes()).toEqual([
      { name: 'base', line: 3 },
      { name: 'x', line: 4 },
      { name: 'x', line: 5 },
      { name: 'base', line: 8 },
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
    [`{"client": ${'['.repeat(200)}${']'.repeat(200)}}`, 'The JSON of the file is nested too deep.'],
  ])('%s is refused', (text, message) => {
    expect(() => findSources(text, text.startsWith('{') ? 'x.json' : 'x.py')).toThrow(message);
  });
});
