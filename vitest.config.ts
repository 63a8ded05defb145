import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    watch: false,
    // Tests start servers and child processes: two at a time keep two cores busy, more than four get in each other's way.
    maxWorkers: Math.min(4, Math.max(2, availableParallelism())),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // No test may lean on the one before it. The seed is printed, and `--sequence.seed` gives the same order again.
    sequence: { shuffle: { files: false, tests: true } },
  },
});
