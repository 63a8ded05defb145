import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** They replace modules, or measure the memory of their process: other files of the same worker would be in the way. */
const ALONE = [
  'test/engine/http/faults.test.ts',
  'test/engine/sink/sink.test.ts',
  'test/service/stores/objects/small-disk.test.ts',
  'test/service/stores/tables/duckdb/full-disk.test.ts',
];
/** In a real browser, over what `npm run build` has made: `npm run test:console` alone runs them. */
const BROWSER = ['test/console/**/*.test.ts'];
/** They start commands and services, kill them, or go through many cases: `npm run test:quick` leaves them out. */
const LONG = [
  'test/cli/{completion,demo-api,doubtful,encrypt,explain,hostile-text,loads,run,run-storage,storage,storage-jobs,wrong-input}.test.ts',
  'test/repository/{compose,demo,docker,docs}.test.ts',
  'test/engine/hostile.test.ts',
  'test/engine/http/send/transport.test.ts',
  'test/engine/http/tunnel/ssh-tunnel.test.ts',
  'test/authoring/importing/dlt/import.test.ts',
  'test/runner/mapping/{input,output}/*.test.ts',
  'test/engine/extract/{budgets,look-ahead}.test.ts',
  'test/runner/{ended-rows,login,logins,stored-configuration,lock,target}.test.ts',
  'test/engine/formats/large.test.ts',
  'test/engine/completeness/lossy.test.ts',
  'test/{service,storage/client}/**/*.test.ts',
];

export default defineConfig({
  test: {
    watch: false,
    globalSetup: ['test/support/databases.setup.ts'],
    setupFiles: ['test/support/file.setup.ts'],
    // Tests start servers and child processes: two at a time keep two cores busy, more than four get in each other's way.
    maxWorkers: Math.min(4, Math.max(2, availableParallelism())),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A second, the default, is less than a busy machine may need.
    expect: { poll: { timeout: 20_000 } },
    // No test may lean on the one before it. The seed is printed, and `--sequence.seed` gives the same order again.
    sequence: { shuffle: { files: false, tests: true } },
    // A process for each file would load everything two hundred times.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...LONG, ...ALONE, ...BROWSER],
        },
      },
      {
        extends: true,
        test: { name: 'long', include: LONG, exclude: [...configDefaults.exclude, ...ALONE] },
      },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
  },
});
