import { get, isMap, isSequence, type ManifestNode } from './node.ts';
import { call } from './translate/out.ts';
import { pathText, type TranslatedJson } from './translate/position.ts';

/** A field that no column can hold as it is. */
export interface MixedField {
  /** Keys from a row to it. */
  readonly keys: readonly string[];
  /** It is a list with items of several kinds somewhere in it. */
  readonly isList: boolean;
}

type Resolved = (schema: ManifestNode) => ManifestNode | undefined;

/** Takes a schema as one that has no references. */
export function itself(schema: ManifestNode): ManifestNode {
  return schema;
}

/** Deepest fields that are looked at: a schema may refer to itself. */
const MAX_DEPTH = 8;

/**
 * Returns the fields of a schema that may be an object in one row and another value in the next, and the lists with
 * items that may be either: a table has no column for both. A list in a list, or below its items, is a part of the
 * outermost one.
 *
 * @param resolved gives what a reference stands for
 */
export function mixedFields(
  schema: ManifestNode | undefined,
  resolved: Resolved = itself,
): readonly MixedField[] {
  if (!isMap(schema)) return [];
  const ofSame = known.get(resolved) ?? new WeakMap<ManifestNode & object, readonly MixedField[]>();
  known.set(resolved, ofSame);
  const found = ofSame.get(schema) ?? below(schema, [], resolved);
  ofSame.set(schema, found);
  return found;
}

/** Fields that were found: a stream is read again for each way to its slices. */
const known = new WeakMap<Resolved, WeakMap<ManifestNode & object, readonly MixedField[]>>();

function below(
  schema: ManifestNode | undefined,
  path: readonly string[],
  resolved: Resolved,
): readonly MixedField[] {
  if (path.length > MAX_DEPTH) return [];
  const found = formsOf(schema, resolved).flatMap((form) => {
    const properties = get(form, 'properties');
    return isMap(properties) ? Object.entries(properties) : [];
  });
  const mixed = found.flatMap(([name, part]) => at(part, [...path, name], resolved));
  if (mixed.length < 2) return mixed;
  return [...new Map(mixed.map((each) => [each.keys.join('\n'), each])).values()];
}

function at(schema: ManifestNode, keys: readonly string[], resolved: Resolved): readonly MixedField[] {
  const forms = formsOf(schema, resolved);
  const types = new Set(forms.flatMap(typesOf));
  types.delete('null');
  if (types.has('object') && types.size > 1) return [{ keys, isList: false }];
  if (!types.has('array')) return below(schema, keys, resolved);
  const items = forms.map((form) => get(form, 'items'));
  const isOpen =
    types.size > 1 && items.some((item) => formsOf(item, resolved).flatMap(typesOf).includes('object'));
  const hasMixed = items.some((item) => isMap(item) && at(item, keys, resolved).length > 0);
  return isOpen || hasMixed ? [{ keys, isList: true }] : below(schema, keys, resolved);
}

/** Returns a schema and its alternatives. */
function formsOf(schema: ManifestNode | undefined, resolved: Resolved, depth = 0): readonly ManifestNode[] {
  const own = isMap(schema) ? resolved(schema) : undefined;
  if (!isMap(own) || depth > MAX_DEPTH) return [];
  const branches = ['oneOf', 'anyOf'].flatMap((word) => {
    const listed = own[word];
    return isSequence(listed) ? listed : [];
  });
  return [own, ...branches.flatMap((branch) => formsOf(branch, resolved, depth + 1))];
}

function typesOf(schema: ManifestNode): readonly string[] {
  const type = get(schema, 'type');
  return (isSequence(type) ? type : [type]).filter((each) => typeof each === 'string');
}

/** Returns the value of a field, as JSON text where it is an object or a list. */
export function scalarOrJson(keys: readonly string[]): TranslatedJson {
  const field = { path: pathText(keys) };
  const json = call('json_encode', field);
  // the JSON of a text begins with a quote
  return call('if', call('is', json, 'matches', '^[{\\[]'), json, field);
}
