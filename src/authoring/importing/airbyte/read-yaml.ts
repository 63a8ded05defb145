import { parseDocument, type ParseOptions, type DocumentOptions, type SchemaOptions } from 'yaml';
import { RunError } from '../../../lib/errors.ts';
import { isMap, type ManifestNode, type NodeMap } from './node.ts';

/** The words of YAML 1.1 (`yes`, `on`) are booleans, and dates are texts, as manifests have always been read. */
const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  merge: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
  customTags: (tags) =>
    tags.filter((tag) => typeof tag === 'string' || !/timestamp|binary|omap|pairs|set$/.test(tag.tag)),
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
  const document = parseDocument(text, OPTIONS);
  const [wrong] = document.errors;
  if (wrong?.message.startsWith('Maximum call stack') === true) throw tooDeep(file);
  if (wrong !== undefined) {
    const before = text.slice(0, wrong.pos[0]).split('\n');
    throw new RunError('import.invalid', `The file is no YAML: ${firstLine(wrong.message)}.`, {
      where: { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 },
    });
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES, mapAsMap: false });
  } catch (error) {
    throw new RunError(
      'import.invalid',
      `The file can't be read: ${error instanceof Error ? firstLine(error.message) : ''}.`,
      {
        where: { file },
      },
    );
  }
  const node = toNode(value, 0);
  if (isMap(node)) return node;
  throw new RunError('import.invalid', 'The file is no manifest: a map of keys is expected.', {
    where: { file },
    hint: 'A manifest begins with “version:” and has “streams:”.',
  });
}

function tooDeep(file?: string): RunError {
  const message = 'The manifest is nested too deep.';
  return new RunError('import.invalid', message, file === undefined ? {} : { where: { file } });
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/[.:]\s*$/, '');
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
