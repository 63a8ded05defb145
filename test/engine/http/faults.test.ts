import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Env } from '../../../src/lib/env.ts';
import { HttpError } from '../../../src/lib/errors.ts';
import { createHttpClient } from '../../../src/engine/http/client.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { Secrets } from '../../../src/lib/secrets.ts';

const ORIGIN = 'http://api.test';
const signal = new AbortController().signal;

const fault = (code: string): Error =>
  Object.assign(new Error(`${code} api.test`), { code, syscall: 'connect' });

/** Faults of the network that no server can be made to give: names that do not resolve, resets before a byte. */
describe('faults of the network', () => {
  let waits: number[];
  const env: Env = {
    now: () => 0,
    randomBytes: (count) => new Uint8Array(count),
    sleep: async (waitMs) => {
      waits.push(waitMs);
    },
  };

  beforeEach(() => {
    waits = [];
    nock.disableNetConnect();
  });
  afterEach(() => {
    nock.cleanAll();
    nock.enableNetConnect();
    nock.restore();
    nock.activate();
  });

  const ask = async (maxRetries = 2): Promise<number> => {
    const client = createHttpClient({ env, log: silentLog, secrets: new Secrets(), retry: { maxRetries } });
    try {
      return (await client.send({ method: 'GET', url: `${ORIGIN}/items`, headers: {} }, { signal })).status;
    } finally {
      await client.close();
    }
  };

  test.each(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH'])(
    '%s passes: the request is sent again after a pause',
    async (code) => {
      nock(ORIGIN).get('/items').replyWithError(fault(code)).get('/items').reply(200, []);
      expect(await ask()).toBe(200);
      expect(waits).toEqual([1000]);
    },
  );

  test('a fault that stays ends in an error that names the host and can be told from others', async () => {
    nock(ORIGIN).get('/items').times(3).replyWithError(fault('ENOTFOUND'));
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HttpError);
    expect((error as HttpError).code).toBe('http.network');
    expect((error as HttpError).message).toContain('api.test');
    expect(waits).toEqual([1000, 2000]);
  });

  test('a certificate that is not trusted is not tried again', async () => {
    nock(ORIGIN).get('/items').replyWithError(fault('SELF_SIGNED_CERT_IN_CHAIN'));
    const error = await ask().catch((thrown: unknown) => thrown);
    expect((error as HttpError).code).toBe('http.tls');
    expect(waits).toEqual([]);
  });
});
