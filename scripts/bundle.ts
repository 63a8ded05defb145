// Puts the modules of the command into few files: `dist/cli/main.js` and what it loads when it is needed. Without this
// the command is the same and starts later, as the runtime looks for, reads and links 300 small files.
//
//   node scripts/bundle.ts
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist/cli/chunks`, { recursive: true, force: true });
const bundle = await rolldown({
  input: { main: `${root}src/cli/main.ts` },
  cwd: root,
  platform: 'node',
  external: /^[a-z@]/i, // the runtime's modules and the packages
  preserveEntrySignatures: false,
});
await bundle.write({
  dir: `${root}dist/cli`,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
});
await bundle.close();
