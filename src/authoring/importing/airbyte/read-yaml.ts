import {
  boolYaml11Tag,
  FAILSAFE_SCHEMA,
  floatYaml11Tag,
  intYaml11Tag,
  load,
  mergeTag,
  NOT_RESOLVED,
  nullYaml11Tag,
} from 'js-yaml';
import {
  parseDocument,
  type DocumentOptions,
  type ParseOptions,
  type ScalarTag,
  type SchemaOptions,
  type Tags,
} from 'yaml';
import { RunError } from '../../../lib/errors.ts';
import { isMap, type ManifestNode, type NodeMap } from './node.ts';

/** Letters that are booleans in YAML 1.1, and texts for the parser that manifests are written for. */
const LETTER = /^[yYnN]$/;

/** The words of YAML 1.1 (`yes`, `on`) are booleans, and dates are texts, as manifests have always been read. */
const SCHEMA = FAILSAFE_SCHEMA.withTags(
  nullYaml11Tag,
  {
    ...boolYaml11Tag,
    resolve: (text, ...more) => (LETTER.test(text) ? NOT_RESOLVED : boolYaml11Tag.resolve(text, ...more)),
  },
  intYaml11Tag,
  floatYaml11Tag,
  mergeTag,
);

type Tag = Tags[number];

function isBool(tag: Tag): tag is ScalarTag & { readonly test: RegExp } {
  return typeof tag === 'object' && tag.tag.endsWith(':bool') && 'test' in tag && tag.test !== undefined;
}

/** The same for the parser that knows where an error is. */
const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  merge: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
  customTags: (tags) =>
    tags
      .filter((tag) => typeof tag === 'string' || !/timestamp|binary|omap|pairs|set$/.test(tag.tag))
      .map((tag) =>
        isBool(tag) ? { ...tag, test: new RegExp(`(?!${LETTER.source})${tag.test.source}`) } : tag,
      ),
};

/** More aliases than any manifest has, and fewer than would make a text of a few lines fill the memory. */
const MAX_ALIASES = 10_000;

/**
 * Reads the text of a manifest.
 *
 * @param file how the text is called in messages
 * @throws {RunError} `import.invalid` for a text that is no YAML, or no map
 */
export function readYaml(text: string, file: string): NodeMap {
  const read = readFast(text) ?? readWithPlaces(text, file);
  const node = isNode(read, 0) ? read : toNode(read, 0);
  if (isMap(node)) return node;
  throw new RunError('import.invalid', 'The file is no manifest: a map of keys is expected.', {
    where: { file },
    hint: 'A manifest begins with “version:” and has “streams:”.',
  });
}

/**
 * Reads a text in a fifth of the time of the other parser, which is left what this one refuses: errors, tags of its
 * own, and aliases, which could multiply.
 */
function readFast(text: string): unknown {
  try {
    return load(text, { schema: SCHEMA, json: true, maxAliases: 0 });
  } catch {
    return undefined;
  }
}

/** Reads a text with the place of its first error. */
function readWithPlaces(text: string, file: string): unknown {
  const document = parseDocument(text, OPTIONS);
  const [wrong] = document.errors;
  if (wrong?.message.startsWith('Maximum call stack') === true) throw tooDeep(file);
  if (wrong !== undefined) {
    const before = text.slice(0, wrong.pos[0]).split('\n');
    throw new RunError('import.invalid', `The file is no YAML: ${firstLine(wrong.message)}.`, {
      where: { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 },
    });
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES, mapAsMap: false });
    return value;
  } catch (error) {
    throw new RunError(
      'import.invalid',
      `The file can't be read: ${error instanceof Error ? firstLine(error.message) : ''}.`,
      {
        where: { file },
      },
    );
  }
}

function tooDeep(file?: string): RunError {
  const message = 'The manifest is nested too deep.';
  return new RunError('import.invalid', message, file === undefined ? {} : { where: { file } });
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/[.:]\s*$/, '');
}

/** Tells whether a value has the types of JSON alone. */
function isNode(value: unknown, depth: number): value is ManifestNode {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth > 200) return false;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return false;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const item of items) if (!isNode(item, depth + 1)) return false;
  return true;
}

/** Converts a value of YAML to the types of JSON; other values become texts. */
function toNode(value: unknown, depth: number): ManifestNode {
  if (depth > 200) throw tooDeep();
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map((item: unknown) => toNode(item, depth + 1));
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toNode(item, depth + 1)]));
  return typeof value === 'bigint' ? String(value) : '';
}
