import { connect, type AddressInfo } from 'node:net';
import ssh2 from 'ssh2';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGotSend } from '../../../../src/engine/http/send/got.ts';
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

interface SshServer {
  readonly proxy: SshProxy;
  /** Hosts that were asked for, as the far end saw them. */
  readonly forwarded: string[];
  readonly logins: () => number;
  /** Breaks every connection, and waits until all are gone. */
  cut(): Promise<void>;
}

// Not ed25519: of a hundred such keys that ssh2 makes, it cannot read one back.
const HOST_KEYS = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
const KEYS = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });

/** An SSH server that lets one key in and forwards every name to the port given. */
async function startSsh(port: number): Promise<SshServer> {
  const forwarded: string[] = [];
  const clients = new Set<ssh2.Connection>();
  let logins = 0;
  const allowed = ssh2.utils.parseKey(KEYS.public);
  if (allowed instanceof Error) throw allowed;
  const server = new ssh2.Server({ hostKeys: [HOST_KEYS.private] }, (client) => {
    clients.add(client);
    client.on('error', () => undefined);
    client.on('close', () => clients.delete(client));
    client.on('authentication', (context) => {
      const isKnown =
        context.method === 'publickey' &&
        context.username === 'tunnel' &&
        context.key.data.equals(allowed.getPublicSSH());
      if (!isKnown) return context.reject(['publickey']);
      if (context.method === 'publickey' && context.signature !== undefined) logins++;
      context.accept();
    });
    client.on('tcpip', (accept, reject, info) => {
      forwarded.push(`${info.destIP}:${info.destPort}`);
      const upstream = connect(port, '127.0.0.1', () => {
        const channel = accept();
        channel.on('error', () => undefined);
        channel.pipe(upstream).pipe(channel);
        channel.on('close', () => upstream.destroy());
      });
      upstream.on('error', () => reject());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = async (): Promise<void> => {
    const gone = [...clients].map(
      (client) => new Promise<unknown>((resolve) => client.on('close', () => resolve(client))),
    );
    for (const client of clients) client.end();
    await Promise.all(gone);
  };
  onTestFinished(async () => {
    await cut();
    server.close();
  });
  const proxy = {
    user: 'tunnel',
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    privateKey: KEYS.private,
  };
  return { proxy, forwarded, logins: () => logins, cut };
}

function open(proxy: SshProxy, ca?: string) {
  const env = fakeEnv();
  const tunnel = createSshTunnel(proxy, env, recordingLog());
  const secure = ca === undefined ? {} : { secureContext: () => secureContextOf({ caCertificate: ca }) };
  const bottom = createGotSend({
    connect: (host, port) => tunnel.connect(host, port),
    requestTimeoutMs: 4000,
    ...secure,
  });
  onTestFinished(async () => {
    await bottom.close();
    await tunnel.close();
  });
  return { env, send: (url: string) => bottom.send(get(url), { signal: never }) };
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
