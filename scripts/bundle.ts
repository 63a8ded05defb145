// Writes the program into few files: the entries, and `dist/chunks` for what they share and load when it is needed, with the
// packages in them. The runtime takes a third of a millisecond to find, read and link each small file, and a run would
// need 1,500 of them. Beside each chunk of a plain run lies what the runtime compiles of it.
//
//   tsc -p tsconfig.build.json && node scripts/bundle.ts
import { globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { compileChunks } from './compile-chunks.ts';
import { chunkCode, circle, entryCode, isFacade } from './chunk-code.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Each is built beside its declarations; together, since a class that is there twice is two classes. */
const ENTRIES = ['cli/main', 'cli/container', 'index', 'storage/client/index'];
/** The modules that every command needs. */
const COMMAND = ['cli/main.ts'];
/** Modules that every run loads by `import()` beside those of the command itself. */
const RUN = [
  'cli/progress.ts',
  'cli/run-result.ts',
  'engine/config/index.ts',
  'engine/config/schema.ts',
  'engine/config/unknown-keys.ts',
  'engine/extract/extract.ts',
  'runner/doubt.ts',
  'runner/row-recording.ts',
  'runner/run.ts',
];
/** Packages that stay where they are: those with binaries, and large ones that hardly any run loads. */
const LEFT = /^(node:|@duckdb\/node-bindings|@aws-sdk|@smithy|ssh2|swagger-ui-dist|pg-native)/;
for (const file of globSync('dist/**/*.js', { cwd: root, exclude: ['dist/console'] }))
  rmSync(`${root}${file}`);
rmSync(`${root}dist/chunks`, { recursive: true, force: true });

const program = await written(ENTRIES, { command: COMMAND, run: RUN });
// a thread has its own: what it shares with the program would bring all of it
const thread = await written(['engine/records/threads/line-worker']);
// a process of a query has its own as well: nothing of the service is in it
const query = await written(['service/stores/query/process/main']);
const packages = new Set([...program, ...thread, ...query].map(packageOf).filter((folder) => folder !== ''));
writeFileSync(`${root}dist/licenses.txt`, [...packages].toSorted().map(licenseOf).join('\n'));
await compileChunks();

/**
 * Writes entries with what they need, and returns the modules that are in them.
 *
 * @param together modules that are loaded at once, in one file with all that they need and no file before has, by its name
 */
async function written(
  entries: readonly string[],
  together: Readonly<Record<string, readonly string[]>> = {},
): Promise<readonly string[]> {
  const names = Object.keys(together);
  const inputs = entries.map((entry) => `${root}src/${entry}.ts`);
  let modules: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((entry, index) => [entry, inputs[index] ?? ''])),
    cwd: root,
    platform: 'node',
    external: LEFT,
    preserveEntrySignatures: 'exports-only',
    plugins: [
      {
        name: 'groups',
        buildEnd() {
          const imports = (id: string): readonly string[] => this.getModuleInfo(id)?.importedIds ?? [];
          modules = new Map(
            names.map((name) => [
              name,
              closure(
                (together[name] ?? []).map((file) => `${root}src/${file}`),
                imports,
              ),
            ]),
          );
        },
      },
      {
        name: 'code',
        load(id) {
          // a look-up of the package at every start otherwise
          if (id !== `${root}src/lib/version.ts`) return undefined;
          return `export const VERSION = ${JSON.stringify(manifestIn('').version)};`;
        },
        generateBundle(_, files) {
          const chunks = Object.values(files).filter((file) => file.type === 'chunk');
          const facades = new Map(
            chunks
              .filter(({ isEntry, code }) => !isEntry && isFacade(code))
              .map(({ fileName, code }) => [path.basename(fileName), code]),
          );
          const turn = circle(new Map(chunks.map(({ fileName, imports }) => [fileName, imports])));
          if (turn !== undefined) throw new Error(`These import each other: ${turn.join(', ')}`);
          for (const file of chunks)
            file.code = ascii(
              file.isEntry ? withoutExports(entryCode(file, facades)) : chunkCode(file, facades),
            );
          for (const name of facades.keys()) delete files[`chunks/${name}`];
        },
      },
    ],
  });
  const { output } = await bundle.write({
    dir: `${root}dist`,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: false,
    codeSplitting: {
      // a file takes what its modules need with it, unless one before it has that
      groups: names.map((name, index) => ({
        name,
        // an entry stays a module, and passes on what stands in a script
        test: (id) => modules.get(name)?.has(id) === true && !inputs.includes(id),
        priority: names.length - index,
      })),
    },
  });
  await bundle.close();
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
}

/** Returns the folder of the package that a module belongs to: `node_modules/yaml`; an empty text for one of ours. */
function packageOf(id: string): string {
  return /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.relative(root, id))?.[0] ?? '';
}

/** Returns the terms under which a package is given, which ask to be passed on with it. */
function licenseOf(folder: string): string {
  const { name, version, license } = manifestIn(folder);
  const file = readdirSync(`${root}${folder}`).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? '' : readFileSync(`${root}${folder}/${file}`, 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}

function manifestIn(folder: string): { name: string; version: string; license: string } {
  return JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as ReturnType<
    typeof manifestIn
  >; // what every package.json has
}

/** Takes the runtime's modules without `import`, which loads all that they would export: `crypto` its WebCrypto, too. */
function withoutExports(code: string): string {
  return code.replaceAll(
    /^import (\w+)?(?:, )?(?:\{ (.+) \})? from "(node:[\w/]+)";$/gm,
    (_, whole: string | undefined, names: string | undefined, from: string) => {
      const module = `globalThis.process.getBuiltinModule("${from}")`;
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
