import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv, type Env } from '../../../src/lib/env.ts';
import { StorageClient, type StorageClientOptions, StorageError } from '../../../src/storage/client/index.ts';
import { atEndOfFile } from '../../support/cleanup.ts';

export async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  return (await bytesOf(stream)).toString('utf8');
}

export async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(Buffer.from(piece as Uint8Array)); // streams of bytes
  return Buffer.concat(pieces);
}

/** Returns the error that the work fails with. */
export async function failureOf(work: Promise<unknown>): Promise<StorageError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}

/** Bytes that no compression makes small. */
export function noise(bytes: number): Buffer {
  return randomBytes(bytes);
}

/** Waits are over at once, and are written down. */
export function quickEnv(): { env: Env; waits: number[] } {
  const waits: number[] = [];
  const sleep: Env['sleep'] = async (waitMs, signal) => {
    waits.push(waitMs);
    await systemEnv.sleep(1, signal);
  };
  return { env: { ...systemEnv, sleep }, waits };
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'client-'));
  atEndOfFile(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A server that answers what a test wants, on loopback. */
export async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const url = await listening(server);
  atEndOfFile(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return url;
}

export async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

export const TOKEN = '1-2-verysecrettoken';

export function clientOf(url: string, options: Partial<StorageClientOptions> = {}): StorageClient {
  return new StorageClient({ url, token: TOKEN, env: quickEnv().env, ...options });
}

export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const text = await textOf(request);
  return text === '' ? undefined : JSON.parse(text);
}

/** Returns an address on which no server listens. */
export async function closedAddress(): Promise<string> {
  const server = createServer();
  const url = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}
