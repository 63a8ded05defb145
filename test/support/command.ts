import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The file of the command as it is built. */
export const BUILT = path.join(root, 'bin/gex.js');

/**
 * The file to start the command with: as it is built, which starts with half the work, unless the sources have changed
 * since.
 */
export const MAIN = isBuilt() ? BUILT : path.join(root, 'src/cli/main.ts');

function isBuilt(): boolean {
  const built = path.join(root, 'dist/cli/main.js');
  if (!existsSync(built)) return false;
  const { mtimeMs } = statSync(built);
  return readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).every(
    (name) => statSync(path.join(root, 'src', name)).mtimeMs <= mtimeMs,
  );
}
