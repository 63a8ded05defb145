import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Running } from './harness.ts';

let service: Running;
let page: string;
beforeAll(async () => {
  service = await startService();
  page = (await service.call('GET', '/docs')).text;
});
afterAll(() => service.stop());

const BRANCH = '/branch/{branch}';
const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** What the page says of an operation. */
function partOf(id: string): string {
  const start = page.indexOf(`<details id="${id}">`);
  expect(start).toBeGreaterThan(0);
  const end = page.indexOf('<details id=', start + 1);
  return unescaped(page.slice(start, end < 0 ? undefined : end));
}

test('every operation of the document is on the page once, those of branches beside their own', async () => {
  const { body } = await service.call('GET', 'openapi.json');
  const { paths } = body as { paths: Record<string, Record<string, unknown>> };
  const operations = Object.entries(paths)
    .filter(([path]) => !path.includes(BRANCH) || !(path.replace(BRANCH, '') in paths))
    .flatMap(([, methods]) => Object.keys(methods));
  expect(operations.length).toBeGreaterThan(100);
  expect(page.match(/<details id="/g)).toHaveLength(operations.length);
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(partOf('get-v2-storage-files')).toContain('/v2/storage/branch/{branch}/files');
});

test('parameters, bodies and answers are told, with a request to paste', () => {
  const part = partOf('post-v2-storage-files-prepare');
  expect(part).toContain(
    [
      'curl "$STORAGE_URL/v2/storage/files/prepare" \\',
      '  -H "X-StorageApi-Token: $STORAGE_TOKEN" \\',
      '  -d name=users \\',
      '  -d federationToken=true',
    ].join('\n'),
  );
  expect(part).toMatch(/<code>name<\/code> <em>required<\/em>/);
  expect(part).toContain('Asks for temporary credentials.');
  expect(part).toContain('Answer 201');
  expect(part).toContain('"SessionToken"');
  expect(partOf('get-v2-storage-files')).toContain('Files with any of them.');
  expect(partOf('post-upload-file')).toContain('-F data=@users.csv');
  expect(partOf('get-health')).not.toContain('X-StorageApi-Token');
  expect(partOf('delete-v2-storage-tables-table-metadata-metadata')).toContain(
    'curl -X DELETE "$STORAGE_URL/v2/storage/tables/in.c-main.users/metadata/1234"',
  );
  expect(unescaped(page)).not.toMatch(/undefined|\[object/);
});

test('the examples work as they are', async () => {
  const examples = [...page.matchAll(/<pre>(curl [^<]+)<\/pre>/g)].map(([, text]) => unescaped(text ?? ''));
  const create =
    examples.find((text) => text.includes('/configs"') && text.includes('"configuration"')) ?? '';
  const [, json = ''] = /-d '(.+)'/.exec(create) ?? [];
  const made = await service.call('POST', 'components/ex-generic-v2/configs', JSON.parse(json));
  expect(made.status).toBe(201);
  const bucket = examples.find((text) => /\/buckets" [^]*-d name/.test(text)) ?? '';
  const form = new URLSearchParams();
  for (const [, name = '', value = ''] of bucket.matchAll(/-d (\w+)=(\S+)/g)) form.set(name, value);
  expect((await service.call('POST', 'buckets', form)).body).toMatchObject({
    id: 'in.c-users',
  });
});

test('the page loads nothing, and names the address it was asked at', async () => {
  const answer = await service.call('GET', '/docs');
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page).toContain(`STORAGE_URL=${service.addresses.url} `);
  expect(page.replaceAll(service.addresses.url, '')).not.toMatch(/https?:|src=|@import|url\(/);
});
