import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../src/lib/env.ts';
import { ExtractorError } from '../../src/lib/errors.ts';
import { run, sendJson, startApi } from './hostile/run.ts';

const byToken = { pagination: { method: 'response.param', responseParam: 'next', queryParam: 'after' } };
const byPage = { pagination: { method: 'pagenum' } };

function codeOf(error: unknown): string | undefined {
  return error instanceof ExtractorError ? error.code : undefined;
}

describe('an API that never ends its pages', () => {
  test('a stuck cursor with the same body: the page is not written twice', async () => {
    const api = await startApi((response) => sendJson(response, { rows: [{ id: 1 }], next: 'x' }));
    const { error, tables } = await run(api.url, byToken);
    expect(error).toBeUndefined();
    expect(tables).toEqual({ rows: ['"1"'] });
    expect(api.asked).toHaveLength(2);
  });

  test('a stuck cursor whose body has a clock in it: its rows give it away', async () => {
    const api = await startApi((response, { count }) =>
      sendJson(response, { rows: [{ id: count > 1 ? 2 : 1 }], next: 'x', now: count }),
    );
    const { error, tables, log } = await run(api.url, byToken);
    expect(error).toBeUndefined();
    expect(tables).toEqual({ rows: ['"1"', '"2"'] });
    expect(api.asked).toHaveLength(3);
    expect(log.join('\n')).toContain('a repeated request brought the rows of page 2 again');
  });

  test('a circle of tokens, A B A: an error that names both pages, and no table', async () => {
    const next: Record<string, string> = { '': 'a', a: 'b', b: 'a' };
    const api = await startApi((response, { params, count }) => {
      const token = params.get('after') ?? '';
      sendJson(response, { rows: [{ id: `row of ${token}` }], next: next[token], now: count });
    });
    const { error, tables } = await run(api.url, byToken);
    expect(codeOf(error)).toBe('pagination.loop');
    expect(String(error)).toContain('page 4 repeats the request of page 2');
    expect(tables).toEqual({});
    expect(api.asked).toHaveLength(4);
  });

  test('a circle that is longer than the pages that are compared one by one is found too', async () => {
    const length = 130;
    const api = await startApi((response, { params, count }) => {
      const at = Number(params.get('after') ?? 0);
      sendJson(response, { rows: [{ id: at }], next: (at % length) + 1, now: count });
    });
    const { error, log } = await run(api.url, byToken);
    expect(codeOf(error)).toBe('pagination.loop');
    // the circle begins anew behind its last page, and so many pages with nothing new are enough
    expect(api.asked).toHaveLength(length + 27);
    // nor was one more page asked for, and its answer not waited for
    expect(log.filter((line) => line.startsWith('GET '))).toHaveLength(length + 27);
  });

  test('every page is the first one: a warning, and the page budget ends it', async () => {
    const api = await startApi((response, { count }) =>
      sendJson(response, { rows: [{ id: 1 }], now: count }),
    );
    const { error, tables, log } = await run(api.url, { pagination: { method: 'pagenum', maxPages: 20 } });
    expect(codeOf(error)).toBe('pagination.budget');
    expect(tables).toEqual({});
    expect(api.asked).toHaveLength(21);
    expect(log.filter((line) => line.includes('brings the same rows as page 1'))).toHaveLength(1);
  });

  test('a server-side scroll that asks the same again and again ends with its first empty page', async () => {
    const api = await startApi((response, { count }) =>
      sendJson(response, { rows: count < 5 ? [{ id: count }] : [], next: 'scroll', took: count }),
    );
    const { error, tables } = await run(api.url, byToken);
    expect(error).toBeUndefined();
    expect(tables).toEqual({ rows: ['"1"', '"2"', '"3"', '"4"'] });
    expect(api.asked).toHaveLength(5);
  });
});

describe('an API that ends its pages too early', () => {
  test('an empty page in the middle ends no pagination by tokens', async () => {
    const api = await startApi((response, { count }) =>
      sendJson(response, {
        rows: count === 2 ? [] : [{ id: count }],
        ...(count < 4 ? { next: `t${count}` } : {}),
      }),
    );
    const { error, tables } = await run(api.url, byToken);
    expect(error).toBeUndefined();
    expect(tables).toEqual({ rows: ['"1"', '"3"', '"4"'] });
  });

  test('a page size that the server caps: the log says why it ended; without a limit all pages come', async () => {
    const all = Array.from({ length: 25 }, (_, id) => ({ id }));
    const api = await startApi((response, { params }) => {
      const from = Number(params.get('offset') ?? (Number(params.get('page')) - 1) * 10);
      sendJson(response, all.slice(from, from + 10));
    });
    const capped = await run(api.url, { pagination: { method: 'offset', limit: 100 } });
    expect(capped.tables['rows']).toHaveLength(10);
    expect(capped.log.join('\n')).toContain('fewer rows (10) than the page size (100)');
    expect((await run(api.url, byPage)).tables['rows']).toHaveLength(25);
    expect(api.asked).toHaveLength(1 + 4);
  });

  test('200 with an empty body: no rows, and the end', async () => {
    const api = await startApi((response) => response.end());
    const { error, tables } = await run(api.url, byPage);
    expect([error, tables]).toEqual([undefined, {}]);
    expect(api.asked).toHaveLength(1);
  });
});

describe('an API that leads elsewhere', () => {
  const bearer = { authentication: { type: 'bearer', '#token': 'for-home-only' } };

  test('a next link to another host is followed without the credentials', async () => {
    const thief = await startApi((response) => sendJson(response, { rows: [{ id: 2 }] }));
    const home = await startApi((response) =>
      sendJson(response, { rows: [{ id: 1 }], next_page: `${thief.url}rows?page=2` }),
    );
    const { tables, log } = await run(home.url, { ...bearer, pagination: { method: 'response.url' } });
    expect(tables).toEqual({ rows: ['"1"', '"2"'] });
    expect(home.asked[0]?.headers.authorization).toBe('Bearer for-home-only');
    expect(JSON.stringify(thief.asked.map(({ headers, target }) => [headers, target]))).not.toContain(
      'for-home-only',
    );
    expect(log.join('\n')).toContain('trustedHosts');
  });

  test('a redirect to another host takes no credentials along', async () => {
    const thief = await startApi((response) => sendJson(response, [{ id: 1 }]));
    const home = await startApi((response) =>
      response.writeHead(302, { Location: `${thief.url}rows` }).end(),
    );
    const { tables } = await run(home.url, bearer);
    expect(tables).toEqual({ rows: ['"1"'] });
    expect(JSON.stringify(thief.asked.map(({ headers }) => headers))).not.toContain('for-home-only');
  });

  test('redirects in a circle end after five hops', async () => {
    const api = await startApi((response, { count }) =>
      response.writeHead(302, { Location: count % 2 === 0 ? '/rows' : '/other' }).end(),
    );
    const { error } = await run(api.url, {});
    expect(codeOf(error)).toBe('http.network');
    expect(String(error)).toContain('redirects more than 5 times');
    expect(api.asked).toHaveLength(6);
  });
});

describe('an API whose answers are broken', () => {
  test.each([
    ['Content-Length', (length: number) => ({ 'Content-Length': String(length + 100) })],
    ['chunks', () => ({ 'Transfer-Encoding': 'chunked' })],
  ])('a body cut short (%s) is tried again, and is an error in the end', async (_, headers) => {
    const text = JSON.stringify([{ id: 1 }, { id: 2 }]);
    const api = await startApi((response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', ...headers(text.length) });
      response.write(text, () => response.destroy());
    });
    const { error, tables } = await run(api.url, { retryConfig: { maxRetries: 2 } });
    expect(codeOf(error)).toBe('http.network');
    expect(tables).toEqual({});
    expect(api.asked).toHaveLength(3);
  });

  test('a body cut once comes whole the second time, and its rows once', async () => {
    const text = JSON.stringify([{ id: 1 }]);
    const api = await startApi((response, { count }) => {
      response.writeHead(200, { 'Content-Length': String(text.length) });
      if (count > 1) response.end(text);
      else response.write(text.slice(0, 5), () => response.destroy());
    });
    const { error, tables } = await run(api.url, {});
    expect([error, tables]).toEqual([undefined, { rows: ['"1"'] }]);
  });

  test('HTML with status 200: an error that says so, at once', async () => {
    const api = await startApi((response) => response.end('<!doctype html><h1>Please sign in</h1>'));
    const { error, tables } = await run(api.url, byPage);
    expect(codeOf(error)).toBe('response.notJson');
    expect(String(error)).toContain('Please sign in');
    expect(tables).toEqual({});
    expect(api.asked).toHaveLength(1);
  });

  test('HTML in place of the second page: the first is not published', async () => {
    const api = await startApi((response, { count }) =>
      count === 1 ? sendJson(response, [{ id: 1 }]) : response.end('<html>'),
    );
    const { error, tables } = await run(api.url, byPage);
    expect(codeOf(error)).toBe('response.notJson');
    expect(tables).toEqual({});
  });
});

describe('an API that is slow or refuses', () => {
  test('a trickle of bytes is ended by the time for one request', async () => {
    const api = await startApi((response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('[');
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
    });
    // Without that time it would never end.
    const { error } = await run(api.url, { http: { requestTimeout: 0.4 }, retryConfig: { maxRetries: 1 } });
    expect(codeOf(error)).toBe('http.network');
    expect(api.asked).toHaveLength(2);
  });

  test('429 for ever: as many attempts as allowed, then the status', async () => {
    const api = await startApi((response) => {
      response.writeHead(429, { 'Retry-After': '1' });
      response.end('{"error":"slow down"}');
    });
    const { error } = await run(api.url, { retryConfig: { maxRetries: 4 } });
    expect(codeOf(error)).toBe('http.status');
    expect(String(error)).toContain('429');
    expect(api.asked).toHaveLength(5);
  });

  test('a gigantic Retry-After is no reason to ask at once, and ends the run with what was asked for', async () => {
    const api = await startApi((response) => {
      response.writeHead(503, { 'Retry-After': '999999999' });
      response.end();
    });
    const { error } = await run(api.url, {}, { env: systemEnv });
    expect(String(error)).toContain('asks to wait 999999999 seconds (Retry-After), which is longer than 900');
    expect(api.asked).toHaveLength(1);
  });

  test('a long Retry-After that is not too long is said, and can be interrupted', async () => {
    const api = await startApi((response) => {
      response.writeHead(503, { 'Retry-After': '800' });
      response.end();
    });
    const controller = new AbortController();
    const sleep: Env['sleep'] = async (waitMs, signal) => {
      queueMicrotask(() => controller.abort(new Error('interrupted')));
      await systemEnv.sleep(waitMs, signal);
    };
    const { error, log } = await run(
      api.url,
      {},
      { env: { ...systemEnv, sleep }, signal: controller.signal },
    );
    expect(String(error)).toContain('interrupted');
    expect(log.join('\n')).toContain('800 seconds');
    expect(api.asked).toHaveLength(1);
  });
});

const row = (id: number): string =>
  JSON.stringify({ id, text: 'x'.repeat(150), tags: ['old', 'rare'], box: { a: id, b: null } });

test(
  'one page of 60 MB takes less than 250 MB of memory, and is never held twice',
  { tags: 'thorough' },
  async () => {
    const api = await startApi(
      (response, { target }) => void sendRows(response, Number(target.split('/')[1])),
    );
    const [small, large] = [await peakOf(`${api.url}10/`, 10_000), await peakOf(`${api.url}280/`, 280_000)];
    const pageBytes = 270_000 * row(1).length;
    expect(pageBytes).toBeGreaterThan(55_000_000);
    expect(large).toBeLessThan(250 * 2 ** 20);
    // once as it came, and room for it to grow, for the objects of some rows, and for what waits to be collected
    expect(large - small).toBeLessThan(1.75 * pageBytes);
  },
);

/** So many thousand rows, by and by, with no word of how large it will be. */
async function sendRows(response: ServerResponse, thousands: number): Promise<void> {
  const thousand = Array.from({ length: 1000 }, (_, id) => row(id)).join(',');
  response.setHeader('Content-Type', 'application/json');
  for (let sent = 0; sent < thousands; sent++) {
    if (!response.write((sent === 0 ? '{"rows":[' : ',') + thousand)) await once(response, 'drain');
  }
  response.end(']}');
}

/** The peak of memory of a process that runs one page. */
async function peakOf(baseUrl: string, count: number): Promise<number> {
  const script = path.join(import.meta.dirname, 'hostile', 'large-page.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, baseUrl]);
  const { rows, peakBytes } = JSON.parse(stdout) as { rows: number; peakBytes: number }; // as the script writes it
  expect(rows).toBe(count * 3);
  return peakBytes;
}
