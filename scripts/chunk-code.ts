// Makes scripts of the chunks of a bundle, for `bin/chunks.js`: each is a function that gets what it imports, and returns
// what it exports. Entries stay modules.
import { isBuiltin } from 'node:module';
import path from 'node:path';

const IMPORT = /^import (?:([\w$]+)?(?:, )?(?:\{ (.+) \})? from )?"([^"]+)";$/gm;
const EXPORT = /^export \{ ?(.*?) ?\}(?: from "([^"]+)")?;$/gm;
/** Modules of the runtime that most commands need late or never, and that take milliseconds to load. */
const LATE = new Set(['node:dns', 'node:dns/promises', 'node:fs/promises']);
const DYNAMIC = /\bimport\("([^"]+)"\)/g;

/** A file of the bundle: its name below `dist`, and its code. */
interface BundleFile {
  readonly fileName: string;
  readonly code: string;
}

/**
 * Returns a chunk as a script.
 *
 * @param facades names of the chunks that only pass on what another exports, with their code
 * @throws {Error} where the script would be something else than the module
 */
export function chunkCode({ fileName, code }: BundleFile, facades: ReadonlyMap<string, string>): string {
  const changed = changedExport(code);
  if (changed !== undefined)
    throw new Error(`${fileName}: “${changed}” changes later, and who imports it would not see that`);
  const script = code
    .replaceAll(IMPORT, (_, whole?: string, names?: string, from: string = '') =>
      isLate(from, whole, names)
        ? lateFunctions(names ?? '', from)
        : assigned(whole, names, isBuiltin(from) ? builtin(from) : `$chunk("${path.posix.basename(from)}")`),
    )
    .replaceAll(EXPORT, (_, names: string = '', from?: string) =>
      from === undefined
        ? `return { ${pairs(names)
            .map(([own, as]) => `${as}: ${own}`)
            .join(', ')} };`
        : `return ${passedOn(names, `$chunk("${path.posix.basename(from)}")`)};`,
    )
    .replace(/^export default (.+);$/m, 'return { default: $1 };')
    .replaceAll(DYNAMIC, (_, from: string) =>
      from.startsWith('./') ? later(from, facades) : `$import("${from.replace(/^\.\.\//, '../dist/')}")`,
    )
    .replaceAll('import.meta.url', '$url')
    .replaceAll('import.meta.dirname', '$folder');
  const rest =
    /^(?:import|export)\b.*|(?<![#$.\w])import(?:\.meta|\().*|^(?:(?:const|let) .* = )?await .*/m.exec(
      script,
    );
  if (rest !== null) throw new Error(`${fileName}: this cannot be in a script: ${rest[0].slice(0, 200)}`);
  return `(function ($chunk, $later, $import, $url, $folder) { "use strict";\n${script}})\n`;
}

/** Returns an entry, which takes what it imports from scripts. */
export function entryCode({ fileName, code }: BundleFile, facades: ReadonlyMap<string, string>): string {
  const entry = code
    .replaceAll(IMPORT, (all: string, whole?: string, names?: string, from: string = '') =>
      isChunk(from) ? assigned(whole, names, `$chunk("${path.posix.basename(from)}")`) : all,
    )
    .replaceAll(EXPORT, (all: string, names: string = '', from?: string) =>
      from === undefined || !isChunk(from)
        ? all
        : pairs(names)
            .map(
              ([own, as]) =>
                `const $${as} = $chunk("${path.posix.basename(from)}").${own};\nexport { $${as} as ${as} };`,
            )
            .join('\n'),
    )
    .replaceAll(DYNAMIC, (all: string, from: string) => (isChunk(from) ? later(from, facades) : all));
  if (entry === code) return code;
  const loader = path.posix.relative(path.posix.dirname(`dist/${fileName}`), 'bin/chunks.js');
  return `import { chunk as $chunk, later as $later } from "${loader}";\n${entry}`;
}

function isChunk(from: string): boolean {
  return /^\.{1,2}\/(?:.*\/)?chunks\//.test(from);
}

/** Tells whether a chunk only passes on what another one exports. */
export function isFacade(code: string): boolean {
  return /^export \{.*\} from "[^"]+";\s*$/.test(code);
}

/** Returns chunks that import each other: none of them can be evaluated before the others. */
export function circle(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const from = (name: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return undefined;
    done.add(name);
    return (imports.get(name) ?? [])
      .map((next) => from(next, [...way, name]))
      .find((found) => found !== undefined);
  };
  return [...imports.keys()].map((name) => from(name, [])).find((found) => found !== undefined);
}

/** Returns the module of the runtime without `import`, which loads all that it would export: `crypto` its WebCrypto, too. */
function builtin(name: string): string {
  return `globalThis.process.getBuiltinModule("${name}")`;
}

/** Tells whether only functions are imported from a module that is loaded by the first call of one of them. */
function isLate(from: string, whole: string | undefined, names: string | undefined): boolean {
  if (!LATE.has(from) || whole !== undefined) return false;
  const module: object = process.getBuiltinModule(from) ?? {};
  return pairs(names ?? '').every(
    ([own]) => /^[a-z]/.test(own) && typeof Reflect.get(module, own) === 'function',
  );
}

function lateFunctions(names: string, from: string): string {
  return pairs(names)
    .map(([own, as]) => `const ${as} = (...args) => ${builtin(from)}.${own}(...args);`)
    .join(' ');
}

function assigned(whole: string | undefined, names: string | undefined, value: string): string {
  const parts = [
    whole,
    names &&
      `{ ${pairs(names)
        .map(([own, as]) => (own === as ? own : `${own}: ${as}`))
        .join(', ')} }`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? `${value};` : `const ${parts.map((part) => `${part} = ${value}`).join(', ')};`;
}

/** Imports a chunk later; what a facade would pass on is taken from where it is. */
function later(from: string, facades: ReadonlyMap<string, string>): string {
  const name = path.posix.basename(from);
  const [, names = '', behind = ''] =
    /^export \{ ?(.*?) ?\} from "([^"]+)";/.exec(facades.get(name) ?? '') ?? [];
  if (behind === '') return `$later("${name}")`;
  return `$later("${path.posix.basename(behind)}").then(($from) => (${passedOn(names, '$from')}))`;
}

function passedOn(names: string, from: string): string {
  return `{ ${pairs(names)
    .map(([own, as]) => `${as}: ${from}.${own}`)
    .join(', ')} }`;
}

/** Reads `a, b as c`: the name where it comes from, and the one that it gets. */
function pairs(names: string): [string, string][] {
  return names
    .split(', ')
    .filter((name) => name !== '')
    .map((name) => {
      const [own = name, as = own] = name.split(' as ');
      return [own, as];
    });
}

/** Returns an exported variable that a function changes: importers of a script have the value that it had at first. */
function changedExport(code: string): string | undefined {
  const exported = [...code.matchAll(EXPORT)]
    .filter(([, , from]) => from === undefined)
    .flatMap(([, names = '']) => pairs(names));
  return exported
    .map(([own]) => own)
    .find((own) => {
      const name = own.replaceAll('$', String.raw`\$`);
      return (
        new RegExp(String.raw`^(?:let|var) (?:.*[ ,])?${name}\b`, 'm').test(code) &&
        new RegExp(String.raw`^\s.*(?<![.\w$])${name} (?:[-+*/%&|^?]{0,3}=[^=]|\+\+|--)`, 'm').test(code)
      );
    });
}
