import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  createService,
  type Addresses,
  type Service,
  type ServiceOptions,
} from '../../src/service/start/service.ts';
import { forgetDatabase, placeOf } from './database.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. */
  readonly body: unknown;
}

export interface Running {
  readonly service: Service;
  readonly addresses: Addresses;
  readonly dir: string;
  readonly token: string;
  /** One request with the master token, unless other headers say otherwise; a body that isn't text goes as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  stop(): Promise<void>;
}

/** A service over a folder of its own, really listening. */
export async function startService(options: Partial<ServiceOptions> = {}): Promise<Running> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'service-')));
  const service = createService({ ...tablesOf(), ...(await placeOf(dir)), ...options, dir });
  const addresses = await service.start();
  const token = addresses.masterToken ?? (await service.newToken());
  return {
    service,
    addresses,
    dir,
    token,
    call: async (method, path, body, headers = {}) =>
      await request(addresses.url, token, method, path, body, headers),
    stop: async () => {
      await service.stop();
      await rm(dir, { recursive: true, force: true });
      await forgetDatabase(dir);
    },
  };
}

/** Puts the tables of all services into a lake with TEST_TABLES=lake: any test of the API is one of it, then. */
function tablesOf(): Partial<ServiceOptions> {
  const { TEST_TABLES, GEX_DUCKDB_EXTENSIONS } = process.env;
  if (TEST_TABLES !== 'lake') return {};
  return {
    tables: 'lake',
    ...(GEX_DUCKDB_EXTENSIONS === undefined ? {} : { duckdbExtensions: GEX_DUCKDB_EXTENSIONS }),
  };
}

/** One request to a service. */
export async function request(
  url: string,
  token: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const isText = typeof body === 'string' || body instanceof FormData || body instanceof URLSearchParams;
  const address = path.startsWith('/') ? path : `/v2/storage/${path}`;
  const response = await fetch(url + address, {
    method,
    headers: {
      ...('x-storageapi-token' in headers ? {} : { 'X-StorageApi-Token': token }),
      ...(body === undefined || isText ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

export const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

// Vitest types its matchers as `any`.
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
export const containing = (text: string): unknown => expect.stringContaining(text);
export const anyText: unknown = expect.any(String);
export const anyNumber: unknown = expect.any(Number);
