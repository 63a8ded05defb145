import { ConfigError } from '../../lib/errors.ts';
import {
  getKey,
  isList,
  isObject,
  isScalar,
  isNumber,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { asObject } from '../../lib/read-settings.ts';

/** A row of a configuration resource. */
export interface ConfigRow {
  readonly id: string;
  readonly name: string | undefined;
  readonly configuration: AnyObject;
  readonly isDisabled: boolean;
  readonly state: Json | undefined;
  /** Its index in `rows`. */
  readonly index: number;
}

/** Content of config.json, in either form. */
export interface ConfigResource {
  /** `component`: one component configuration. `resource`: a whole configuration with rows and state. */
  readonly form: 'component' | 'resource';
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** The root configuration. */
  readonly configuration: AnyObject;
  /** In the order of the document. */
  readonly rows: readonly ConfigRow[];
  readonly rowsSortOrder: readonly string[];
  readonly state: Json | undefined;
}

/**
 * Recognises the form of a document. It is a configuration resource when it has no `parameters`
 * at the top, and has `configuration` (an object) or `rows` (a list); else it is one component configuration.
 * Content is never unwrapped further: `isWrapped` tells of the mistake.
 *
 * @throws {ConfigError} when the document is no object, or a row cannot be told from the others
 */
export function readResource(document: Json): ConfigResource {
  const root = asObject(document);
  if (root === undefined)
    throw new ConfigError('config.invalid', 'The configuration is not a JSON object.', {
      hint: 'Start with {"parameters": {"api": {"baseUrl": "…"}, "config": {"jobs": [{"endpoint": "…"}]}}}.',
    });
  if (!isResource(root))
    return {
      form: 'component',
      id: undefined,
      name: undefined,
      configuration: root,
      rows: [],
      rowsSortOrder: [],
      state: undefined,
    };
  return {
    form: 'resource',
    id: textOf(root, 'id'),
    name: textOf(root, 'name'),
    configuration: configurationOf(root, ''),
    rows: rowsOf(getKey(root, 'rows')),
    rowsSortOrder: orderOf(getKey(root, 'rowsSortOrder')),
    state: getKey(root, 'state'),
  };
}

/**
 * Tells whether a stored configuration holds another `configuration` around its parameters. It is stored and run as it
 * is, so the run has no parameters.
 */
export function isWrapped(configuration: AnyObject): boolean {
  const inner = getKey(configuration, 'configuration');
  return (
    getKey(configuration, 'parameters') === undefined &&
    isObject(inner) &&
    getKey(inner, 'parameters') !== undefined
  );
}

/** The sentence to say about a wrapped configuration. */
export const WRAPPED_HINT =
  'The content is wrapped in a second `configuration`, which is never unwrapped: move what is inside it one level up.';

function isResource(root: AnyObject): boolean {
  if (getKey(root, 'parameters') !== undefined) return false;
  return asObject(getKey(root, 'configuration')) !== undefined || isList(getKey(root, 'rows'));
}

function rowsOf(node: Json | undefined): ConfigRow[] {
  if (node === undefined || node === null) return [];
  if (!isList(node)) throw invalid('The rows of a configuration are a list.', 'rows');
  const rows = node.map(rowOf);
  const seen = new Map<string, number>();
  for (const row of rows) {
    const first = seen.get(row.id);
    if (first !== undefined)
      throw invalid(
        `The rows ${first} and ${row.index} have the same id “${row.id}”.`,
        `rows[${row.index}].id`,
      );
    seen.set(row.id, row.index);
  }
  return rows;
}

function rowOf(node: Json, index: number): ConfigRow {
  const at = `rows[${index}]`;
  if (!isObject(node)) throw invalid('A row is an object with `id` and `configuration`.', at);
  const id = textOf(node, 'id') ?? '';
  if (id === '')
    throw invalid('The row has no id.', `${at}.id`, 'Give it one: its files are kept in rows/<id>.');
  if (/[/\\\0]/.test(id) || id === '.' || id === '..')
    throw invalid(
      `The row id “${id}” cannot name a folder.`,
      `${at}.id`,
      'Use letters, digits, `-` and `_`.',
    );
  const disabled = getKey(node, 'isDisabled');
  return {
    id,
    name: textOf(node, 'name'),
    configuration: configurationOf(node, `${at}.`),
    isDisabled: disabled === true || disabled === 1,
    state: getKey(node, 'state'),
    index,
  };
}

function configurationOf(node: AnyObject, at: string): AnyObject {
  const content = getKey(node, 'configuration');
  if (content === undefined || content === null) return objectOf([]);
  const object = asObject(content);
  if (object === undefined) throw invalid('A configuration is an object.', `${at}configuration`);
  return object;
}

function orderOf(node: Json | undefined): string[] {
  if (node === undefined || node === null) return [];
  if (!isList(node) || !node.every((id) => typeof id === 'string' || isNumber(id)))
    throw invalid('The order of rows is a list of row ids.', 'rowsSortOrder');
  return node.map((id) => toText(id));
}

/** Ids may be numbers in a request; they are strings from here on. */
function textOf(node: AnyObject, key: string): string | undefined {
  const value = getKey(node, key);
  return isScalar(value) && typeof value !== 'boolean' ? toText(value) : undefined;
}

function invalid(message: string, path: string, hint?: string): ConfigError {
  return new ConfigError('config.invalid', message, { where: { path }, hint });
}
