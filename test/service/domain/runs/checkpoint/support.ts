import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { Channel } from '../../../../../src/service/domain/runs/checkpoint/kept-run.ts';
import type { KeptStore } from '../../../../../src/service/domain/runs/checkpoint/store.ts';

/** An object store in memory; `before` is called with the key of each object before it is written. */
export interface MemoryStore extends KeptStore {
  readonly objects: Map<string, Buffer>;
  before: (key: string) => Promise<void> | void;
}

export function memoryStore(objects = new Map<string, Buffer>()): MemoryStore {
  return {
    objects,
    before: () => {},
    hasEncryption: true,
    async read(key) {
      const bytes = objects.get(key);
      if (bytes === undefined) throw Object.assign(new Error('none'), { code: 'NoSuchKey' });
      return Readable.from([bytes]);
    },
    async write(key, body) {
      const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body);
      await this.before(key);
      objects.set(key, bytes);
    },
    async *list(prefix) {
      for (const [key, bytes] of [...objects].toSorted(([a], [b]) => (a < b ? -1 : 1)))
        if (key.startsWith(prefix)) yield { key, bytes: bytes.length };
    },
    async delete(keys) {
      for (const key of keys) objects.delete(key);
    },
  };
}

/** A process and its runner, in this one: what one end sends, the other gets. */
export function channelPair(): {
  readonly child: ChildProcess;
  readonly channel: Channel;
  readonly cut: () => void;
} {
  const child = new EventEmitter();
  const channel = new EventEmitter();
  let isOpen = true;
  const sender =
    (to: EventEmitter) =>
    (message: unknown, done: (error: Error | null) => void): boolean => {
      setImmediate(() => {
        if (isOpen) to.emit('message', structuredClone(message));
        done(isOpen ? null : new Error('closed'));
      });
      return isOpen;
    };
  Object.assign(child, { send: sender(channel) });
  Object.assign(channel, { send: sender(child), channel: { ref() {}, unref() {} } });
  return {
    child: child as ChildProcess, // as much of one as a keeper uses
    channel: channel as unknown as Channel, // as much of one as a run uses
    cut() {
      isOpen = false;
      channel.emit('disconnect');
    },
  };
}

/** Relay between a client and a service. */
export interface Between {
  readonly url: string;
  /** Called before a request goes on, and before its answer comes back. What rejects cuts the connection. */
  at: (step: 'answer' | 'request', line: string) => Promise<void>;
  stop(): void;
}

const PASS: Between['at'] = async () => {};

/** An address in front of a service. */
export async function between(service: string): Promise<Between> {
  const state = { at: PASS };
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const line = `${method} ${url.replace(/^\/v2\/storage\//, '')}`;
    const forward = async (): Promise<void> => {
      const body = await buffer(request);
      await state.at('request', line);
      const { host: _, connection: __, 'content-length': ___, ...kept } = headers;
      const answer = await fetch(service + url, {
        method,
        headers: kept as Record<string, string>, // a client sends each of them once
        ...(method === 'GET' ? {} : { body }),
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      await state.at('answer', line);
      const type = answer.headers.get('content-type');
      response.writeHead(answer.status, type === null ? {} : { 'content-type': type }).end(bytes);
    };
    forward().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}
