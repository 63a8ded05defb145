// The tests of the service with its metadata in PostgreSQL: `npm run test:postgres`. TEST_DATABASE_URL names a server
// where databases may be made and dropped; without it, one of the programs that are installed is started, and stopped
// at the end. Arguments go to the test runner: files, or a part of their names.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const script = join(root, 'scripts/postgres.sh');
// Opening a storage by its folder has no database to be over.
const FILES = [
  ...readdirSync(join(root, 'test/service'))
    .filter((name) => name.endsWith('.test.ts') || (name !== 'open' && !name.includes('.')))
    .map((name) => `test/service/${name}`),
  'test/storage/client',
];

process.exitCode = process.env.TEST_DATABASE_URL ? test(process.env.TEST_DATABASE_URL) : await testOverOwn();

async function testOverOwn() {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  const started = run(script, ['start', folder, String(await freePort())], 'pipe');
  if (started.status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    console.error(String(started.stderr));
    console.error('Name a server of PostgreSQL 15 or newer in TEST_DATABASE_URL, or install one.');
    return 1;
  }
  try {
    return test(String(started.stdout).trim());
  } finally {
    run(script, ['stop', folder, 'immediate'], 'inherit');
    rmSync(folder, { recursive: true, force: true });
  }
}

function test(url) {
  const given = process.argv.slice(2);
  const isNamed = given.some((argument) => !argument.startsWith('-'));
  process.env.TEST_DATABASE_URL = url;
  return run('vitest', ['run', ...(isNamed ? [] : FILES), ...given], 'inherit').status ?? 1;
}

function run(program, args, stdio) {
  return spawnSync(program, args, { cwd: root, stdio });
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
