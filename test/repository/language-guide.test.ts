import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const guide = readFileSync(new URL('../../docs/language/README.md', import.meta.url), 'utf8');

test('every example that the overview of the language names is there', () => {
  const named = [...guide.matchAll(/`(\d{3}-[a-z0-9-]+)`/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(50);
  const missing = named.filter(
    (name) => !existsSync(new URL(`../../fixtures/${name}/config.json`, import.meta.url)),
  );
  expect(missing).toEqual([]);
});
