// @module-tag thorough
// The longer run is `node bench/rough-pushes.ts`.
import { expect, test } from 'vitest';
import { roughPushes } from './rough-pushes.ts';

test.each([
  ['a service that knows keys', { withKeys: true, withRestore: false, seed: 7 }],
  ['a service that knows none', { withKeys: false, withRestore: false, seed: 8 }],
  ['a service that is restored in the middle', { withKeys: true, withRestore: true, seed: 9 }],
])('pushes through a rough network lose and double nothing: %s', { timeout: 120_000 }, async (_, how) => {
  const { lost, doubled, foreign } = await roughPushes({ pushes: 6, ...how });
  expect({ lost, doubled, foreign }).toEqual({ lost: [], doubled: [], foreign: [] });
});
