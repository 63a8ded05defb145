import { describe, expect, test } from 'vitest';
import type { ApiRequest } from '../../../src/engine/shared/message.ts';
import { redirect } from '../../../src/engine/http/redirect.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { errorOf, get, never, recordingLog, scripted } from './support.ts';

function to(location: string, status = 302) {
  return { status, headers: { location } };
}

function setUp(...answers: Parameters<typeof scripted>) {
  const send = scripted(...answers);
  const log = recordingLog();
  const wrapped = redirect({ log, secrets: new Secrets() })(send);
  return { run: (request: ApiRequest) => wrapped(request, { signal: never }), sent: send.sent, log };
}

const post: ApiRequest = {
  method: 'POST',
  url: 'http://h/a/b?x=1',
  headers: {
    'Content-Type': 'application/json',
    Authorization: 'Bearer x',
    cookie: 'a=b',
    Host: 'virtual',
    'X-Key': '1',
  },
  body: '[]',
  label: 'users',
};

describe('redirect', () => {
  test.each([
    ['/c?y=1', 'http://h/c?y=1'],
    ['c', 'http://h/a/c'],
    ['?z', 'http://h/a/b?z'],
    ['//other/d', 'http://other/d'],
    ['https://other:8443/%c4%8d?q=a%20b&r=[]#frag', 'https://other:8443/%c4%8d?q=a%20b&r=%5B%5D'],
    ['/a b/č', 'http://h/a%20b/%C4%8D'],
  ])('follows %s', async (location, url) => {
    const { run, sent } = setUp(to(location), {});
    const response = await run(get('http://h/a/b?x=1'));
    expect(sent[1]?.url).toBe(url);
    expect(response.url).toBe(url);
  });

  test.each([
    [300, 'POST', 'GET'],
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
    [302, 'PUT', 'PUT'],
    [303, 'DELETE', 'GET'],
    [307, 'PATCH', 'PATCH'],
  ])('%d after %s asks with %s', async (status, method, next) => {
    const { run, sent } = setUp(to('/c', status), {});
    await run({ ...post, method });
    expect(sent[1]).toMatchObject({ method: next, label: 'users' });
    expect(sent[1]?.body).toBe(next === method ? '[]' : undefined);
    expect(sent[1]?.headers['Content-Type']).toBe(next === method ? 'application/json' : undefined);
  });

  test.each([
    ['/c', true],
    ['http://h:80/c', true],
    ['https://h/c', true],
    ['http://h:8080/c', false],
    ['http://other/c', false],
    ['http://sub.h/c', false],
  ])('to %s: credentials and Host go along: %s', async (location, goAlong) => {
    const { run, sent } = setUp(to(location, 307), {});
    await run(post);
    const names = Object.keys(sent[1]?.headers ?? {});
    expect(names.includes('Authorization')).toBe(goAlong);
    expect(names.includes('cookie')).toBe(goAlong);
    expect(names.includes('Host')).toBe(goAlong);
    expect(names).toContain('X-Key');
  });

  test('from https to http nothing secret goes along', async () => {
    const { run, sent } = setUp(to('http://h/c', 307), {});
    await run({ ...post, url: 'https://h/' });
    expect(sent[1]?.headers).not.toHaveProperty('Authorization');
  });

  test('follows five hops and no sixth', async () => {
    const five = setUp(to('/1'), to('/2'), to('/3'), to('/4'), to('/5'), {});
    expect((await five.run(get('http://h/'))).url).toBe('http://h/5');
    const endless = setUp(to('/again'));
    const error = await errorOf(endless.run(get('http://h/?token=abcd')));
    expect(error).toMatchObject({
      code: 'http.network',
      recovery: 'stop',
      where: { url: 'http://h/?token=***' },
    });
    expect(endless.sent).toHaveLength(6);
  });

  test.each([
    [{ status: 302 }, 302],
    [to('', 302), 302],
    [to('/x', 304), 304],
    [to('/x', 201), 201],
  ])('%j is the answer itself', async (answer, status) => {
    const { run, sent } = setUp(answer, {});
    expect((await run(get('http://h/'))).status).toBe(status);
    expect(sent).toHaveLength(1);
  });

  test('to another scheme is an error', async () => {
    const { run } = setUp(to('ftp://h/x'), {});
    expect(await errorOf(run(get('http://h/')))).toMatchObject({ code: 'job.invalid' });
  });
});
