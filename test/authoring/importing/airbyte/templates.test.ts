import { describe, expect, test } from 'vitest';
import { TemplateError, type Constant } from '../../../../src/authoring/importing/airbyte/jinja/ast.ts';
import { compute, NotConstant } from '../../../../src/authoring/importing/airbyte/jinja/compute.ts';
import { fold } from '../../../../src/authoring/importing/airbyte/jinja/fold.ts';
import { literalOf, pythonText } from '../../../../src/lib/python-literal.ts';
import { parseTemplate } from '../../../../src/authoring/importing/airbyte/jinja/parse.ts';

function rendered(template: string, names: Readonly<Record<string, Constant>> = {}): string {
  return pythonText(compute(parseTemplate(template), new Map(Object.entries(names))));
}

describe('templates are read as the template language means them', () => {
  test.each([
    ['plain', 'plain'],
    ['{{ 1 + 2 * 3 }}', '7'],
    ['{{ (1 + 2) * 3 }}', '9'],
    ['{{ 10 / 2 }}', '5.0'],
    ['{{ 7 // 2 }}-{{ 7 % 4 }}', '3-3'],
    ['{{ 2 ** 3 }}', '8'],
    ['{{ "a" ~ 1 ~ none }}', 'a1None'],
    ["{{ 'a' 'b' }}", 'ab'],
    ['{{ x.a["b"] }}', 'c', { x: { a: { b: 'c' } } }],
    ["{{ x.get('y', 'none') }}", 'none', { x: {} }],
    ["{{ 'yes' if x else 'no' }}", 'no', { x: [] }],
    ["{{ 'yes' if x }}", '', { x: 0 }],
    ['{% if x == 1 %}one{% elif x == 2 %}two{% else %}more{% endif %}', 'two', { x: 2 }],
    ['{% set y = x %}{{ y }}!', '5!', { x: 5 }],
    ['{% set y = 1 %}{% if x %}{% set y = y + 1 %}{% endif %}{{ y }}', '2', { x: true }],
    ['{% set y = 1 %}{% if x %}{% set y = y + 1 %}{% endif %}{{ y }}', '1', { x: false }],
    [
      '{% if x == 1 %}a{% elif x == 2 %}{% set y = 2 %}{% else %}{% set y = 3 %}{% endif %}{{ y }}',
      '2',
      { x: 2 },
    ],
    [
      '{% if x == 1 %}a{% elif x == 2 %}{% set y = 2 %}{% else %}{% set y = 3 %}{% endif %}{{ y }}',
      '3',
      { x: 9 },
    ],
    [
      '{% if x == 1 %}a{% elif x == 2 %}{% set y = 2 %}{% else %}{% set y = 3 %}{% endif %}{{ y }}',
      'a',
      { x: 1 },
    ],
    ['a {#- said aside -#} b', 'ab'],
    ['a {{- 1 -}} b', 'a1b'],
    ["{{ x | default('d') | upper }}", 'D', { x: undefined }],
    ['{{ x is defined and not x is none }}', 'True', { x: 1 }],
    ["{{ 'b' in ['a', 'b'] and 'c' not in 'ab' }}", 'True'],
    ['{{ [1, "a", none, true] }}', "[1, 'a', None, True]"],
    ["{{ {'a': 1}['a'] }}", '1'],
    ["{{ 'a,b,c'.split(',')[-1] }}", 'c'],
    ["{{ '}}' }}", '}}'],
    ['{{ 1 < 2 < 3 }}', 'True'],
    ["{{ ','.join(['a', 'b']) }}", 'a,b'],
    ['{{ -x | abs }}', '5', { x: 5 }],
    ["{{ 'abc'[1:] }}{{ 'abc'[:-1] }}", 'bcab'],
    ['{{ "x"|hash }}', '9dd4e461268c8034f5c8564e155c67a6'],
    ["{{ 'a' | base64encode }}", 'YQ=='],
  ] as [string, string, Record<string, Constant>?][])('%s', (template, expected, names = {}) => {
    expect(rendered(template, names)).toBe(expected);
  });

  test.each([
    ['{{ 1 +', 'not closed'],
    ['{{ ) }}', 'closes nothing'],
    ['{{ a b }}', 'not expected'],
    ['{% for x in y %}{% endfor %}', 'not supported'],
    ['{% if x %}', 'not closed'],
    ["{{ 'a }}", 'not closed'],
    ['{# a', 'comment'],
    [`{{ ${'('.repeat(500)}1${')'.repeat(500)} }}`, 'deep'],
    [`{{ ${'not '.repeat(500)} x }}`, 'deep'],
    [`{{ ${'-'.repeat(500)} x }}`, 'deep'],
  ])('%s is refused', (template, message) => {
    expect(() => parseTemplate(template)).toThrow(TemplateError);
    expect(() => parseTemplate(template)).toThrow(message);
  });

  test.each([
    ['sums', `{{ a${' + a'.repeat(250_000)} }}`, 'deep'],
    ['attributes', `{{ a${'.a'.repeat(400_000)} }}`, 'deep'],
    ['calls', `{{ a${'()'.repeat(400_000)} }}`, 'deep'],
    ['filters', `{{ a${'|a'.repeat(400_000)} }}`, 'deep'],
    ['choices', `{{ ${'a if b else '.repeat(80_000)}c }}`, 'deep'],
    ['brackets', `{{ ${'['.repeat(1_000_000)}`, 'not closed'],
    ['brackets that are closed', `{{ ${'({['.repeat(150_000)}${']})'.repeat(150_000)} }}`, 'deep'],
    ['items', `{{ [${'1, '.repeat(60_000)}] }}`, 'too large'],
    ['openings', '{{'.repeat(500_000), 'not closed'],
    ['statements', '{% if a %}'.repeat(100_000), 'deep'],
    ['branches', `{% if a %}${'{% elif a %}'.repeat(80_000)}{% endif %}`, 'deep'],
    ['names', `{% set a = x %}${'{% set a = [a, a] %}'.repeat(40)}{{ a }}`, 'too large'],
    ['escapes', `{{ "${'\\\\'.repeat(250_000)}`, 'not closed'],
  ])('a hostile template is refused in a short time: %s', { tags: 'thorough' }, (_, template, message) => {
    const start = process.cpuUsage();
    expect(() => parseTemplate(template)).toThrow(TemplateError);
    const { user, system } = process.cpuUsage(start);
    expect(() => parseTemplate(template)).toThrow(message);
    expect((user + system) / 1e6).toBeLessThan(10);
  });

  test('many spaces, a long choice and a long text of parts take no time', () => {
    expect(rendered(`${' '.repeat(900_000)}{{ x }}`, { x: 1 })).toHaveLength(900_001);
    expect(rendered('{{ x }}'.repeat(40_000), { x: 1 })).toHaveLength(40_000);
    const branches = Array.from({ length: 300 }, (_, i) => `{% elif x == ${i} %}${i}`).join('');
    const choice = `{% if x == 'a' %}a${branches}{% endif %}`;
    expect(rendered(choice, { x: 299 })).toBe('299');
    expect(fold(parseTemplate(choice), new Map()).kind).toBe('choose');
  });

  test.each([
    ['replace', `{{ 'aaaaaaaaaa'${".replace('a', 'aaaaaaaaaa')".repeat(10)} }}`],
    ['the filter', `{{ 'aaaaaaaaaa'${" | replace('a', 'aaaaaaaaaa')".repeat(10)} }}`],
    ['join', `{% set a = '${'a'.repeat(100_000)}' %}{{ a.join([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) }}`],
    ['parts', `{% set a = '${'a'.repeat(100_000)}' %}${'{{ a }}'.repeat(11)}`],
    ['~', `{% set a = '${'a'.repeat(100_000)}' %}{{ a${' ~ a'.repeat(11)} }}`],
  ])('a text that grows without end is refused: %s', (_, template) => {
    expect(() => rendered(template)).toThrow('a text that is too long');
  });

  test('a replacement stands as it is written', () => {
    expect(rendered("{{ 'a.b'.replace('.', '$&') }}{{ 'a' | replace('a', '$$') }}")).toBe('a$&b$$');
  });

  test('what is known is worked out, and the rest stays', () => {
    const known = new Map<string, Constant>([['parameters', { path: 'books', kind: 'x' }]]);
    expect(fold(parseTemplate("{{ parameters['path'] }}/all"), known)).toEqual({
      kind: 'constant',
      value: 'books/all',
    });
    expect(fold(parseTemplate("{{ record.id if parameters.kind == 'x' else 1 }}"), known)).toEqual(
      parseTemplate('{{ record.id }}'),
    );
    expect(fold(parseTemplate('{{ now_utc() }}'), known).kind).toBe('call');
    expect(fold(parseTemplate("{{ ','.join(['a', 'b']) }}"), known)).toEqual({
      kind: 'constant',
      value: 'a,b',
    });
    // more arguments than are understood
    expect(fold(parseTemplate("{{ 'a/b/c'.split('/', 1) }}"), known).kind).toBe('call');
    expect(() => compute(parseTemplate('{{ x.y }}'), new Map([['x', undefined]]))).toThrow(NotConstant);
  });
});

describe('a rendered text is read as a literal', () => {
  test.each<[string, unknown]>([
    ['12', 12],
    ['-3', -3],
    ['007', '007'],
    ['0', 0],
    ['00', 0],
    ['True', true],
    ['true', 'true'],
    ['None', null],
    ["['a', 1]", ['a', 1]],
    ['(1,)', [1]],
    ['(1)', 1],
    ['{"a": [1, {"b": None}]}', { a: [1, { b: null }] }],
    ['{"a": true}', '{"a": true}'],
    ['2024-01-01', '2024-01-01'],
    ['1_000', 1000],
    ['"""x"""', 'x'],
    ['', ''],
    ['12345678901234567890', '12345678901234567890'],
    ['[1', '[1'],
  ])('%s', (text, value) => {
    expect(literalOf(text)).toEqual(value);
  });
});
