// The contract of object stores against a store that is not ours: `npm run test:s3`, with its address in
// TEST_S3_ENDPOINT. Arguments go to the test runner.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

if (!process.env.TEST_S3_ENDPOINT) {
  console.error(
    'Name the store: TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY, TEST_S3_SECRET_KEY and TEST_S3_ROLE_ARN.',
  );
  process.exit(1);
}
const args = ['run', 'test/storage/server/objects/external-store.test.ts', '-t', 'a store of others'];
const { status } = spawnSync('vitest', [...args, ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
