import { typesOf } from './field-kinds.ts';
import { get, isMap, type ManifestNode } from './node.ts';
import { call } from './translate/out.ts';
import { pathText, type TranslatedJson } from './translate/position.ts';

/**
 * Returns the fields of a schema that may be an object in one row and another value in the next: a table has no column
 * for both.
 */
export function mixedFields(loader: ManifestNode | undefined): readonly string[] {
  const properties = get(get(loader, 'schema'), 'properties');
  if (!isMap(properties)) return [];
  return Object.entries(properties).flatMap(([name, schema]) => {
    const types = new Set(typesOf(schema));
    types.delete('null');
    return types.has('object') && types.size > 1 ? [name] : [];
  });
}

/** Returns the value of a field, as JSON text where it is an object or a list. */
export function scalarOrJson(name: string): TranslatedJson {
  const field = { path: pathText([name]) };
  const json = call('json_encode', field);
  // the JSON of a text begins with a quote
  return call('if', call('is', json, 'matches', '^[{\\[]'), json, field);
}
