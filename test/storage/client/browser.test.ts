import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createBrowserClient } from '../../../src/storage/client/browser.ts';
import { startService } from '../../service/harness.ts';

const ENTRY = fileURLToPath(new URL('../../../src/storage/client/browser.ts', import.meta.url));

test('nothing that a page loads of the client needs more than a browser', () => {
  const files = new Map<string, string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    const code = readFileSync(file, 'utf8').replace(/^\s*(?:\/\*[^]*?\*\/|\/\/.*)$/gm, '');
    files.set(file, code);
    for (const [, from = ''] of code.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from\s+'([^']+)'/gm))
      if (from.startsWith('.')) visit(path.join(path.dirname(file), from));
      else packages.add(from);
  };
  visit(ENTRY);
  expect([...packages]).toEqual([]);
  expect(files.size).toBeGreaterThan(15);
  const wrong = [...files].filter(([, code]) => /\bBuffer\b|\bprocess\.\w|\brequire\(/.test(code));
  expect(wrong.map(([file]) => path.basename(file))).toEqual([]);
});

test(
  'the operations work by the fetch of a page, and say when the session has ended',
  { tags: 'thorough' },
  async () => {
    const service = await startService();
    try {
      const { url } = service.addresses;
      let ended = 0;
      let sent: Record<string, string> = {};
      const clientWith = (token: string) =>
        createBrowserClient({
          base: url,
          onUnauthorized: () => (ended += 1),
          // In the place of the cookie, which is the browser's.
          fetch: async (input, init) => {
            sent = { ...(init?.headers as Record<string, string>) }; // as the client makes them
            return await fetch(input, { ...init, headers: { ...sent, 'X-StorageApi-Token': token } });
          },
        });
      const client = clientWith(service.token);
      await client.buckets.create({ name: 'main', stage: 'in' });
      expect(sent).toMatchObject({
        'X-Console': '1',
        'Idempotency-Key': expect.stringMatching(/^[\w-]{36}$/) as string,
      });
      const table = await client.tables.define('in.c-main', { name: 'users', columns: ['id'] });
      expect(table.id).toBe('in.c-main.users');
      expect((await client.tables.list()).map(({ id }) => id)).toEqual(['in.c-main.users']);
      await expect(client.tables.detail('in.c-main.none')).rejects.toMatchObject({
        code: 'storage.notFound',
      });
      expect(ended).toBe(0);
      await expect(clientWith('1-2-x').tables.list()).rejects.toMatchObject({ code: 'storage.unauthorized' });
      expect(ended).toBe(1);
    } finally {
      await service.stop();
    }
  },
);

test('what is away for a moment is asked for again, and what stays away is told', async () => {
  const contact: boolean[] = [];
  let asked = 0;
  const client = createBrowserClient({
    base: 'http://storage.invalid',
    onContact: (isThere) => contact.push(isThere),
    fetch: async () => {
      asked += 1;
      if (asked === 1) throw new TypeError('Failed to fetch');
      return new Response('[]', { headers: { 'content-type': 'application/json' } });
    },
  });
  expect(await client.tables.list()).toEqual([]);
  expect(contact).toEqual([false, true]);
});
