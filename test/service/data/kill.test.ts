// @module-tag thorough
import { expect, test } from 'vitest';
import { killRounds } from './kill-rounds.ts';

// The longer run, with times, is `node bench/kill-service.ts`.
test('a service that is killed while it works loses nothing it has acknowledged, and does nothing twice', async () => {
  const { kills, acknowledged, lost } = await killRounds(3);
  expect(lost).toEqual([]);
  expect(kills).toBe(3);
  expect(acknowledged.versions).toBeGreaterThan(0);
  expect(acknowledged.files).toBeGreaterThan(0);
}, 90_000);
