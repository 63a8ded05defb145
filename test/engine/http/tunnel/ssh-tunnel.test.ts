// @module-tag thorough
import ssh2 from 'ssh2';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTransport } from '../../../../src/engine/http/send/transport.ts';
import { createSshTunnel, type SshProxy } from '../../../../src/engine/http/tunnel/ssh-tunnel.ts';
import { secureContextOf } from '../../../../src/engine/http/send/tls.ts';
import {
  errorOf,
  fakeEnv,
  freePort,
  get,
  makeCertificates,
  never,
  recordingLog,
  startApi,
  textOf,
} from '../support.ts';
import { KEYS, startSsh } from './support.ts';

function open(proxy: SshProxy, ca?: string) {
  const env = fakeEnv();
  const tunnel = createSshTunnel(proxy, env, recordingLog());
  const secure = ca === undefined ? {} : { secureContext: () => secureContextOf({ caCertificate: ca }) };
  const transport = createTransport({
    connect: (host, port) => tunnel.connect(host, port),
    requestTimeoutMs: 4000,
    ...secure,
  });
  onTestFinished(async () => {
    await transport.close();
    await tunnel.close();
  });
  return { env, send: (url: string) => transport.send(get(url), { signal: never }) };
}

describe('a tunnel over SSH', () => {
  test('is opened at the first request, looks names up at the far end, and is kept', async () => {
    const api = await startApi((response) => response.end('x'.repeat(200_000)));
    const ssh = await startSsh(api.port);
    const { send } = open(ssh.proxy);
    expect(ssh.logins()).toBe(0);
    for (let i = 0; i < 3; i++)
      expect(textOf(await send('http://only.inside:8080/a/../b?c=[]'))).toHaveLength(200_000);
    expect(ssh.logins()).toBe(1);
    expect(ssh.forwarded).toEqual(['only.inside:8080']);
    expect(api.seen[0]).toMatchObject({ target: '/a/../b?c=[]', headers: { host: 'only.inside:8080' } });
  });

  test('carries https, with certificates of the far name', async () => {
    const { ca, cert, key } = makeCertificates('only.inside', 'an authority');
    const api = await startApi((response) => response.end('secure'), { cert, key });
    const ssh = await startSsh(api.port);
    const { send } = open(ssh.proxy, ca);
    for (let i = 0; i < 2; i++) expect(textOf(await send('https://only.inside/'))).toBe('secure');
    expect(ssh.forwarded).toEqual(['only.inside:443']);
  });

  test('a large response that ends with its connection comes whole', async () => {
    const api = await startApi((response) => {
      response.writeHead(200, { Connection: 'close' });
      for (let i = 0; i < 20; i++) response.write('x'.repeat(100_000));
      response.end();
    });
    const ssh = await startSsh(api.port);
    const { send } = open(ssh.proxy);
    for (let i = 0; i < 2; i++) expect(textOf(await send('http://only.inside/'))).toHaveLength(2_000_000);
    expect(ssh.forwarded).toHaveLength(2);
  });

  test('several requests at once share it', async () => {
    const api = await startApi();
    const ssh = await startSsh(api.port);
    const { send } = open(ssh.proxy);
    await Promise.all(['http://a/', 'http://b/', 'http://c/'].map((url) => send(url)));
    expect(ssh.logins()).toBe(1);
    expect(ssh.forwarded.sort()).toEqual(['a:80', 'b:80', 'c:80']);
  });

  test('is opened anew when it broke', async () => {
    const api = await startApi();
    const ssh = await startSsh(api.port);
    const { send } = open(ssh.proxy);
    await send('http://a/');
    await ssh.cut();
    expect((await send('http://a/')).status).toBe(200);
    expect(ssh.logins()).toBe(2);
  });

  test('that cannot be opened is tried five times', async () => {
    const { env, send } = open({
      user: 'tunnel',
      host: '127.0.0.1',
      port: await freePort(),
      privateKey: KEYS.private,
    });
    const error = await errorOf(send('http://a/'));
    expect(error).toMatchObject({
      code: 'http.proxy',
      recovery: 'stop',
      where: { path: 'parameters.sshProxy' },
    });
    expect(error.message).toContain('after 5 attempts');
    expect(env.sleeps).toEqual([100, 200, 400, 800]);
  });

  test.each([
    ['a key that the server does not know', ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }).private],
    ['no key at all', 'nonsense'],
  ])('%s is an error at once', async (_what, privateKey) => {
    const ssh = await startSsh(0);
    const { env, send } = open({ ...ssh.proxy, privateKey });
    const error = await errorOf(send('http://a/'));
    expect(error).toMatchObject({ code: 'http.proxy', recovery: 'stop' });
    expect(error.hint).toContain('#privateKey');
    expect(error.message).not.toContain('nonsense');
    expect(env.sleeps).toEqual([]);
  });

  test('a host that the server may not or cannot reach is named', async () => {
    const ssh = await startSsh(await freePort());
    const error = await errorOf(open(ssh.proxy).send('http://only.inside/'));
    expect(error.code).toBe('http.proxy');
    expect(error.message).toContain('only.inside:80');
  });
});
