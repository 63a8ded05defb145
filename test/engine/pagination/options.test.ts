import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { OptionSchema } from '../../../src/lib/option.ts';
import { languageDefinitions } from '../../../src/engine/language/index.ts';
import { PAGINATION_METHODS, PAGINATION_OPTIONS } from '../../../src/engine/pagination/index.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
const validate = ajv.compile({
  definitions: { ...languageDefinitions, pagination: PAGINATION_OPTIONS },
  $ref: '#/definitions/pagination',
});

function errorsOf(options: unknown): string[] {
  validate(options);
  return (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map(
      ({ instancePath, keyword, params }) =>
        `${instancePath} ${keyword} ${Object.values(params as object).join()}`,
    );
}

describe('the schema of the pagination', () => {
  test.each<unknown>([
    {},
    [],
    null,
    { method: '' },
    { method: 'offset', limit: '2' },
    { method: 'offset', limit: '2.0' },
    {
      method: 'offset',
      limit: 2,
      limitParam: 'count',
      offsetParam: 'skip',
      firstPageParams: false,
      offsetFromJob: 1,
    },
    {
      method: 'pagenum',
      firstPage: 0,
      firstMayRepeat: true,
      limit: 2,
      firstPageParams: false,
      limitStop: { field: 'a.b' },
    },
    { method: 'pagenum', firstPage: '1' },
    {
      method: 'response.url',
      urlKey: 'links.next',
      delimiter: '/',
      includeParams: true,
      paramIsQuery: false,
    },
    { method: 'zendesk.response.url', urlKey: 'next' },
    {
      method: 'response.param',
      responseParam: 'a',
      queryParam: 'b',
      scrollRequest: { endpoint: 'x', params: [] },
    },
    {
      method: 'response.param',
      responseParam: 'a',
      queryParam: 'b',
      scrollRequest: [],
      endValues: [0, null],
    },
    { method: 'cursor', idKey: 'id', param: 'since', increment: 1, reverse: true },
    { method: 'link', rel: 'next', maxPages: 10 },
    { method: 'multiple', scrollers: { a: { method: 'offset', limit: 1 }, b: {} }, default: 'a' },
    {
      nextPageFlag: { field: 'more', stopOn: false, ifNotSet: true },
      forceStop: { pages: 2, time: '1 hour', volume: '9' },
    },
    { limitStop: [], forceStop: [], nextPageFlag: [], pages: '5' },
  ])('accepts %j', (options) => {
    expect(errorsOf(options)).toEqual([]);
  });

  test.each<[unknown, string]>([
    [{ method: 'pagnum' }, '/method enum'],
    [{ method: 'offset' }, ' required limit'],
    [{ method: 'offset', limit: 'ten' }, '/limit pattern'],
    [{ method: 'offset', limit: '0' }, '/limit pattern'],
    [{ method: 'offset', limit: 0 }, '/limit minimum'],
    [{ method: 'offset', limit: 1, limitparam: 'x' }, ' additionalProperties limitparam'],
    [{ limit: 1 }, ' additionalProperties limit'],
    [{ method: 'response.param', responseParam: 'a' }, ' required queryParam'],
    [{ method: 'cursor', idKey: 'id', param: 'p', increment: '1' }, '/increment type'],
    [{ method: 'multiple', scrollers: {} }, '/scrollers minProperties'],
    [{ method: 'multiple', scrollers: { a: { method: 'offset' } } }, '/scrollers/a required limit'],
    [{ forceStop: { pages: '2' } }, '/forceStop/pages type'],
    [{ nextPageFlag: { field: 'a' } }, '/nextPageFlag required stopOn'],
    [{ maxPages: -1 }, '/maxPages minimum'],
  ])('refuses %j', (options, error) => {
    expect(errorsOf(options)).toEqual([expect.stringContaining(error)]);
  });

  const keys = PAGINATION_METHODS.flatMap(({ method, options }) => described(`${method}.`, options));
  test.each([...keys, ...described('', PAGINATION_OPTIONS)])('%s is documented', (_key, schema) => {
    const { title, description, examples } = schema;
    expect([typeof title, typeof description, Array.isArray(examples)]).toEqual(['string', 'string', true]);
  });

  test('the examples are valid', () => {
    for (const example of PAGINATION_OPTIONS['examples'] as unknown[]) expect(errorsOf(example)).toEqual([]);
    for (const [key, schema] of keys) {
      const check = ajv.compile({
        ...schema,
        definitions: { ...languageDefinitions, pagination: PAGINATION_OPTIONS },
      });
      for (const example of schema['examples'] as unknown[])
        expect([key, check(example)]).toEqual([key, true]);
    }
  });
});

/** All keys below a schema, with their schemas. */
function described(prefix: string, schema: OptionSchema): [string, OptionSchema][] {
  return Object.entries((schema['properties'] ?? {}) as Record<string, OptionSchema>).flatMap(
    ([key, inner]) => [
      [prefix + key, inner] as [string, OptionSchema],
      ...described(`${prefix}${key}.`, inner),
    ],
  );
}
