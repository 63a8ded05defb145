import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeDoubt, type JobReport } from '../../src/engine/completeness/index.ts';
import { AUTH_TYPES } from '../../src/engine/http/auth/index.ts';
import { PAGINATION_METHODS } from '../../src/engine/pagination/index.ts';
import { none } from '../../src/engine/pagination/none.ts';
import { runFixtures } from '../../src/authoring/testing/index.ts';

const FOLDER = path.join(import.meta.dirname, '..', '..', 'fixtures');
const NAMES = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const runs = new Map<string, ReturnType<typeof runFixtures>>();

/** Runs a fixture, once for all tests of this file. */
async function ran(name: string) {
  const run = runs.get(name) ?? runFixtures(path.join(FOLDER, name));
  runs.set(name, run);
  return (await run).results;
}

/** Fixtures that show a doubt say so. */
function showsDoubt(name: string): boolean {
  const file = path.join(FOLDER, name, 'expected', 'verdicts');
  return existsSync(file) && readFileSync(file, 'utf8').includes(': doubtful');
}

describe('fixtures', () => {
  test.each(NAMES)('%s', async (name) => {
    const results = await ran(name);
    expect(results.flatMap(({ problems }) => problems).join('\n')).toBe('');
  });

  test('are not doubtful, but for those that show a doubt', { timeout: 120_000 }, async () => {
    const jobs: JobReport[] = [];
    for (const name of NAMES) {
      const reports = (await ran(name)).flatMap((result) => result.jobs);
      jobs.push(...reports);
      if (showsDoubt(name)) continue;
      const doubtful = reports.filter(({ verdict }) => verdict === 'doubtful');
      expect(doubtful.map(describeDoubt), name).toEqual([]);
    }
    expect(jobs.filter(({ verdict }) => verdict === 'complete').length).toBeGreaterThan(10);
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
