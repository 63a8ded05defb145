import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { AUTH_TYPES } from '../../src/engine/http/auth/index.ts';
import { PAGINATION_METHODS } from '../../src/engine/pagination/index.ts';
import { none } from '../../src/engine/pagination/none.ts';
import { runFixtures } from '../../src/authoring/testing/index.ts';

const FOLDER = path.join(import.meta.dirname, '..', '..', 'fixtures');
const NAMES = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe('fixtures', () => {
  test.each(NAMES)('%s', async (name) => {
    const { results } = await runFixtures(path.join(FOLDER, name));
    expect(results.flatMap(({ problems }) => problems).join('\n')).toBe('');
  });

  test('have numbers of their own', () => {
    const numbers = NAMES.map((name) => name.slice(0, 3));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.every((number) => /^\d{3}$/.test(number))).toBe(true);
  });
});

const CONFIGS = NAMES.map((name) => readFileSync(path.join(FOLDER, name, 'config.json'), 'utf8')).join('\n');

test.each(PAGINATION_METHODS.map(({ method }) => method).filter((method) => method !== none.method))(
  'the pagination method “%s” has a fixture',
  (method) => {
    expect(CONFIGS).toContain(`"method": "${method}"`);
  },
);

test.each(AUTH_TYPES.map(({ type }) => type))('the authentication type “%s” has a fixture', (type) => {
  expect(CONFIGS).toContain(`"type": "${type}"`);
});
