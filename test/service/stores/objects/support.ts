import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request, type IncomingMessage, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { systemEnv, type Env } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import {
  createFolderStore,
  type FolderStore,
  type FolderStoreOptions,
} from '../../../../src/service/stores/objects/folder-store.ts';
import { createS3Server } from '../../../../src/service/stores/objects/s3/server.ts';
import type { ObjectCredentials } from '../../../../src/service/stores/objects/store.ts';

export const SECRET = Buffer.alloc(32, 7);

export interface Embedded {
  readonly store: FolderStore;
  readonly endpoint: string;
  readonly directory: string;
  /** Moves the clock of the service. */
  readonly advance: (milliseconds: number) => void;
  /** A client with the keys of the service, or with those given. */
  readonly client: (credentials?: ObjectCredentials, config?: S3ClientConfig) => S3Client;
  readonly close: () => Promise<void>;
}

/** The embedded store over a new folder, listening on loopback. */
export async function startEmbedded(options: Partial<FolderStoreOptions> = {}): Promise<Embedded> {
  const directory = options.directory ?? (await mkdtemp(path.join(tmpdir(), 'objects-')));
  let shift = 0;
  const env: Env = { ...systemEnv, now: () => Date.now() + shift };
  let endpoint = '';
  const store = createFolderStore({
    directory,
    secret: SECRET,
    endpoint: () => endpoint,
    env,
    log: silentLog,
    ...options,
  });
  await store.open();
  const server = createS3Server(store.handler);
  endpoint = await listen(server);
  const clients: S3Client[] = [];
  return {
    store,
    endpoint,
    directory,
    advance: (milliseconds) => void (shift += milliseconds),
    client(credentials, config = {}) {
      const { accessKeyId, secretAccessKey } = store.keys.service;
      const client = new S3Client({
        endpoint,
        region: store.region,
        forcePathStyle: true,
        maxAttempts: 1,
        credentials:
          credentials === undefined ? { accessKeyId, secretAccessKey } : sdkCredentials(credentials),
        ...config,
      });
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function sdkCredentials(credentials: ObjectCredentials): {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
} {
  const { AccessKeyId, SecretAccessKey, SessionToken } = credentials;
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
}

/** Listens on a free port of loopback and gives the base address. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Listening on a port, so the address is no pipe.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The code of the error that the work ends with; fails when it doesn't. */
export async function errorCode(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error)
      return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
    throw error;
  }
  throw new Error('It succeeded.');
}

export async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const chunks: Uint8Array[] = [];
  // The streams of these tests yield bytes.
  for await (const chunk of stream) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString();
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** GET of an address as it is: `fetch` would resolve `..` in the path. */
export async function getExactly(address: string): Promise<RawAnswer> {
  const [, base = '', path = ''] = /^(https?:\/\/[^/]+)(.*)$/.exec(address) ?? [];
  return sendExactly(base, { path });
}

/** One request as it is, with the body in these pieces. */
export async function sendExactly(
  base: string,
  options: { path: string; method?: string; headers?: OutgoingHttpHeaders; body?: readonly Uint8Array[] },
): Promise<RawAnswer> {
  const { body = [], ...rest } = options;
  const sent = request(base, { ...rest, agent: false });
  for (const piece of body) sent.write(piece);
  sent.end();
  // The event gives the response.
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) };
}

/** Text that fits, for a field of an expected object. */
export function fitting(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}
