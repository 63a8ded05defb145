import { defineConfig } from 'vitest/config';

/** The console in a real browser, over what `npm run build` has made. */
export default defineConfig({
  test: {
    watch: false,
    globalSetup: ['test/support/databases.setup.ts'],
    setupFiles: ['test/support/file.setup.ts'],
    include: ['test/console/**/*.test.ts'],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 40_000 } },
  },
});
