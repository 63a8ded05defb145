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
  plugins: [
    {
      name: 'ascii',
      generateBundle(_, files) {
        for (const file of Object.values(files)) if (file.type === 'chunk') file.code = ascii(file.code);
      },
    },
  ],
});
await bundle.write({
  dir: `${root}dist/cli`,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  comments: false,
});
await bundle.close();

/**
 * Writes every character beyond ASCII as an escape. The runtime keeps the source of what it loads, and with a single
 * quotation mark of a message in it each of its characters takes two bytes.
 *
 * @throws {Error} where an escape would mean something else
 */
function ascii(code: string): string {
  const raw = /String\.raw`[^`]*[^\0-\x7F]/.exec(code)?.[0];
  if (raw !== undefined) throw new Error(`Write this without String.raw: ${raw}`);
  return code.replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
