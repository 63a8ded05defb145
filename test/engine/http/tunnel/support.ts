import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import ssh2 from 'ssh2';
import { onTestFinished } from 'vitest';
import type { SshProxy } from '../../../../src/engine/http/tunnel/ssh-tunnel.ts';

export interface TestProxy {
  readonly url: string;
  /** Request lines that it was given. */
  readonly asked: string[];
  readonly authorizations: (string | undefined)[];
}

/** Starts a proxy that answers requests itself, and leads tunnels to the port given. */
export async function startProxy(port: number, refuse?: number, secure?: ServerOptions): Promise<TestProxy> {
  const asked: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const answer: RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.host}`);
    authorizations.push(request.headers['proxy-authorization']);
    response.end('from the proxy');
  };
  const proxy = secure === undefined ? createServer(answer) : createSecureServer(secure, answer);
  proxy.on('connect', (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    authorizations.push(request.headers['proxy-authorization']);
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (refuse !== undefined) {
      socket.end(`HTTP/1.1 ${refuse} No\r\n\r\n`);
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    sockets.add(upstream);
    upstream.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    sockets.forEach((socket) => socket.destroy());
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  return {
    url: `${secure === undefined ? 'http' : 'https'}://us%40r:pw@${secure === undefined ? '127.0.0.1' : 'localhost'}:${typeof address === 'object' ? address?.port : ''}`,
    asked,
    authorizations,
  };
}

/**
 * Starts a proxy that forwards requests in absolute form, and opens tunnels, to ports of this machine. Bytes pass
 * unchanged, but for the request line and what is meant for the proxy.
 *
 * @returns its URL
 */
export async function startForwardingProxy(): Promise<string> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: () => Socket | undefined): Socket => {
    sockets.add(socket);
    return socket.on('error', () => other()?.resetAndDestroy()).on('close', () => other()?.destroySoon());
  };
  const proxy = createTcpServer((client) => {
    let far: Socket | undefined;
    let isTunnel = false;
    keep(client, () => far).on('data', (chunk: Buffer) => {
      if (far !== undefined) {
        far.write(isTunnel ? chunk : forwarded(chunk));
        return;
      }
      const [, port] = /^[^\r]*:(\d+)/.exec(chunk.toString('latin1')) ?? [];
      isTunnel = chunk.toString('latin1', 0, 8) === 'CONNECT ';
      far = keep(connect(Number(port), '127.0.0.1'), () => client);
      far.pipe(client);
      if (isTunnel) far.once('connect', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      else far.write(forwarded(chunk));
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return `http://us:pw@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** Each request starts a chunk, as small ones do. */
function forwarded(chunk: Buffer): Buffer {
  const text = chunk
    .toString('latin1')
    .replace(/^([A-Z]+) http:\/\/[^/?#\s]+/, '$1 ')
    .replace(/^Proxy-Authorization: .*\r\n/m, '');
  return Buffer.from(text, 'latin1');
}

export interface SshServer {
  readonly proxy: SshProxy;
  /** Hosts that were asked for, as the far end saw them. */
  readonly forwarded: string[];
  readonly logins: () => number;
  close(): Promise<void>;
  /** Breaks every connection, and waits until all are gone. */
  cut(): Promise<void>;
}

// Not ed25519: of a hundred such keys that ssh2 makes, it cannot read one back.
const HOST_KEYS = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
export const KEYS = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });

/** Starts an SSH server for one test. */
export async function startSsh(port: number): Promise<SshServer> {
  const server = await openSsh(port);
  onTestFinished(() => server.close());
  return server;
}

/** Starts an SSH server that lets one key in and forwards every name to the port given; else to the port asked for. */
export async function openSsh(port?: number): Promise<SshServer> {
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
      const upstream = connect(port ?? info.destPort, '127.0.0.1', () => {
        const channel = accept();
        channel.on('error', () => undefined);
        channel.pipe(upstream).pipe(channel);
        channel.on('close', () => upstream.destroy());
        upstream.on('error', () => channel.close());
      });
      upstream.once('error', () => reject());
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
  const close = async (): Promise<void> => {
    await cut();
    server.close();
  };
  const proxy = {
    user: 'tunnel',
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    privateKey: KEYS.private,
  };
  return { proxy, forwarded, logins: () => logins, cut, close };
}
