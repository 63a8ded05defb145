import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Reply, type Running } from './harness.ts';

interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, object>>;
}

let service: Running;
let page: Reply;
let whole: Document;
let shown: Document;
beforeAll(async () => {
  service = await startService();
  page = await service.call('GET', '/docs');
  whole = (await service.call('GET', 'openapi.json')).body as Document;
  const [, text = ''] = /<script type="application\/json"[^>]*>([^<]*)</.exec(page.text) ?? [];
  shown = JSON.parse(text) as Document;
});
afterAll(() => service.stop());

test('every operation of the document is on the page once, those of branches with their own', () => {
  const [inBranches, own] = [whole, shown].map(({ paths }) => Object.keys(paths));
  const plain = new Set(inBranches?.map((path) => path.replace('/branch/{branch}', '')));
  const isIn = (path: string): boolean => own?.includes(path) === true;
  expect(plain.size).toBeGreaterThan(100);
  for (const path of plain)
    expect([isIn(path), isIn(path.replace('/v2/storage', '/v2/storage/branch/{branch}'))]).toContain(true);
  expect(own).toHaveLength(plain.size);
  expect(shown.info).toEqual(whole.info);
  expect(shown.info.description).toContain('/v2/storage/branch/<branch>');
});

test('the page loads nothing but its own files', () => {
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect([...page.text.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, address]) => address)).toEqual([
    'docs/swagger-ui.css',
    'v2/storage/openapi.json',
    'docs/swagger-ui.js',
  ]);
});
