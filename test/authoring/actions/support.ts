import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { runAction, type ActionOptions } from '../../../src/authoring/actions/actions.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import { ExtractorError } from '../../../src/lib/errors.ts';
import {
  encodeExact,
  getKey,
  isObject,
  parseExact,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';

export interface Seen {
  readonly method: string;
  /** The request target, byte for byte. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answer of a test API: JSON, or more. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string | string[]>;
  readonly json?: unknown;
  readonly text?: string;
}

/** An API on loopback that ends with the test. */
export async function startApi(
  answer: (seen: Seen) => Answer | undefined,
): Promise<{ url: string; seen: readonly Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: target = '', headers } = request;
      const one = { method, target, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      reply(response, answer(one));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

/** An answer of undefined never comes. */
function reply(response: ServerResponse, answer: Answer | undefined): void {
  if (answer === undefined) return;
  const { status = 200, headers = {}, json, text } = answer;
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(text ?? JSON.stringify(json ?? []));
}

/** The value as our JSON model has it. */
export function json(value: unknown): AnyObject {
  const parsed = parseExact(JSON.stringify(value));
  if (!isObject(parsed)) throw new Error('an object was expected');
  return parsed;
}

/** Runs an action; the result is what a reader of its output gets. */
export async function act(
  action: string,
  parameters: unknown,
  more: Partial<ActionOptions> & { root?: object } = {},
): Promise<Json> {
  const { root, ...options } = more;
  const result = await runAction(action, {
    configuration: json({ ...root, parameters }),
    env: systemEnv,
    log: silentLog,
    signal: new AbortController().signal,
    ...options,
  });
  return JSON.parse(encodeExact(result)) as Json;
}

/** The error that an action ends with. */
export async function failed(
  action: string,
  parameters: unknown,
  more: Partial<ActionOptions> = {},
): Promise<ExtractorError> {
  try {
    await act(action, parameters, more);
  } catch (error) {
    if (error instanceof ExtractorError) return error;
    throw error;
  }
  throw new Error('the action did not fail');
}

/** A value inside of a result. */
export function at(value: Json | undefined, ...keys: readonly string[]): Json | undefined {
  return keys.reduce<Json | undefined>(
    (inner, key) =>
      isObject(inner)
        ? getKey(inner, key)
        : Array.isArray(inner)
          ? (inner as Json[])[Number(key)]
          : undefined,
    value,
  );
}
