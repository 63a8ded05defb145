import { describe, expect, test } from 'vitest';
import { runAction } from '../../../src/authoring/actions/actions.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import { resolveUrl } from '../../../src/engine/http/url.ts';
import { encodeExact } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { act, at, failed, json, startApi } from './support.ts';

const BASE = 'https://api.example.com/v1/';

function load(command: unknown, api: object = { baseUrl: BASE }, config: object = {}) {
  return act('load_from_curl', { __CURL_COMMAND: command, api, config });
}

const get = (endpoint: string, params: object = {}, headers: object = {}) => ({
  endpoint,
  method: 'GET',
  params,
  headers,
});
const U = 'https://api.example.com/v1/users';

describe('load_from_curl', () => {
  test.each<[command: string, job: object]>([
    // addresses
    [`curl ${U}`, get('users')],
    [`  $ curl '${U}'`, get('users')],
    [`/usr/bin/curl "${U}"`, get('users')],
    [`curl.exe --url ${U}`, get('users')],
    [`curl api.example.com/v1/users`, get('users')],
    [`curl HTTPS://API.example.com/v1/users#top`, get('users')],
    [`curl https://api.example.com/v2/users`, get('https://api.example.com/v2/users')],
    [`curl https://api.example.com/v1/`, get('https://api.example.com/v1/')],
    [`curl http://api.example.com/v1/users`, get('http://api.example.com/v1/users')],
    [`curl other.example.com`, get('http://other.example.com/')],
    [`curl 'https://api.example.com/v1/a b/ü'`, get('a%20b/%C3%BC')],
    [`curl http://[::1]:8080/x`, get('http://[::1]:8080/x')],
    // queries
    [`curl '${U}?limit=10&q=a+b%26'`, get('users', { limit: '10', q: 'a b&' })],
    [`curl ${U}?limit=10&page=2`, get('users', { limit: '10', page: '2' })],
    [
      `curl -g '${U}?f[a][b]=1&f[a][c]=2&l[0]=x&l[1]=y'`,
      get('users', { f: { a: { b: '1', c: '2' } }, l: ['x', 'y'] }),
    ],
    [
      `curl '${U}?f%5B7%5D=1&__proto__=2'`,
      get('users', JSON.parse('{"f":{"7":"1"},"__proto__":"2"}') as object),
    ],
    [
      `curl -G ${U} -d limit=10 --data-urlencode 'q=a & b' --url-query x=y`,
      get('users', { limit: '10', q: 'a & b', x: 'y' }),
    ],
    [`curl --get '${U}?a=1' --data-urlencode 'q=x=y' -d z=`, get('users', { a: '1', q: 'x=y', z: '' })],
    [`curl -g '${U}?q={a,b}'`, get('users', { q: '{a,b}' })],
    [`curl '${U}?f[a]=1&t={id}'`, get('users', { f: { a: '1' }, t: '{id}' })],
    // bodies
    [
      `curl -d '{"a":1,"b":[true,null]}' -H 'Content-Type: application/json' ${U}`,
      { ...get('users', { a: 1, b: [true, null] }), method: 'POST' },
    ],
    [`curl --json '{"a":' --json '1}' ${U}`, { ...get('users', { a: 1 }), method: 'POST' }],
    [`curl --json '[1,2]' ${U}`, { ...get('users'), params: [1, 2], method: 'POST' }],
    [`curl -XPUT --json '{"a":1}' ${U}?x=1`, { ...get('users?x=1', { a: 1 }), method: 'PUT' }],
    [`curl -X patch --json '{"a":1}' ${U}`, { ...get('users', { a: 1 }), method: 'PATCH' }],
    [`curl -X DELETE '${U}?a=1'`, { ...get('users', { a: '1' }), method: 'DELETE' }],
    [`curl -X GET --json '{"q":1}' ${U}`, { ...get('users', { q: 1 }), paramsIn: 'body' }],
    [`curl -X POST ${U}`, { ...get('users'), method: 'POST' }],
    [`curl -d '' ${U}`, { ...get('users'), method: 'POST' }],
    [
      `curl -d a=1 -d 'b[c]=2&b[d]=%20' ${U}`,
      { ...get('users', { a: '1', b: { c: '2', d: ' ' } }), method: 'FORM' },
    ],
    [`curl -da=1 --data-raw '@x=y' ${U}`, { ...get('users', { a: '1', '@x': 'y' }), method: 'FORM' }],
    [
      `curl --json '{"a":1}' -H 'content-type: application/vnd.api+json' ${U}`,
      { ...get('users', { a: 1 }, { 'content-type': 'application/vnd.api+json' }), method: 'POST' },
    ],
    [
      `curl -d '{"n":1}' -H 'content-type: application/json; charset=utf-8' ${U}`,
      { ...get('users', { n: 1 }), method: 'POST' },
    ],
    // headers and flags
    [`curl -sSL0 ${U}`, get('users')],
    [
      `curl -H 'Accept: application/json' -H 'X-Empty;' -H 'X-Gone:' ${U}`,
      get('users', {}, { Accept: 'application/json', 'X-Empty': '' }),
    ],
    [
      `curl -H 'X-A: 1' -H 'x-a: 2' -A my-agent ${U}`,
      get('users', {}, { 'X-A': '1, 2', 'User-Agent': 'my-agent' }),
    ],
    [`curl -fsSo /dev/null -w '%{http_code}' --compressed ${U}`, get('users')],
    [
      `curl '${U}' -H 'User-Agent: Mozilla/5.0 (X11)' -H 'sec-ch-ua: "x"' -H 'Accept-Language: en' -H 'Referer: https://x' --compressed -H 'Origin: https://x' -H 'Accept: */*'`,
      get('users'),
    ],
    // hostile quoting
    [
      `curl $'${U}?q=it\\'s \\u00e9' \\\n  -H "X-Quote: a\\"b\\\\c"`,
      get('users', { q: "it's é" }, { 'X-Quote': 'a"b\\c' }),
    ],
    [
      `curl ${U} -H 'X-Q: it'\\''s' \\\r\n --json $'{"a":"\\\\n\\x41"}'`,
      { ...get('users', { a: '\nA' }, { 'X-Q': "it's" }), method: 'POST' },
    ],
    [`curl ^"${U}?a=1^&b=2^" ^\n  -H ^"x: ^\\^"y^\\^"^"`, get('users', { a: '1', b: '2' }, { x: '"y"' })],
    [`curl "${U}" ^\n  -H "x: y"`, get('users', {}, { x: 'y' })],
  ])('%j', async (command, job) => {
    expect(await load(command)).toEqual(job);
  });

  test.each<[command: string, job: object, warning: RegExp]>([
    [
      `curl -X GET --json '{"q":{"all":[{}]}}' ${U}`,
      { ...get('users', { q: { all: [{}] } }), paramsIn: 'body' },
      /empty object \{\} inside of the body is sent as \[\]/,
    ],
    [`curl -u me:pass ${U}`, get('users'), /"type": "basic"/],
    [`curl https://me:pass@api.example.com/v1/users`, get('users'), /"type": "basic"/],
    [`curl -H 'Authorization: Bearer s3cr3t-t0k3n' ${U}`, get('users'), /"type": "bearer"/],
    [`curl --oauth2-bearer s3cr3t-t0k3n ${U}`, get('users'), /"type": "bearer"/],
    [`curl -H 'authorization: Token s3cr3t-t0k3n' ${U}`, get('users'), /Authorization was left out/],
    [`curl -b 'session=s3cr3t-t0k3n' -H 'Cookie: a=b' ${U}`, get('users'), /cookies were left out/],
    [
      `curl -H 'X-Api-Key: k' ${U}`,
      get('users', {}, { 'X-Api-Key': 'k' }),
      /X-Api-Key seems to hold a secret/,
    ],
    [`curl '${U}?api_key=k'`, get('users', { api_key: 'k' }), /api_key seems to hold a secret/],
    [`curl '${U}?a=1&a=2'`, get('users?a=1&a=2'), /query stays in the endpoint/],
    [`curl '${U}?flag&q=%ff'`, get('users?flag&q=%ff'), /query stays in the endpoint/],
    [`curl -G ${U} --data-urlencode '=x=y'`, get('users?x%3Dy'), /query stays in the endpoint/],
    [`curl '${U}?0=a'`, get('users?0=a'), /query stays in the endpoint/],
    [`curl ${U} | jq .`, get('users'), /What follows the command/],
    [`curl -k ${U}`, get('users'), /^-k was left out. Certificates/],
    [`curl -x proxy:80 --max-time 5 ${U}`, get('users'), /^-x was left out. Proxies/],
    [`curl --compresed ${U}`, get('users'), /did you mean --compressed\?/],
    [`curl -P ${U}`, get('users'), /The option -P is not known/],
    [`curl ${U} https://other.example.com`, get('users'), /1 further word/],
    [`curl "${U}?t=$TOKEN_X"`, get('users', { t: '$TOKEN_X' }), /\$TOKEN_X is a variable/],
    [`curl -d '{"a":1}' ${U}`, { ...get('users', { a: 1 }), method: 'POST' }, /looks like JSON/],
    [`curl --json '{}' ${U}`, { ...get('users'), method: 'POST' }, /\{\} is sent as \[\]/],
    [
      `curl --json '{"a":{"attr":"x"}}' ${U}`,
      { ...get('users', { a: { attr: 'x' } }), method: 'POST' },
      /taken for a function/,
    ],
    [
      `curl -F 'a=1;type=text/plain' -F 'b="x;y"' --form-string 'c=@d' ${U}`,
      { ...get('users', { a: '1', b: 'x;y', c: '@d' }), method: 'FORM' },
      /not as multipart/,
    ],
  ])('%j, with a warning', async (command, job, warning) => {
    const { __WARNINGS: warnings, ...rest } = (await load(command)) as { __WARNINGS?: string[] };
    expect(rest).toEqual(job);
    expect(warnings).toContainEqual(expect.stringMatching(warning));
    expect(JSON.stringify(warnings)).not.toContain('s3cr3t');
  });

  test.each<[command: unknown, message: RegExp]>([
    [undefined, /__CURL_COMMAND` is missing/],
    [' ', /__CURL_COMMAND` is missing/],
    [7, /must be a text/],
    ['#nothing', /The command is empty/],
    ['wget https://x', /no curl command/],
    [U, /no curl command/],
    ['curl', /has no address/],
    ['curl -s', /has no address/],
    ['curl -X', /“-X” needs a value/],
    ['curl ftp://x/y', /no http or https URL/],
    ['curl $HOST/users', /no http or https URL/],
    [`curl '${U}`, /A ' in line 1 of the command is never closed/],
    [`curl 'https://api.example.com/v1/{users,groups}'`, /The address stands for several/],
    [`curl '${U}?page=[1-3]'`, /The address stands for several/],
    [`curl https://api.example.com/v[a-c:2]/users`, /The address stands for several/],
    [`curl -d @file.json ${U}`, /refers to a file/],
    [`curl -F 'f=@photo.png' ${U}`, /-F refers to a file/],
    [`curl -F f ${U}`, /needs name=value/],
    [`curl --data-urlencode name@file ${U}`, /refers to a file/],
    [`curl -T file ${U}`, /cannot do what -T asks for/],
    [`curl -I ${U}`, /cannot do what -I asks for/],
    [`curl -X OPTIONS ${U}`, /cannot send “OPTIONS”/],
    [`curl --json '{"a":' ${U}`, /not JSON: .* line 1/],
    [`curl --json 7 ${U}`, /single value/],
    [`curl -d '<a/>' -H 'Content-Type: text/xml' ${U}`, /is text\/xml/],
    [`curl -X PUT -d a=1 ${U}`, /a form by POST only/],
    [`curl -d a=1 -d a=2 ${U}`, /cannot be said by parameters/],
    [`curl -d "$(cat x)" ${U}`, /another command inside/],
  ])('%j is refused', async (command, message) => {
    const error = await failed('load_from_curl', { __CURL_COMMAND: command, api: { baseUrl: BASE } });
    expect(error).toMatchObject({ code: 'action.invalid', audience: 'user' });
    expect(error.message).toMatch(message);
  });

  test('keeps numbers as they are written', async () => {
    const configuration = json({
      parameters: { __CURL_COMMAND: `curl ${U} --json '{"n":12345678901234567890,"m":1.50}'` },
    });
    const result = await runAction('load_from_curl', {
      configuration,
      env: systemEnv,
      log: silentLog,
      signal: new AbortController().signal,
    });
    expect(encodeExact(result)).toContain('"params":{"n":12345678901234567890,"m":1.50}');
  });

  test('works before the rest of the configuration is there', async () => {
    expect(await act('load_from_curl', { __CURL_COMMAND: `curl ${U}` })).toEqual(get(U));
    expect(await load(`curl ${U}`, { baseUrl: 'no URL' })).toEqual(get(U));
    expect(await load(`curl ${U}`, { baseUrl: { attr: 'gone' } })).toEqual(get(U));
  });

  test('knows a base URL made by a function', async () => {
    const baseUrl = { function: 'concat', args: ['https://', { attr: 'host' }, '/v1/'] };
    expect(await load(`curl ${U}`, { baseUrl }, { host: 'api.example.com' })).toEqual(get('users'));
  });

  test('resolves the endpoint as a run does, whatever the base URL ends with', async () => {
    for (const baseUrl of [
      'https://api.example.com',
      'https://api.example.com/v1',
      'https://api.example.com/v1/x',
    ]) {
      const endpoint = at(await load(`curl ${U}`, { baseUrl }), 'endpoint');
      expect(typeof endpoint === 'string' && resolveUrl(baseUrl, endpoint)).toBe(U);
    }
  });

  test('leaves headers out that every request has', async () => {
    const api = {
      baseUrl: BASE,
      http: { headers: { Accept: 'application/json', 'X-Key': { attr: '#key' }, 'X-V': '1' } },
    };
    const command = `curl ${U} -H 'accept: application/json' -H 'x-key: abc' -H 'X-V: 2' -H 'X-C: 3'`;
    expect(await load(command, api, { http: { headers: { 'X-C': 3 } } })).toEqual(
      get('users', {}, { 'X-V': '2' }),
    );
  });

  test('makes a job that sends the same request', async () => {
    const api = await startApi(() => ({ json: [{ id: 1 }] }));
    const sent = [
      [`curl '${api.url}v1/users?f[a]=1&q=x%20y'`, 'GET', '/v1/users?f%5Ba%5D=1&q=x+y', ''],
      [`curl '${api.url}v1/users?a=1&a=2'`, 'GET', '/v1/users?a=1&a=2', ''],
      [`curl -g '${api.url}v1/users?a[]=1&a[]=2'`, 'GET', '/v1/users?a%5B%5D=1&a%5B%5D=2', ''],
      [`curl -d 'a=1&b[]=2' '${api.url}v1/users?x=1'`, 'POST', '/v1/users?x=1', 'a=1&b%5B0%5D=2'],
      [`curl -X DELETE --json '{"ids":[1,2]}' ${api.url}v1/users`, 'DELETE', '/v1/users', '{"ids":[1,2]}'],
    ] as const;
    for (const [command, method, target, body] of sent) {
      const job = await load(command, { baseUrl: `${api.url}v1/` });
      const { __WARNINGS: _, ...rest } = job as Record<string, unknown>;
      await act('test_request', {
        __SELECTED_JOB: '0',
        api: { baseUrl: `${api.url}v1/` },
        config: json({ jobs: [rest] }),
      });
      expect(api.seen.at(-1)).toMatchObject({ method, target, body });
    }
  });
});
