// The contracts of object stores and of the storage client against a store that is not ours: `npm run test:s3`, with its
// address in TEST_S3_ENDPOINT. Arguments go to the test runner.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

if (!process.env.TEST_S3_ENDPOINT) {
  console.error(
    'Name the store: TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY, TEST_S3_SECRET_KEY and TEST_S3_ROLE_ARN.',
  );
  process.exit(1);
}
const files = [
  'test/service/stores/objects/external-store.test.ts',
  'test/storage/client/external-s3.test.ts',
  // Processes over it: those over a database too where TEST_DATABASE_URL names one.
  'test/service/one-bucket.test.ts',
  'test/service/clocks.test.ts',
  'test/service/recovery.test.ts',
  // A lake, as far as GEX_DUCKDB_EXTENSIONS names its extensions.
  'test/service/stores/tables/lake/shared.test.ts',
];
// One after the other: in the bucket that two of them share, one drops all uploads that were not completed.
const args = ['run', ...files, '--no-file-parallelism', '-t', 'store of others'];
const { status } = spawnSync('vitest', [...args, ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
