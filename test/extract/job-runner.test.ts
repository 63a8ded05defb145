import { describe, expect, test } from 'vitest';
import { component, configOf, dataFolder, json, startApi } from '../cli/support.ts';

describe('children whose requests run at the same time', () => {
  test('are given up when one fails, in the middle of their retries', async () => {
    const asked: string[] = [];
    const { promise: isRefused, resolve: refused } = Promise.withResolvers<void>();
    const api = await startApi(({ url }, response) => {
      asked.push(url.pathname);
      if (url.pathname === '/shelves') return json(response, [{ id: 1 }, { id: 2 }]);
      if (url.pathname === '/shelves/1') {
        return void isRefused.then(() => setTimeout(() => response.writeHead(404).end('none'), 100));
      }
      return response.writeHead(503, { 'Retry-After': '600' }).end(refused);
    });
    const children = [{ endpoint: 'shelves/{id}', placeholders: { id: 'id' } }];
    const folder = dataFolder(
      configOf(api, [{ endpoint: 'shelves', children }], {
        api: { http: { concurrency: 2 }, retryConfig: { maxRetries: 3 } },
      }),
    );
    const { code, stderr } = await component(folder);
    expect({ code, asked: asked.toSorted() }).toEqual({
      code: 1,
      asked: ['/shelves', '/shelves/1', '/shelves/2'],
    });
    expect(stderr).toContain('The API answered 404 Not Found');
  });
});
