import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { createHttpClient } from '../../../../src/engine/http/client.ts';
import { createNetwork, type NetworkOptions } from '../../../../src/engine/http/send/network.ts';
import { createReach, type ReachRules } from '../../../../src/engine/http/trust/reach.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { errorOf, get, never, startApi } from '../support.ts';

const rules = (given: Partial<ReachRules>): ReachRules => ({
  allow: [],
  deny: [],
  isNearDenied: false,
  ...given,
});

/** Sends one request under rules. @returns how it ended: a status, or a refusal in words */
async function ask(url: string, given: Partial<ReachRules>, options: NetworkOptions = {}): Promise<string> {
  const network = createNetwork(
    { ...options, connectTimeoutMs: 2000, reach: createReach(rules(given)) },
    systemEnv,
    silentLog,
  );
  try {
    return String((await network.send(get(url), { signal: never })).status);
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return code === 'http.forbiddenHost' ? message : `failed: ${code}`;
  } finally {
    await network.close();
  }
}

const near = { isNearDenied: true };

test.each([
  '127.0.0.1',
  '127.1',
  '127.8.9.10',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '127.0.0.1.',
  'localhost',
  'LOCALHOST',
  '0',
  '0.0.0.0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '１２７.0.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '[::ffff:169.254.169.254]',
  '169.254.1.1',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '100.100.100.200',
])('what is near the machine is not reached as http://%s', async (host) => {
  const { port } = new URL((await startApi((response) => response.end('{}'))).url);
  expect(await ask(`http://${host}:${port}/`, near)).toMatch(
    /are not allowed here: .* addresses .*are denied\.$/,
  );
});

test('what is not near is left alone, private addresses too', async () => {
  for (const address of [
    '10.1.2.3',
    '192.168.1.1',
    '[fd12::1]',
    '93.184.216.34',
    '[2001:db8::1]',
    '128.0.0.1',
  ])
    expect(() => createReach(rules(near)).requireHost(address.replace(/[[\]]/g, ''))).not.toThrow();
});

const denied = (rule: string): unknown => expect.stringContaining(`--deny-host ${rule} denies it`);

test('rules name hosts, domains, addresses and ranges, and what is allowed is so in any case', async () => {
  const api = await startApi((response) => response.end('{}'));
  const here = api.url;
  const named = here.replace('127.0.0.1', 'localhost');
  expect(await ask(here, {})).toBe('200');
  for (const deny of ['127.0.0.0/8', '127.0.0.1', '::ffff:127.0.0.0/104', '*'])
    expect(await ask(here, { deny: [deny] })).toEqual(denied(deny));
  for (const deny of ['localhost', 'LocalHost.', '127.0.0.0/8', '*'])
    expect(await ask(named, { deny: ['::1', deny] })).toEqual(
      expect.stringMatching(/--deny-host .* denies it/),
    );
  expect(await ask('http://a.b.example.test/', { deny: ['*.example.test'] })).toEqual(
    denied('*.example.test'),
  );
  expect(await ask('http://A.example.test./', { deny: ['*.EXAMPLE.test'] })).toEqual(
    denied('*.EXAMPLE.test'),
  );
  expect(await ask('http://example.test/', { deny: ['*.example.test'] })).toBe('failed: http.network');
  for (const allow of ['127.0.0.1', '127.0.0.0/8', '*'])
    expect(await ask(here, { ...near, deny: ['127.0.0.1', '*'], allow: [allow] })).toBe('200');
  expect(await ask(named, { ...near, deny: ['*'], allow: ['localhost'] })).toBe('200');
  // A name that is allowed says nothing of the address behind another one.
  expect(await ask(here, { ...near, allow: ['localhost'] })).toContain('are denied');
});

test('a name is judged by what it leads to, without telling the address', async () => {
  const { url } = await startApi((response) => response.end('{}'));
  const refused = await ask(url.replace('127.0.0.1', 'localhost'), { deny: ['127.0.0.0/8', '::1'] });
  expect(refused).toMatch(/it leads to an address, and --deny-host (?:127\.0\.0\.0\/8|::1) denies it/);
});

test('a rule that cannot be read is refused', () => {
  for (const rule of [
    '',
    'http://a',
    'a:80',
    '10.0.0.0/33',
    '10.0.0/8',
    '127.1',
    '0x7f.1',
    'a b',
    '*.*',
    'a/b',
  ])
    expect(() => createReach(rules({ deny: [rule] })), rule).toThrow(`“${rule}” is no rule for hosts.`);
});

test('a redirect leads nowhere else, and is not tried again', async () => {
  const api = await startApi((response) => {
    response.writeHead(302, { location: 'http://127.0.0.2:1/latest/meta-data' });
    response.end();
  });
  const client = createHttpClient({
    env: systemEnv,
    log: silentLog,
    secrets: new Secrets(),
    network: { reach: createReach(rules({ ...near, allow: ['127.0.0.1'] })) },
  });
  const error = await errorOf(client.send(get(api.url), { signal: never }));
  await client.close();
  expect(error).toMatchObject({ code: 'http.forbiddenHost', recovery: 'stop' });
  expect(error.message).toContain('“127.0.0.2”');
  expect(error.hint).toContain('--allow-host');
  expect(api.seen).toHaveLength(1);
});

describe('through others', () => {
  test('a proxy of the service is asked for nothing that may not be reached', async () => {
    const proxy = await startApi((response) => response.end('{}'));
    const environment = { http_proxy: proxy.url, https_proxy: proxy.url };
    for (const host of [
      '127.0.0.1',
      'localhost',
      '0x7f.1',
      '[::ffff:7f00:1]',
      '169.254.169.254',
      'metadata.google.internal',
    ])
      for (const scheme of ['http', 'https'])
        expect(await ask(`${scheme}://${host}:1/`, near, { environment }), host).toContain('not allowed');
    expect(await ask('http://api.example.test/', { deny: ['*'] }, { environment })).toContain(
      '--deny-host *',
    );
    expect(proxy.seen).toEqual([]);
    // The proxy itself is of whoever runs the service.
    expect(await ask('http://api.example.test/', near, { environment })).toBe('200');
  });

  test('nor is an SSH server, which may not be near either', async () => {
    const sshProxy = { user: 'u', host: 'bastion.example.test', port: 22, privateKey: '' };
    for (const host of ['127.0.0.1', 'localhost', 'localhost.', '127.1', 'a.localhost.', '169.254.169.254'])
      expect(await ask(`http://${host}/`, near, { sshProxy }), host).toContain(`“${host}”`);
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '::1'])
      expect(
        await ask('http://api.example.test/', near, { sshProxy: { ...sshProxy, host } }),
        host,
      ).toContain(`“${host}”`);
  });
});

test.each(['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '[fd12::1]', '[::ffff:10.0.0.1]'])(
  'addresses of private networks are denied where it is said so: %s',
  async (host) => {
    expect(await ask(`http://${host}/`, { isPrivateDenied: true })).toContain('private networks');
    const allowed = host.includes('10.') ? ['10.0.0.0/8'] : [host.replace(/[[\]]/g, '')];
    expect(() =>
      createReach(rules({ isPrivateDenied: true, allow: allowed })).requireHost(host),
    ).not.toThrow();
  },
);

test('where hosts are named, no other is asked, whatever it leads to', async () => {
  const only = ['localhost', '127.0.0.0/8', '*.example.com'];
  const reach = createReach(rules({ only, hint: 'Name it.' }));
  for (const host of ['localhost', 'LOCALHOST.', '127.0.0.1', '127.1', 'a.example.com'])
    expect(() => reach.requireHost(host)).not.toThrow();
  for (const host of ['example.com', 'example.com.evil.test', '8.8.8.8', 'localhost.evil.test'])
    expect(() => reach.requireHost(host), host).toThrow('it is none of those that were named');
  const api = await startApi();
  expect(await ask(api.url.replace('127.0.0.1', 'localhost'), { only: ['localhost'] })).not.toContain(
    'not allowed',
  );
  expect(await ask(api.url, { only: ['localhost'] })).toContain('not allowed');
  expect(await ask(api.url.replace('127.0.0.1', 'localhost'), { only, isNearDenied: true })).toContain(
    'loopback',
  );
});
