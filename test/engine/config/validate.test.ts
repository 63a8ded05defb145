import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../../src/engine/config/findings.ts';
import { isValid } from '../../../src/engine/config/validate.ts';
import { validateConfig, type ValidateOptions } from '../../../src/engine/config/validate.ts';
import { objectOf } from '../../../src/lib/json/index.ts';
import { workMs } from '../../support/work.ts';

const api = { baseUrl: 'https://api.example.com/' };
const jobs = [{ endpoint: 'users' }];

async function problems(document: unknown, options?: ValidateOptions): Promise<readonly Problem[]> {
  return validateConfig(typeof document === 'string' ? document : JSON.stringify(document, null, 2), options);
}

/** `line:column severity path: message` of each problem. */
async function lines(document: unknown, options?: ValidateOptions): Promise<string[]> {
  return (await problems(document, options)).map(
    ({ line, column, severity, path, message }) => `${line}:${column} ${severity} ${path}: ${message}`,
  );
}

const inApi = (more: object): object => ({ parameters: { api: { ...api, ...more }, config: { jobs } } });
const inConfig = (more: object): object => ({ parameters: { api, config: { jobs, ...more } } });

describe('a right configuration', () => {
  test('has no problems, in either form', async () => {
    expect(await lines(inApi({}))).toEqual([]);
    expect(
      await lines({
        configuration: { parameters: { api } },
        rows: [{ id: '1', configuration: { parameters: { config: { jobs } } } }],
      }),
    ).toEqual([]);
  });

  test('may hold an empty list for an object, an empty object for a list, and an object 0, 1 … for a list', async () => {
    const document = inConfig({ http: [], mappings: [], userData: [] });
    expect(await lines(document)).toEqual([]);
    expect(
      await lines({
        parameters: {
          api: { ...api, http: { ignoreErrors: {}, requiredHeaders: {} } },
          config: { jobs: { 0: { endpoint: 'a', params: [] } } },
        },
      }),
    ).toEqual([]);
    expect(await lines(inApi({ http: { ignoreErrors: { 0: 404, 1: '410' } } }))).toEqual([]);
  });

  test('may name its schema', async () => {
    expect(await lines({ $schema: './schemas/config.schema.json', ...inApi({}) })).toEqual([]);
  });

  const examples = process.env['CONFORMANCE_DIR'] ?? '';
  const files = examples === '' ? [] : globSync(`${examples}/*/*/config.json`);
  if (files.length > 0) {
    test('of the outside examples has no problems', async () => {
      for (const file of files)
        expect([file, await lines(readFileSync(file, 'utf8'), { strict: true })]).toEqual([file, []]);
    });
  }
});

describe('problems', () => {
  test('are given all at once, in the order of the text', async () => {
    const document = {
      parameters: {
        api: { baseUrl: 5, pagination: { method: 'response.params', limit: 3 } },
        config: { jobs: [{ endpont: 'x', method: 'GETT' }, 5], incrementalOutput: 1 },
      },
    };
    expect(await lines(document)).toEqual([
      '4:18 error parameters.api.baseUrl: `baseUrl` must be a text or an object, and it is 5.',
      expect.stringMatching(
        /^6:19 error parameters\.api\.pagination\.method: .*it is “response\.params”\. Did you mean “response\.param”\?$/,
      ),
      '12:9 error parameters.config.jobs[0].endpoint: `endpoint` is missing in `jobs[0]`. Was “endpont” meant for it?',
      '13:11 warning parameters.config.jobs[0].endpont: `endpont` is no known key here, and has no effect. Did you mean `endpoint`?',
      expect.stringMatching(
        /^14:21 error parameters\.config\.jobs\[0\]\.method: .*it is “GETT”\. Did you mean “GET”\?$/,
      ),
      '16:9 error parameters.config.jobs[1]: `jobs[1]` must be an object, and it is 5.',
      '18:28 error parameters.config.incrementalOutput: `incrementalOutput` must be true or false, and it is 1.',
    ]);
  });

  test('say what was expected and found', async () => {
    const [problem] = await problems(inApi({ http: { ignoreErrors: ['a'] } }));
    expect(problem).toMatchObject({
      severity: 'error',
      expected: 'a whole number',
      found: '“a”',
      line: 7,
      column: 11,
    });
  });

  test('of a text that has to have a form say it in words, with an example', async () => {
    const wrong = [
      inConfig({ outputBucket: 'in.c-shop' }),
      inConfig({ outputBucket: 'shop/orders' }),
      inApi({ trustedHosts: ['https://cdn.example.com/x'] }),
      inApi({ authentication: { type: 'login', loginRequest: { endpoint: 'login', method: 'FETCH' } } }),
    ];
    const messages = (await Promise.all(wrong.map(async (each) => await problems(each)))).flat();
    expect(messages.map(({ message }) => message)).toEqual([
      '`outputBucket` must be the name of a bucket without “in.c-” or “out.c-” before it and without a slash, such as “my-api”, and it is “in.c-shop”.',
      '`outputBucket` must be the name of a bucket without “in.c-” or “out.c-” before it and without a slash, such as “my-api”, and it is “shop/orders”.',
      '`trustedHosts[0]` must be a host such as “api.example.com”, “*.example.com” or “localhost:8080”, and it is “https://cdn.example.com/x”.',
      '`method` must be “GET”, “POST”, “FORM”, “PUT”, “PATCH” or “DELETE”, and it is “FETCH”.',
    ]);
  });

  test('of nothing at all', async () => {
    expect(await lines({})).toEqual(['1:1 error parameters: `parameters` is missing.']);
    expect(await lines('5')).toEqual(['1:1 error : The configuration is not a JSON object.']);
    expect(await lines(inApi({ baseUrl: '' }))).toHaveLength(1);
  });

  test('of text that is not JSON', async () => {
    expect(await problems('{"a": 1,}')).toMatchObject([{ severity: 'error', line: 1, column: 9 }]);
  });

  test('of a choice are one sentence', async () => {
    expect(await lines(inApi({ authentication: { type: 'basick' } }))).toEqual([
      expect.stringMatching(/^6:17 error parameters\.api\.authentication\.type: .*Did you mean “basic”\?$/),
    ]);
    expect(await lines(inApi({ authentication: { type: 'login', loginRequest: {} } }))).toEqual([
      '7:25 error parameters.api.authentication.loginRequest.endpoint: `endpoint` is missing in `loginRequest`.',
    ]);
    expect(await lines(inConfig({ jobs: [{ endpoint: 'a', dataField: true }] }))).toEqual([
      '10:24 error parameters.config.jobs[0].dataField: `dataField` must be a text, a number or an object, and it is true.',
    ]);
  });

  test('of pagination are those of the method', async () => {
    expect(await lines(inApi({ pagination: { method: 'offset', limt: 3 } }))).toEqual([
      '5:21 error parameters.api.pagination.limit: `limit` is missing in `pagination`. Was “limt” meant for it?',
      '7:9 warning parameters.api.pagination.limt: `limt` is no known key here, and has no effect. Did you mean `limit`?',
    ]);
    expect(
      await lines(
        inApi({ pagination: { method: 'multiple', scrollers: { a: { method: 'cursor', idKey: 'id' } } } }),
      ),
    ).toEqual(['8:16 error parameters.api.pagination.scrollers.a.param: `param` is missing in `a`.']);
  });

  test('of mappings name path and setting', async () => {
    const mappings = { users: { id: 5, 'a.b': { mapping: {} }, t: { type: 'table' } }, none: {}, list: [] };
    expect(await lines(inConfig({ mappings }))).toEqual([
      '14:17 error parameters.config.mappings.users.id: `id` must be an object or a text, and it is 5.',
      '16:24 error parameters.config.mappings.users["a.b"].mapping.destination: `destination` is missing in `mapping`.',
      '18:16 error parameters.config.mappings.users.t.destination: `destination` is missing in `t`.',
      '22:17 error parameters.config.mappings.none: `none` must be filled in, and it is an empty object.',
      '23:17 error parameters.config.mappings.list: `list` must be filled in, and it is an empty list.',
    ]);
  });

  test('of an empty endpoint say how the base address itself is asked for', async () => {
    const [line] = await lines(inConfig({ jobs: [{ endpoint: '' }] }));
    expect(line).toContain(
      '`endpoint` must be filled in, and it is an empty text. To ask for `api.baseUrl` itself',
    );
    expect(await lines(inConfig({ jobs: [{ endpoint: [] }] }))).not.toContain('itself');
  });

  test('that only a run would meet are found too', async () => {
    expect(await lines(inApi({ baseUrl: 'api.example.com' }))).toEqual([
      '4:18 error parameters.api.baseUrl: `baseUrl` is not a valid URL: “api.example.com”.',
    ]);
    expect(
      await lines(
        inConfig({
          jobs: [
            {
              endpoint: 'a',
              children: [{ endpoint: 'b/{id}', placeholders: { id: 'id' }, recursionFilter: 'x' }],
            },
          ],
        }),
      ),
    ).toEqual([
      expect.stringMatching(/^\d+:\d+ error parameters\.config\.jobs\[0\]\.children\[0\]\.recursionFilter: /),
    ]);
    expect(
      await lines({
        parameters: {
          api: { ...api, pagination: { method: 'multiple', scrollers: { a: { method: 'pagenum' } } } },
          config: { jobs: [{ endpoint: 'a', scroller: 'b' }] },
        },
      }),
    ).toHaveLength(1);
  });

  test('of keys that come twice', async () => {
    const text =
      '{"parameters": {"api": {"baseUrl": "http://x/"}, "config": {"jobs": [{"endpoint":"a"}], "jobs": [{"endpoint":"b"}]}}}';
    expect(await lines(text)).toEqual([
      '1:89 warning parameters.config.jobs: `jobs` stands here a second time; this one counts.',
    ]);
  });

  test('of processors, which are not run', async () => {
    expect(await lines({ ...inApi({}), processors: { after: [{}] } })).toEqual([
      expect.stringContaining('warning processors: Processors are not run by this program.'),
    ]);
  });
});

describe('unknown keys', () => {
  test('are warnings, and errors when strict', async () => {
    const document = inApi({ htpp: {} });
    expect(await problems(document)).toMatchObject([
      { severity: 'warning', suggestion: 'http', path: 'parameters.api.htpp' },
    ]);
    expect(await problems(document, { strict: true })).toMatchObject([{ severity: 'error' }]);
  });

  test('under config are attributes; a near miss is named unless a function uses it', async () => {
    expect(await lines(inConfig({ accountId: 1, anything: {} }))).toEqual([]);
    expect(await problems(inConfig({ outputBuket: 'x' }))).toMatchObject([
      { severity: 'warning', suggestion: 'outputBucket' },
    ]);
    const used = inConfig({ outputBuket: { a: 1 }, userData: { x: { attr: 'outputBuket.a' } } });
    expect(await lines(used)).toEqual([]);
  });

  test('of a kind that is unknown itself are not named', async () => {
    expect(await problems(inApi({ pagination: { method: 'own', limit: 1, x: 2 } }))).toHaveLength(1);
  });

  test('that are deprecated are named with what to use', async () => {
    expect(await lines(inApi({ query: { a: 1 } }))).toEqual([
      '5:7 warning parameters.api.query: `query` is deprecated. Use `authentication.query`.',
    ]);
  });

  test('for sync actions are known by their underscores', async () => {
    const document = inApi({}) as { parameters: object };
    expect(await lines({ ...document, parameters: { ...document.parameters, __SELECTED_JOB: '0' } })).toEqual(
      [],
    );
  });
});

describe('secrets', () => {
  test('are never shown', async () => {
    const found = await problems(inConfig({ '#password': ['hunter2'], '#username': { x: 'hunter2' } }));
    expect(found.length).toBeGreaterThan(0);
    expect(JSON.stringify(found)).not.toContain('hunter2');
    const token = await problems(inApi({ authentication: { type: 'bearer', '#token': ['hunter2'] } }));
    expect(token).toMatchObject([{ severity: 'error', found: 'a list' }]);
  });

  test('that are encrypted, or whose variable is missing, are named', async () => {
    const document = inConfig({ '#a': 'KBC::ComponentSecure::xyz', '#b': '$env:NOT_THERE' });
    expect(await problems(document)).toHaveLength(1);
    expect(await problems(document, { env: {} })).toMatchObject([
      { path: 'parameters.config.#a' },
      { path: 'parameters.config.#b', message: 'The environment variable NOT_THERE is not set.' },
    ]);
    expect(await problems(inConfig({ '#b': '$env:THERE' }), { env: { THERE: 'x' } })).toEqual([]);
  });
});

describe('what a run would say of its connection', () => {
  test.each([
    ['a token that is no function', { type: 'bearer', '#token': { foo: 1 } }, '#token'],
    ['a token that is empty', { type: 'bearer', '#token': {} }, '#token'],
    [
      'a function that is not known',
      { type: 'apiKey', name: 'k', '#key': { function: 'nope' } },
      '#key.function',
    ],
  ])('%s is an error here, too', async (_what, authentication, key) => {
    expect(await problems(inApi({ authentication }))).toMatchObject([
      { severity: 'error', path: `parameters.api.authentication.${key}` },
    ]);
  });

  test('basic without a user name is one', async () => {
    expect(await problems(inApi({ authentication: { type: 'basic' } }))).toMatchObject([
      { severity: 'error', path: 'parameters.config.#username' },
    ]);
    const config = { jobs, '#username': 'me', '#password': '' };
    expect(
      await problems({ parameters: { api: { ...api, authentication: { type: 'basic' } }, config } }),
    ).toEqual([]);
  });

  test('a header is named where it is written', async () => {
    const headers = { 'X-Key': { function: 'nope' } };
    expect(await problems(inApi({ http: { headers } }))).toMatchObject([
      { path: 'parameters.api.http.headers.X-Key.function' },
    ]);
    expect(await problems(inConfig({ http: { headers } }))).toMatchObject([
      { path: 'parameters.config.http.headers.X-Key.function' },
    ]);
  });

  test('a value that is still to come may be anything', async () => {
    const document = {
      ...inApi({ authentication: { type: 'oauth20', format: 'json', headers: {} } }),
      authorization: { oauth_api: { credentials: { '#data': '$env:DATA', appKey: 'a', '#appSecret': 'b' } } },
    };
    expect(await problems(document)).toEqual([]);
    expect(await problems(document, { env: { DATA: 'no JSON' } })).toHaveLength(1);
    expect(await problems(document, { env: { DATA: '{"a":1}' } })).toEqual([]);
    expect(await problems(document, { env: {}, isElsewhere: true })).toMatchObject([{ severity: 'warning' }]);
  });
});

describe('rows', () => {
  const document = {
    configuration: { parameters: { api: { ...api, name: [1] } } },
    rows: [
      { id: 'one', configuration: { parameters: { config: { jobs, debug: [1] } } } },
      { id: 'two', configuration: { parameters: { config: { joobs: [] } } } },
    ],
    rowsSortOrder: ['one', 'tow'],
  };

  test('are checked merged, and a problem stands where the value does', async () => {
    expect(await problems(document)).toMatchObject([
      { path: 'configuration.parameters.api.name', line: 6 },
      { path: 'rows[0].configuration.parameters.config.debug', row: 'one' },
      { path: 'rows[1].configuration.parameters.config.jobs', row: 'two', suggestion: 'joobs' },
      { path: 'rows[1].configuration.parameters.config.joobs', row: 'two', severity: 'warning' },
      {
        path: 'rowsSortOrder[1]',
        severity: 'warning',
        message: 'There is no row “tow” to order. Did you mean “two”?',
      },
    ]);
  });

  test('with processors in root and row are a mistake of that row alone', async () => {
    const processors = { after: [{}] };
    const found = await problems({
      configuration: { parameters: { api }, processors },
      rows: [row('a', { processors }), row('b', {})],
    });
    expect(found.filter(({ severity }) => severity === 'error')).toMatchObject([
      { row: 'a', path: 'rows[0].configuration.processors' },
    ]);
  });

  test('that are wrapped are warned of', async () => {
    const wrapped = { configuration: { configuration: inApi({}) } };
    expect(await problems(wrapped)).toMatchObject([
      { severity: 'error' },
      { severity: 'warning', path: 'configuration.configuration' },
    ]);
  });
});

test('the compiled validator checks a configuration within milliseconds', () => {
  const configuration = objectOf([['parameters', { api, config: { jobs } }]]);
  const ms = workMs(() => {
    for (let i = 0; i < 50; i++) expect(isValid(configuration)).toBe(true);
  });
  expect(ms / 50).toBeLessThan(15);
});

function row(id: string, more: object): object {
  return { id, configuration: { parameters: { config: { jobs } }, ...more } };
}
