import type { OptionSchema } from '../../lib/option.ts';
import { digKeys, entriesOf, getKey, isList, isObject, keysOf, type Json } from '../../lib/json/index.ts';
import { nearest } from '../../lib/suggest.ts';
import { placeOf, type SchemaPlace } from './schema-places.ts';
import { propertiesOf } from './validation-schema.ts';

/** A key that no schema knows, or one that should not be used any more. */
export interface OddKey {
  readonly keys: readonly string[];
  readonly suggestion: string | undefined;
  /** Replacement of a deprecated key, in a sentence. */
  readonly deprecated?: string;
}

/**
 * Returns the keys of a value that its schema does not know, if it lists all known ones, and deprecated ones. An object
 * is free when a schema of it admits any further key. Beside a choice by kind (`method`, `type`), only the kind in use
 * counts.
 *
 * @param schema the whole schema, with its `definitions`
 */
export function oddKeys(value: Json, schema: OptionSchema): readonly OddKey[] {
  const found: OddKey[] = [];
  const keys: string[] = [];
  const go = (item: Json, place: SchemaPlace, key: string): void => {
    keys.push(key);
    visit(item, place);
    keys.pop();
  };
  const visit = (item: Json, place: SchemaPlace): void => {
    if (isList(item)) {
      const { items } = place.schemasOf(item);
      item.forEach((entry, index) => go(entry, items, String(index)));
    } else if (isObject(item)) {
      const known = place.schemasOf(item);
      for (const [key, entry] of entriesOf(item)) {
        const below = known.below(key);
        if (below.deprecated !== undefined)
          found.push({ keys: [...keys, key], suggestion: undefined, deprecated: below.deprecated });
        if (below.isKnown) {
          if (typeof entry === 'object' && entry !== null) go(entry, below, key);
        } else if (!known.isFree && known.names.length > 0) {
          const present = keysOf(item);
          const suggestion = nearest(
            key,
            known.names.filter((name) => !present.includes(name)),
          );
          found.push({ keys: [...keys, key], suggestion });
        }
      }
    }
  };
  visit(value, placeOf(schema));
  return found;
}

/**
 * Attributes of `config` that look like a misspelled option and are used by no function.
 *
 * @param parameters the node `parameters`
 * @param configSchema the schema of `parameters.config`
 */
export function unusedNearMisses(parameters: Json, configSchema: OptionSchema): readonly OddKey[] {
  const config = digKeys(['config'], parameters);
  if (!isObject(config)) return [];
  const names = Object.keys(propertiesOf(configSchema));
  const used = attributesUsed(parameters);
  return entriesOf(config).flatMap(([key]) => {
    if (names.includes(key) || used.has(key)) return [];
    const suggestion = nearest(
      key,
      names.filter((name) => getKey(config, name) === undefined),
    );
    return suggestion === undefined ? [] : [{ keys: ['parameters', 'config', key], suggestion }];
  });
}

/** The first keys of all attributes that functions refer to: `{"attr": "server.port"}` uses `server`. */
function attributesUsed(value: Json, used = new Set<string>()): ReadonlySet<string> {
  if (isList(value)) for (const item of value) attributesUsed(item, used);
  if (isObject(value)) {
    for (const [key, item] of entriesOf(value)) {
      if (key === 'attr' && typeof item === 'string') {
        used.add(item);
        used.add(item.split('.')[0] ?? item);
      } else attributesUsed(item, used);
    }
  }
  return used;
}
