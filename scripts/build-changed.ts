// Builds what the tests start and serve, unless nothing has changed since it was built: `npm run build` without a check of
// the types, which takes most of its time, and side by side.
//
//   node scripts/build-changed.ts
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const root = path.join(import.meta.dirname, '..');
const SOURCES = ['src', 'console', 'scripts', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
/** Files that the last steps of a build write. */
const RESULTS = ['dist/cli/main.js', 'dist/console/index.html'];

if (!isBuilt()) {
  const ended = await Promise.all([
    run('tsc', '-p', 'tsconfig.build.json', '--noCheck').then(
      async (isDone) => isDone && (await run('node', 'scripts/bundle.ts')),
    ),
    run('vite', 'build', '--config', 'console/vite.config.ts', '--logLevel', 'error'),
  ]);
  if (ended.includes(false)) process.exitCode = 1;
}

function isBuilt(): boolean {
  const results = RESULTS.map((name) => path.join(root, name));
  if (!results.every((file) => existsSync(file))) return false;
  const built = Math.min(...results.map((file) => statSync(file).mtimeMs));
  return SOURCES.flatMap(filesOf).every((file) => statSync(file).mtimeMs <= built);
}

/** A file, or a folder and all that is in it: the time of a folder tells of files that are gone. */
function filesOf(name: string): string[] {
  const from = path.join(root, name);
  if (statSync(from).isFile()) return [from];
  return [
    from,
    ...readdirSync(from, { recursive: true, encoding: 'utf8' }).map((inner) => path.join(from, inner)),
  ];
}

async function run(program: string, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}
