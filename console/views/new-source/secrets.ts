import { entriesOf, isList, isObject, objectOf, type Json } from '../../../src/lib/json/value.ts';

/** Puts the values of variables into their places: the service encrypts them there. */
export function withSecrets(document: Json, secrets: ReadonlyMap<string, string>): Json {
  if (typeof document === 'string') {
    const name = /^\$env:(\w+)$/.exec(document)?.[1];
    return (name === undefined ? undefined : secrets.get(name)) || document;
  }
  if (isList(document)) return document.map((item) => withSecrets(item, secrets));
  if (!isObject(document)) return document;
  return objectOf(entriesOf(document).map(([key, value]) => [key, withSecrets(value, secrets)]));
}

/** Variables that stand for values which nobody has given yet. */
export function variablesIn(document: Json): readonly string[] {
  if (typeof document === 'string') {
    const name = /^\$env:(\w+)$/.exec(document)?.[1];
    return name === undefined ? [] : [name];
  }
  const inner = isList(document)
    ? document
    : isObject(document)
      ? entriesOf(document).map(([, value]) => value)
      : [];
  return [...new Set(inner.flatMap(variablesIn))];
}
