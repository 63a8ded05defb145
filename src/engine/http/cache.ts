import { hash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '../../lib/env.ts';
import type { Log } from '../../lib/log.ts';
import {
  headerOf,
  withoutHeader,
  type ApiRequest,
  type ApiResponse,
  type SendWrapper,
} from '../shared/message.ts';

export interface CacheOptions {
  /** Made when it is not there. */
  readonly folder: string;
  /** How long a response is good. Default: 604800, a week. */
  readonly ttlSeconds?: number | undefined;
  /** Statuses that a retry hopes to change: they are not kept. */
  readonly except?: readonly number[] | undefined;
  readonly env: Env;
  readonly log: Log;
}

export const DEFAULT_TTL_SECONDS = 604_800;

/**
 * Keeps the responses of GET requests in files, by method and URL: an aid for writing a
 * configuration. Files are named by a hash and hold status, response headers and body; nothing of the request. Large
 * bodies and packed files are not kept.
 */
export function cache(options: CacheOptions): SendWrapper {
  const { env, log, except = [] } = options;
  const ttlMs = (options.ttlSeconds ?? DEFAULT_TTL_SECONDS) * 1000;

  return (next) => async (request, sendOptions) => {
    if (request.method !== 'GET') return next(request, sendOptions);
    const file = join(options.folder, hash('sha256', `${request.method} ${request.url}`));
    const kept = sendOptions.attempt?.isAgain === true ? undefined : await read(file, request);
    const age = kept === undefined ? Infinity : env.now() - kept.at;
    if (kept !== undefined && age >= 0 && age < ttlMs) return aged(kept.response, age);
    const response = await next(request, sendOptions);
    const isFile = response.large !== undefined || response.unpacked !== undefined;
    if (!isFile && !except.includes(response.status))
      await write(file, options.folder, response, env).catch((error: unknown) =>
        log.warn('A response could not be kept in the cache.', {
          folder: options.folder,
          error: String(error),
        }),
      );
    return response;
  };
}

/**
 * Adds the time in the cache to the `Age` of a response (RFC 9111, 5.1); otherwise its `Date` would be taken for the
 * present.
 */
function aged(response: ApiResponse, ms: number): ApiResponse {
  const before = Number(headerOf(response.headers, 'age') ?? 0) || 0;
  return { ...response, headers: { ...response.headers, age: String(Math.round(before + ms / 1000)) } };
}

interface Kept {
  readonly at: number;
  readonly response: ApiResponse;
}

const NEWLINE = 0x0a;

/** Reads a cached response: a line of JSON, then the body. An unreadable file counts as absent. */
async function read(file: string, request: ApiRequest): Promise<Kept | undefined> {
  try {
    const bytes = await readFile(file);
    const end = bytes.indexOf(NEWLINE);
    // Written by `write` below, under a name that only it makes; anything else fails the test that follows.
    const head = JSON.parse(bytes.toString('utf8', 0, end)) as {
      at: unknown;
      status: unknown;
      headers: Record<string, string>;
      bytes: unknown;
    };
    const body = bytes.subarray(end + 1);
    if (typeof head.at !== 'number' || typeof head.status !== 'number' || head.bytes !== body.length)
      return undefined;
    return { at: head.at, response: { status: head.status, headers: head.headers, url: request.url, body } };
  } catch {
    return undefined;
  }
}

/** Writes a response under another name first: a reader sees a whole file or none. */
async function write(file: string, folder: string, response: ApiResponse, env: Env): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { status, body } = response;
  const headers = withoutHeader(response.headers, 'set-cookie');
  const head = JSON.stringify({ at: env.now(), status, headers, bytes: body.length });
  const unfinished = `${file}.${Buffer.from(env.randomBytes(6)).toString('hex')}`;
  try {
    await writeFile(unfinished, Buffer.concat([Buffer.from(`${head}\n`), body]), { mode: 0o600 });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
