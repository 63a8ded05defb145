import { entriesOf, getKey, isObject, type AnyObject, type Json } from '../../../lib/json/index.ts';
import { findRows, type RowsPlace } from '../rows.ts';
import { wordsOf } from '../names.ts';
import { textAt, type ApiDocument } from './document.ts';
import { sampleOf } from './sample.ts';

/** A parameter of an operation, in the query or a header. */
export interface OperationParameter {
  readonly name: string;
  readonly place: 'query' | 'header' | 'path';
  readonly isRequired: boolean;
  /** Default value of the parameter: its default, its example, or the first of its values. */
  readonly value: Json | undefined;
  readonly schema: AnyObject;
}

/** A GET that brings a list. */
export interface ListOperation {
  /** As in the document: `/users/{id}/orders`. */
  readonly path: string;
  readonly parameters: readonly OperationParameter[];
  /** Place of the rows in a made-up answer. */
  readonly place: RowsPlace;
  readonly sample: Json;
  /** Names of response headers, in lower case. */
  readonly headers: readonly string[];
  readonly security: Json | undefined;
}

export interface Skipped {
  readonly what: string;
  readonly why: string;
}

/** Returns every GET of a document that brings a list, and those that do not, with the reason. */
export function operationsOf(document: ApiDocument): {
  readonly lists: readonly ListOperation[];
  readonly skipped: readonly Skipped[];
} {
  const lists: ListOperation[] = [];
  const skipped: Skipped[] = [];
  const paths = document.object(document.root, 'paths');
  for (const [path, value] of paths === undefined ? [] : entriesOf(paths)) {
    const item = document.resolve(value);
    const get = item === undefined ? undefined : document.object(item, 'get');
    if (item === undefined || get === undefined) continue;
    const what = `GET ${path}`;
    const response = responseOf(get, document);
    const sample = response === undefined ? undefined : answerOf(response, document);
    if (response === undefined || sample === undefined) {
      skipped.push({ what, why: 'the document does not say what it answers' });
      continue;
    }
    const name = path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? '';
    const [place] = findRows(sample, name).filter(({ kind }) => kind === 'list');
    if (place === undefined || place.score < 0 || isOfOneThing(sample, place, path)) {
      skipped.push({ what, why: 'it brings no list' });
      continue;
    }
    const headers = document.object(response, 'headers');
    lists.push({
      path,
      parameters: parametersOf(item, get, document),
      place,
      sample,
      headers: headers === undefined ? [] : entriesOf(headers).map(([header]) => header.toLowerCase()),
      security: getKey(get, 'security'),
    });
  }
  return { lists, skipped };
}

/**
 * Tells whether an operation such as `/users/{id}`, with a list inside the user, requests one object by the id at the
 * end.
 */
function isOfOneThing(sample: Json, { keys }: RowsPlace, path: string): boolean {
  if (!/\}\/?$/.test(path) || keys.length === 0) return false;
  const only = isObject(sample) && entriesOf(sample).every(([, value]) => typeof value === 'object');
  return !(only && keys.length === 1 && /^(?:data|items|results|value|values)$/.test(keys[0] ?? ''));
}

function responseOf(operation: AnyObject, document: ApiDocument): AnyObject | undefined {
  const responses = document.object(operation, 'responses');
  if (responses === undefined) return undefined;
  for (const key of ['200', '2XX', '2xx', '206', '203', 'default']) {
    const found = document.object(responses, key);
    if (found !== undefined) return found;
  }
  return undefined;
}

function answerOf(response: AnyObject, document: ApiDocument): Json | undefined {
  if (document.version === 2) {
    const examples = document.object(response, 'examples');
    return (
      sampleOf(getKey(response, 'schema'), document) ??
      (examples === undefined ? undefined : getKey(examples, 'application/json'))
    );
  }
  const content = document.object(response, 'content');
  if (content === undefined) return undefined;
  const [media] = entriesOf(content).filter(([type]) => /[/+*]json|^\*\/\*/i.test(type));
  const node = document.resolve(media?.[1]);
  if (node === undefined) return undefined;
  const example = getKey(node, 'example') ?? exampleIn(document.object(node, 'examples'), document);
  return sampleOf(getKey(node, 'schema'), document) ?? example;
}

function exampleIn(examples: AnyObject | undefined, document: ApiDocument): Json | undefined {
  const [first] = examples === undefined ? [] : entriesOf(examples);
  const example = document.resolve(first?.[1]);
  return example === undefined ? undefined : getKey(example, 'value');
}

function parametersOf(
  item: AnyObject,
  operation: AnyObject,
  document: ApiDocument,
): readonly OperationParameter[] {
  const known = new Map<string, OperationParameter>();
  for (const node of [...document.list(item, 'parameters'), ...document.list(operation, 'parameters')]) {
    const [name, place] = [textAt(node, 'name'), textAt(node, 'in')];
    if (name === undefined || (place !== 'query' && place !== 'header' && place !== 'path')) continue;
    const schema = document.object(node, 'schema') ?? node;
    const values = getKey(schema, 'enum');
    const first = Array.isArray(values) ? (values[0] as Json | undefined) : undefined;
    known.set(`${place} ${name}`, {
      name,
      place,
      isRequired: getKey(node, 'required') === true,
      value: getKey(node, 'example') ?? getKey(schema, 'default') ?? getKey(schema, 'example') ?? first,
      schema,
    });
  }
  return [...known.values()];
}

/** Words of the resource that a path is about: `users`, `orders`. */
export function resourceOf(path: string): string {
  const part = path.split('/').findLast((each) => each !== '' && !each.startsWith('{')) ?? 'rows';
  return wordsOf(part).join('_') || 'rows';
}
