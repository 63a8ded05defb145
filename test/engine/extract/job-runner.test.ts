import { describe, expect, test } from 'vitest';
import { component, configOf, dataFolder, json, startApi } from '../../cli/support.ts';

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

describe('children without rows', () => {
  test('show no part of a secret, where the placeholders are cut', async () => {
    const secret = 'k3y-of-the-shelves-0123456789';
    const api = await startApi(({ url }, response) =>
      json(response, url.pathname === '/shelves' ? [{ id: 1, long: 'x'.repeat(180) }] : { other: 1 }),
    );
    const child = {
      endpoint: 'books?shelf={id}&of={long}&by={by}',
      dataField: 'rows',
      placeholders: { long: 'long', by: { attr: '#by' }, id: 'id' },
    };
    const folder = dataFolder(
      configOf(api.url, [{ endpoint: 'shelves', children: [child] }], { config: { '#by': secret } }),
    );
    const { stdout } = await component(folder);
    const warning = stdout.split('\n').find((line) => line.includes('"placeholders":"long=xxx')) ?? '';
    expect(warning).toContain('by=***');
    expect(warning).not.toContain(secret.slice(0, 4));
  });

  test('are warned of three times with their placeholders, and counted', async () => {
    const api = await startApi(({ url }, response) =>
      url.pathname === '/shelves'
        ? json(
            response,
            [11, 12, 13, 14, 15].map((id) => ({ id, zone: 'a' })),
          )
        : json(response, url.searchParams.get('shelf') === '12' ? { rows: [{ id: 1 }] } : { other: 1 }),
    );
    const child = {
      endpoint: 'books?shelf={id}',
      dataField: 'rows',
      placeholders: { id: 'id', zone: { function: 'concat', args: ['z', 'y'] } },
    };
    const folder = dataFolder(configOf(api.url, [{ endpoint: 'shelves', children: [child] }]));
    const { stdout } = await component(folder);
    const warnings = stdout.split('\n').filter((line) => line.includes('WARNING') && line.includes('rows'));
    expect(warnings).toHaveLength(4);
    expect(warnings[0]).toContain('"placeholders":"id=11, zone=zy"');
    expect(warnings[1]).toContain('"placeholders":"id=13, zone=zy"');
    expect(warnings[3]).toContain('1 more answer of “books?shelf={id}” had no rows in the same way');
  });
});
