import type { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import type { Env } from '../../../lib/env.ts';
import { HttpError } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import { CURL, failure } from '../send/network-error.ts';
import type { Reach } from '../trust/reach.ts';

/** `parameters.sshProxy`. */
export interface SshProxy {
  readonly user: string;
  readonly host: string;
  readonly port: number;
  /** PEM or OpenSSH form, without a passphrase. */
  readonly privateKey: string;
}

export interface SshTunnel {
  /** Opens a stream to a host as the SSH server sees it; connects to the server first if necessary. */
  connect(hostname: string, port: number): Promise<Duplex>;
  close(): Promise<void>;
}

const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 100;
const KEEPALIVE_MS = 10_000;
const READY_MS = 20_000;

/**
 * Creates a tunnel over SSH: opened at the first request, checked every 10 s, and opened again after a failure. Up to
 * five attempts, with pauses of 100, 200, 400 and 800 ms. The server's key is not checked, as in the reference.
 */
export function createSshTunnel(proxy: SshProxy, env: Env, log: Log, reach?: Reach): SshTunnel {
  let opening: Promise<Client> | undefined;

  function client(): Promise<Client> {
    if (opening !== undefined) return opening;
    const mine = open(proxy, { env, log, reach }, forget);
    function forget(): void {
      if (opening === mine) opening = undefined;
    }
    opening = mine;
    mine.catch(forget);
    return mine;
  }

  return {
    connect: async (hostname, port) => forward(await client(), proxy, hostname, port),
    close: async () => {
      const last = opening;
      opening = undefined;
      await last?.then((open) => open.end()).catch(() => undefined);
    },
  };
}

async function open(
  proxy: SshProxy,
  { env, log, reach }: { readonly env: Env; readonly log: Log; readonly reach: Reach | undefined },
  onClose: () => void,
): Promise<Client> {
  for (let attempt = 1; ; attempt++) {
    try {
      const client = await connectOnce(
        { ...proxy, host: (await reach?.addressOf(proxy.host)) ?? proxy.host },
        log,
      );
      client.once('close', onClose);
      log.debug('The SSH tunnel is open.', { host: proxy.host, port: proxy.port });
      return client;
    } catch (cause) {
      if (cause instanceof HttpError) throw cause;
      if (attempt === ATTEMPTS || isFinal(cause)) throw notOpened(proxy, cause, attempt);
      const waitMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
      log.debug('The SSH tunnel could not be opened; trying again.', {
        attempt,
        waitMs,
        error: (cause as Error).message,
      });
      await env.sleep(waitMs);
    }
  }
}

async function connectOnce(proxy: SshProxy, log: Log): Promise<Client> {
  // Loaded here: few runs need it, and it is large.
  const { default: ssh2 } = await import('ssh2');
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    client.once('ready', () => resolve(client));
    client.once('close', () => reject(new Error('the connection was closed')));
    client.on('error', (error) => {
      log.debug('The SSH connection failed.', { error: error.message });
      client.destroy();
      reject(error);
    });
    client.connect({
      host: proxy.host,
      port: proxy.port,
      username: proxy.user,
      privateKey: proxy.privateKey,
      keepaliveInterval: KEEPALIVE_MS,
      keepaliveCountMax: 1,
      readyTimeout: READY_MS,
    });
  });
}

/** Tells whether an error is final: a wrong key stays wrong. */
function isFinal(cause: unknown): boolean {
  const { level, message } = cause as { level?: unknown; message?: unknown };
  return level === 'client-authentication' || /privateKey/i.test(String(message));
}

function forward(client: Client, proxy: SshProxy, hostname: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error & { reason?: unknown }): void => {
      const refused = cause.reason === 1 || cause.reason === 'ADMINISTRATIVELY_PROHIBITED';
      const message = `${proxy.host} could not connect to ${hostname}:${port} through the SSH tunnel (${cause.message}).`;
      const hint = 'Check that the SSH server can reach the host, and may forward to it.';
      reject(
        refused
          ? new HttpError('http.proxy', message, { cause, hint })
          : failure(CURL.connect, message, { code: 'http.proxy', cause, hint }),
      );
    };
    try {
      client.forwardOut('127.0.0.1', 0, hostname, port, (error, channel) => {
        if (error) fail(error);
        else resolve(channel);
      });
    } catch (cause) {
      // Thrown when the connection died a moment ago.
      client.destroy();
      fail(cause as Error);
    }
  });
}

function notOpened(proxy: SshProxy, cause: unknown, attempts: number): HttpError {
  const times = attempts === 1 ? '' : ` after ${attempts} attempts`;
  return new HttpError(
    'http.proxy',
    `The SSH tunnel to ${proxy.host}:${proxy.port} could not be opened${times} (${(cause as Error).message}).`,
    {
      cause,
      where: { path: 'parameters.sshProxy' },
      hint: 'Check user, host and port, and that #privateKey is a private key without a passphrase that the server accepts.',
    },
  );
}
