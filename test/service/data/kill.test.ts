// @module-tag thorough
import { expect, test } from 'vitest';
import { EXTENSIONS } from '../stores/tables/lake/support.ts';
import { killRounds } from './kill-rounds.ts';

// The longer run, with times, is `node bench/kill-service.ts`.
test('a service that is killed while it works loses nothing it has acknowledged, and does nothing twice', async () => {
  await expectNothingLost();
});

test.runIf(EXTENSIONS)(
  'so does a service over a lake',
  async () => {
    await expectNothingLost(['--tables', 'lake']);
  },
  180_000,
);

async function expectNothingLost(args: readonly string[] = []): Promise<void> {
  const { kills, acknowledged, lost } = await killRounds(3, { args });
  expect(lost).toEqual([]);
  expect(kills).toBe(3);
  expect(acknowledged.versions).toBeGreaterThan(0);
  expect(acknowledged.files).toBeGreaterThan(0);
}
