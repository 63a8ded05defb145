// Puts the modules of the command into few files: `dist/cli/main.js` and what it loads when it is needed. Without this
// the command is the same and starts later, as the runtime looks for, reads and links 300 small files.
//
//   node scripts/bundle.ts
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The modules that every run loads by `import()` beside those of the command itself. */
const RUN = [
  'cli/progress.ts',
  'cli/run-result.ts',
  'engine/config/index.ts',
  'engine/config/schema.ts',
  'engine/config/unknown-keys.ts',
  'engine/extract/extract.ts',
  'engine/sink/atomic.ts',
  'lib/encryption/scope.ts',
  'lib/logging/json.ts',
  'runner/decrypt.ts',
  'runner/doubt.ts',
  'runner/row-recording.ts',
  'runner/run.ts',
  'service/open/index.ts',
];
rmSync(`${root}dist/cli/chunks`, { recursive: true, force: true });
let command: ReadonlySet<string> = new Set();
let run: ReadonlySet<string> = new Set();
const bundle = await rolldown({
  input: { main: `${root}src/cli/main.ts` },
  cwd: root,
  platform: 'node',
  // the runtime's modules, and the packages but those of every run
  external: /^(?!(csv-stringify|lodash\.merge)(\/|$))[a-z@]/i,
  preserveEntrySignatures: false,
  plugins: [
    {
      name: 'groups',
      buildEnd() {
        const imports = (id: string): readonly string[] => this.getModuleInfo(id)?.importedIds ?? [];
        command = closure(imports(`${root}src/cli/main.ts`), imports);
        run = closure(
          RUN.map((file) => `${root}src/${file}`),
          imports,
        );
      },
    },
    {
      name: 'code',
      generateBundle(_, files) {
        for (const file of Object.values(files))
          if (file.type === 'chunk') file.code = ascii(withoutExports(file.code));
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
  codeSplitting: {
    groups: [
      { debugName: 'start', name: (id) => (command.has(id) ? 'command' : run.has(id) ? 'run' : null) },
    ],
  },
});
await bundle.close();

/** Takes the runtime's modules without `import`, which loads all that they would export: `crypto` its WebCrypto, too. */
function withoutExports(code: string): string {
  return code.replaceAll(
    /^import (\w+)?(?:, )?(?:\{ (.+) \})? from "(node:[\w/]+)";$/gm,
    (_, whole: string | undefined, names: string | undefined, from: string) => {
      const module = `process.getBuiltinModule("${from}")`;
      const parts = [whole, names && `{ ${names.replaceAll(' as ', ': ')} }`].filter(
        (part) => part !== undefined,
      );
      return `const ${parts.map((part) => `${part} = ${module}`).join(', ')};`;
    },
  );
}

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

/** Returns the modules that are loaded with some, each of which `imports` without `import()`. */
function closure(ids: readonly string[], imports: (id: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set(ids);
  for (const id of found) for (const imported of imports(id)) found.add(imported);
  return found;
}
