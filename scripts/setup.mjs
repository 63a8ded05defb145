// Installs what is missing. Runs on whatever Node the machine has, before the pinned one is there.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const installed = `${root}/node_modules/.package-lock.json`;
const lock = `${root}/package-lock.json`;
const fresh =
  existsSync(installed) &&
  existsSync(`${root}/node_modules/.bin/node`) &&
  statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
if (!fresh) {
  process.stderr.write('Installing dependencies…\n');
  const npm = spawnSync('npm', ['ci', '--loglevel=error', '--no-progress'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  process.exit(npm.status ?? 1);
}
