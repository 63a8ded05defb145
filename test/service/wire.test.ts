import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { containing, matching, FORM, startService, type Running } from './harness.ts';

let api: Running;
beforeAll(async () => {
  api = await startService();
});
afterAll(async () => {
  await api.stop();
});

const configs = 'components/ex-generic-v2/configs';

const read = async (id: string): Promise<string> => (await api.call('GET', `${configs}/${id}`)).text;

describe('answers', () => {
  test('JSON has exactly the content type application/json, errors too', async () => {
    for (const path of ['/v2/storage', 'tokens/verify', 'no-such-thing', '/health']) {
      const { headers } = await api.call('GET', path);
      expect(headers.get('content-type')).toBe('application/json');
    }
  });

  test('times have a zone without a colon and no fraction', async () => {
    const { body } = await api.call('GET', 'tokens/verify');
    expect(body).toMatchObject({ created: matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+\d{4}$/) });
  });

  test('a trailing slash is tolerated, a double slash is not', async () => {
    expect((await api.call('GET', '/v2/storage/')).status).toBe(200);
    expect((await api.call('GET', 'dev-branches/')).status).toBe(200);
    expect((await api.call('GET', '/v2/storage//tokens')).status).toBe(404);
  });

  test('every path of a project exists below a branch, by number and as default', async () => {
    const branches = (await api.call('GET', 'dev-branches')).body as { id: number }[];
    for (const branch of ['default', branches[0]?.id]) {
      expect((await api.call('GET', `branch/${branch}/components/wr-db/configs`)).body).toEqual([]);
    }
    const missing = await api.call('GET', `branch/77/${configs}`);
    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({ error: 'Branch id:"77" was not found.' });
  });
});

describe('errors', () => {
  test.each([
    ['GET', 'nothing-here', undefined, 404, 'notFound'],
    ['PATCH', 'tokens', undefined, 404, 'notFound'],
    ['GET', '%E0%A4%A', undefined, 400, 'malformedRequest'],
    ['GET', 'workspaces', undefined, 501, 'notImplemented'],
    ['POST', 'workspaces/1/load', {}, 501, 'notImplemented'],
    ['GET', 'stats?runId=1', undefined, 501, 'notImplemented'],
    ['POST', 'tables/in.c-main.t/snapshots', {}, 501, 'notImplemented'],
    ['POST', configs, {}, 400, 'storage.components.validation'],
    ['GET', 'jobs/1', undefined, 404, 'notFound'],
    ['GET', 'components/no-such/configs', undefined, 404, 'notFound'],
  ])('%s %s has the documented shape', async (method, path, sent, status, code) => {
    const answer = await api.call(method, path, sent);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({
      status: 'error',
      code,
      error: matching(/./),
      exceptionId: matching(/^exception-[0-9a-f]{20}$/),
      params: {},
    });
  });

  test('wrong fields are all named at once', async () => {
    const answer = await api.call('POST', configs, { name: [], isDisabled: 'maybe' });
    expect(answer.body).toMatchObject({
      error:
        'Invalid request:\n - name: "This value should be of type string."\n - isDisabled: "This value should be of type boolean."',
      errors: [{ key: 'name' }, { key: 'isDisabled' }],
    });
  });

  test.each([
    ['not JSON', '{"name":', 'application/json', 400],
    ['a JSON scalar', '7', 'application/json', 400],
    ['JSON that says it is a form', '{"name":"x"}', FORM['Content-Type'], 400],
    ['an unknown kind', 'name=x', 'text/csv', 415],
    ['broken multipart', '--x\r\nnothing', 'multipart/form-data; boundary=x', 400],
    ['multipart without a boundary', 'nothing', 'multipart/form-data', 400],
  ])('a body that is %s is refused', async (_what, body, contentType, status) => {
    const answer = await api.call('POST', configs, body, { 'Content-Type': contentType });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ status: 'error' });
  });

  test('a body larger than allowed is refused', async () => {
    const large = JSON.stringify({ name: 'x', configuration: { text: 'x'.repeat(33 * 1024 * 1024) } });
    const answer = await api.call('POST', configs, large, { 'Content-Type': 'application/json' });
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ code: 'requestTooLarge' });
  });

  test('a configuration larger than 4 MB is refused', async () => {
    const configuration = { text: 'x'.repeat(4 * 1024 * 1024) };
    const answer = await api.call('POST', configs, { name: 'x', configuration });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'storage.components.validation' });
  });

  test('what is no HTTP is answered and ends', async () => {
    const { port, hostname } = new URL(api.addresses.url);
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(Number(port), hostname, () => socket.write('no http at all\r\n\r\n'));
      socket
        .on('data', (data) => (text += data.toString()))
        .on('end', () => resolve(text))
        .on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('bodies', () => {
  test('JSON, form and multipart mean the same', async () => {
    const multipart = new FormData();
    multipart.set('name', 'three');
    multipart.set('isDisabled', '1');
    multipart.set('configuration', '{"a":[],"b":{}}');
    const sent: [unknown, Record<string, string>][] = [
      [{ name: 'three', isDisabled: true, configuration: { a: [], b: {} } }, {}],
      [`name=three&isDisabled=True&configuration=${encodeURIComponent('{"a":[],"b":{}}')}`, FORM],
      [multipart, {}],
    ];
    for (const [body, headers] of sent) {
      const answer = await api.call('POST', configs, body, headers);
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({ name: 'three', isDisabled: true });
      expect(answer.text).toContain('"configuration":{"a":[],"b":{}}');
    }
  });

  test('null means not sent, and an empty list stands for an empty body', async () => {
    const nothing = { name: 'n', configurationId: null, description: null, configuration: null, state: null };
    const { status, body } = await api.call('POST', configs, nothing);
    expect(status).toBe(201);
    expect(body).toMatchObject({ description: '', configuration: {}, state: {} });
    const { id, version } = body as { id: string; version: number };
    expect((await api.call('PUT', `${configs}/${id}`, [])).body).toMatchObject({ version });
    const empty = await api.call('PUT', `${configs}/${id}`, '', { 'Content-Type': 'application/json' });
    expect(empty.body).toMatchObject({ version });
  });

  test('DELETE may carry a body', async () => {
    await api.call('POST', configs, { name: 'd', configurationId: 'with-body' });
    await api.call('POST', `${configs}/with-body/rows`, { rowId: 'r' });
    const gone = await api.call('DELETE', `${configs}/with-body/rows/r`, {
      changeDescription: 'no longer needed',
    });
    expect(gone.status).toBe(204);
    expect((await api.call('GET', `${configs}/with-body`)).body).toMatchObject({
      changeDescription: 'no longer needed',
    });
  });

  test('content survives exactly: numbers, key order, empty lists and objects, odd keys', async () => {
    const content =
      '{"10":1.0,"2":12345678901234567890,"e":1e3,"f":-0,"empty":{},"none":[],"deep":[{},[[]],null],"__proto__":{"x":1},"constructor":{"prototype":[]},"ř":"\\u0000"}';
    await api.call(
      'POST',
      configs,
      `{"name":"e","configurationId":"exact","configuration":${content},"state":${content}}`,
      {
        'Content-Type': 'application/json',
      },
    );
    expect(await read('exact')).toContain(`"configuration":${content}`);
    expect(await read('exact')).toContain(`"state":${content}`);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('content as text inside a JSON body is the same as the JSON', async () => {
    await api.call('POST', configs, {
      name: 't',
      configurationId: 'text',
      configuration: '{"a":1.50}',
      state: '[]',
    });
    expect(await read('text')).toContain('"configuration":{"a":1.50}');
    expect(await read('text')).toContain('"state":[]');
  });

  test('content wrapped in a configuration node is stored as it was sent', async () => {
    await api.call('POST', configs, { name: 'w', configurationId: 'wrapped' });
    const wrapped = 'configuration=' + encodeURIComponent('{"configuration":{"parameters":{}}}');
    await api.call('PUT', `${configs}/wrapped`, wrapped, FORM);
    expect(await read('wrapped')).toContain('"configuration":{"configuration":{"parameters":{}}}');
  });

  test('JSON in a form that was not URL-encoded is refused, and says why', async () => {
    await api.call('POST', configs, { name: 'u', configurationId: 'unescaped' });
    const answer = await api.call(
      'PUT',
      `${configs}/unescaped`,
      'configuration={"query":"a=1&b[c]=2"}',
      FORM,
    );
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: 'validation.invalidConfigurationFormat',
      error: containing('URL-encoded'),
    });
  });

  test('names with brackets in forms and queries never reach a prototype', async () => {
    const form = '__proto__[polluted]=1&constructor[prototype][polluted]=1&name=p';
    expect((await api.call('POST', configs, form, FORM)).status).toBe(201);
    expect((await api.call('GET', `${configs}?__proto__[polluted]=1`)).status).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test.each(['..', '../x', 'a/b', '.hidden', 'a\u0000b', 'x'.repeat(256), ' '])(
    'the id %j, which could leave its folder, is refused',
    async (configurationId) => {
      const answer = await api.call('POST', configs, { name: 'n', configurationId });
      expect(answer.status).toBe(400);
    },
  );
});
