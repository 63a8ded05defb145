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
/** Components of the console, in the document of a library. */
const COMPONENTS = ['test/console/components/*.test.tsx'];
/** They start commands and services, kill them, or go through many cases: `npm run test:quick` leaves them out. */
const LONG = [
  'test/cli/{completion,container,demo-api,doubtful,encrypt,explain,hostile-text,loads,run,run-storage,storage,storage-jobs,ui,wrong-input}.test.ts',
  'test/repository/{compose,demo,docker,docs,package}.test.ts',
  'test/engine/hostile.test.ts',
  'test/engine/http/send/transport.test.ts',
  'test/engine/http/tunnel/ssh-tunnel.test.ts',
  'test/authoring/importing/dlt/import.test.ts',
  'test/authoring/init/{corpus/corpus,hostile,styles}.test.ts',
  'test/runner/mapping/{input,output}/*.test.ts',
  'test/engine/extract/{budgets,look-ahead}.test.ts',
  'test/runner/{ended-rows,library-log,login,logins,stored-configuration,lock,target}.test.ts',
  'test/engine/formats/large.test.ts',
  'test/engine/completeness/lossy.test.ts',
  'test/{service,storage/client}/**/*.test.ts',
];
/** A sample over PostgreSQL: tables, metadata, queue. `npm run test:postgres` runs all that can be over it. */
const POSTGRES = [
  'test/service/stores/objects/database-store.test.ts',
  'test/service/stores/tables/postgres/{engine,few}.test.ts',
  'test/service/configurations.test.ts',
  'test/service/stores/queue/shared.test.ts',
];

const { CI, TEST_ALL, TEST_DATABASE_URL } = process.env;
/**
 * True where nothing is left out: in CI, with `TEST_ALL=1`, and where files or tests are named. Elsewhere, and with
 * `TEST_ALL=0`, tests with the tag `thorough` are left out, and `sample` draws a few of many cases.
 */
const IS_ALL =
  TEST_ALL === undefined
    ? Boolean(CI) || process.argv.slice(2).some((argument) => !argument.startsWith('-') && argument !== 'run')
    : TEST_ALL !== '0';
const TAGS = {
  tags: [{ name: 'thorough', description: 'Takes a second or more, beside shorter tests of the same part.' }],
  ...(IS_ALL ? {} : { tagsFilter: ['!thorough'] }),
};

export default defineConfig({
  test: {
    watch: false,
    env: { TEST_ALL: IS_ALL ? '1' : '0' },
    globalSetup: ['test/support/databases.setup.ts', 'test/support/seed.setup.ts'],
    setupFiles: ['test/support/file.setup.ts'],
    // Tests start servers and child processes: two at a time keep two cores busy, more than four get in each other's way.
    maxWorkers: Math.min(4, Math.max(2, availableParallelism())),
    // For what hangs: where everything takes eight times as long, a test of many steps needs more than a minute.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A second, the default, is less than a busy machine may need.
    expect: { poll: { timeout: 40_000 } },
    // No test may lean on the one before it. The seed is printed, and `--sequence.seed` gives the same order again.
    sequence: { shuffle: { files: false, tests: true } },
    // A process for each file would load everything two hundred times.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          ...TAGS,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...LONG, ...ALONE, ...BROWSER],
        },
      },
      {
        extends: true,
        test: { ...TAGS, name: 'long', include: LONG, exclude: [...configDefaults.exclude, ...ALONE] },
      },
      { extends: true, test: { ...TAGS, name: 'alone', include: ALONE, isolate: true } },
      {
        extends: true,
        oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
        test: {
          ...TAGS,
          name: 'components',
          include: COMPONENTS,
          environment: 'happy-dom',
          setupFiles: ['test/console/components/components.setup.ts'],
        },
      },
      // In CI all tests are run over a server, as they are where one is named.
      ...(CI || TEST_DATABASE_URL
        ? []
        : [
            {
              extends: true as const,
              test: {
                ...TAGS,
                name: 'postgres',
                include: POSTGRES,
                globalSetup: ['test/support/postgres.setup.ts'],
              },
            },
          ]),
    ],
  },
});
