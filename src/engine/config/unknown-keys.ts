import type { OptionSchema } from '../../lib/option.ts';
import {
  digKeys,
  entriesOf,
  getKey,
  isList,
  isObject,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { remember } from '../../lib/remember.ts';
import { nearest } from '../../lib/suggest.ts';
import { branchesOf, discriminatorOf, fixedValues, isSchema, propertiesOf } from './validation-schema.ts';

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
  const visit = (item: Json, schemas: readonly OptionSchema[], keys: readonly string[]): void => {
    const known = new Walk(schema, item).all(schemas);
    if (isList(item)) {
      item.forEach((entry, index) =>
        visit(
          entry,
          known.flatMap((schema) => (isSchema(schema['items']) ? [schema['items']] : [])),
          [...keys, String(index)],
        ),
      );
    } else if (isObject(item)) {
      for (const [key, entry] of entriesOf(item)) {
        const schemasOfKey = known.flatMap((one) => schemasFor(one, key));
        const old = schemasOfKey.find((one) => one['deprecated'] === true);
        if (old !== undefined) {
          const deprecated = String(old['description']);
          found.push({ keys: [...keys, key], suggestion: undefined, deprecated });
        }
        if (schemasOfKey.length > 0) visit(entry, schemasOfKey, [...keys, key]);
        else if (!known.some((schema) => schema['additionalProperties'] === true)) {
          const names = [...new Set(known.flatMap((one) => Object.keys(propertiesOf(one))))];
          if (names.length === 0) continue;
          const present = entriesOf(item).map(([name]) => name);
          const suggestion = nearest(
            key,
            names.filter((name) => !present.includes(name)),
          );
          found.push({ keys: [...keys, key], suggestion });
        }
      }
    }
  };
  visit(value, [schema], []);
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

/** Finds the schemas that apply to one value: references, `allOf`, the branches of a choice, `if` and `then`. */
class Walk {
  readonly #root: OptionSchema;
  readonly #value: Json;

  constructor(root: OptionSchema, value: Json) {
    this.#root = root;
    this.#value = value;
  }

  all(schemas: readonly OptionSchema[]): OptionSchema[] {
    return schemas.flatMap((schema) => this.one(schema));
  }

  one(schema: OptionSchema): OptionSchema[] {
    const { $ref, allOf, anyOf, oneOf } = schema;
    return [
      schema,
      ...(typeof $ref === 'string' ? this.one(resolve(this.#root, $ref)) : []),
      ...this.all(branchesOf(allOf)),
      ...this.all(this.#chosen(branchesOf(anyOf))),
      ...this.all(this.#chosen(branchesOf(oneOf))),
      ...this.#condition(schema),
    ];
  }

  /** Returns the branches of the value's kind; all of them when none fits, or the kind is missing. */
  #chosen(branches: readonly OptionSchema[]): readonly OptionSchema[] {
    const value = this.#value;
    const key = discriminatorOf(branches);
    if (key === undefined || !isObject(value)) return branches;
    const kind = getKey(value, key);
    const chosen = branches.filter((branch) => fixedValues(branch, key)?.some((fixed) => fixed === kind));
    return chosen.length > 0 ? chosen : branches;
  }

  #condition(schema: OptionSchema): OptionSchema[] {
    if (!isSchema(schema['if'])) return [];
    const branch =
      isObject(this.#value) && holds(schema['if'], this.#value) ? schema['then'] : schema['else'];
    return isSchema(branch) ? this.one(branch) : [];
  }
}

/** Tells whether a condition of constants on keys holds; other keywords are taken to hold. */
function holds(condition: OptionSchema, value: AnyObject): boolean {
  const required: readonly unknown[] = Array.isArray(condition['required']) ? condition['required'] : [];
  if (!required.every((key) => getKey(value, String(key)) !== undefined)) return false;
  const negated = condition['not'];
  if (isSchema(negated) && holds(negated, value)) return false;
  return Object.keys(propertiesOf(condition)).every((key) => {
    const item = getKey(value, key);
    const fixed = fixedValues(condition, key);
    return item === undefined || fixed === undefined || fixed.some((one) => one === item);
  });
}

function resolve(root: OptionSchema, ref: string): OptionSchema {
  let at: unknown = root;
  for (const key of ref.replace(/^#\/?/, '').split('/')) at = isSchema(at) ? at[key] : undefined;
  return isSchema(at) ? at : {};
}

const patternOf = remember((pattern) => new RegExp(pattern, 'u'));

function schemasFor(schema: OptionSchema, key: string): readonly OptionSchema[] {
  const own = Object.hasOwn(propertiesOf(schema), key) ? propertiesOf(schema)[key] : undefined;
  if (own !== undefined) return [own];
  const patterns = isSchema(schema['patternProperties']) ? Object.entries(schema['patternProperties']) : [];
  const matching = patterns.filter(([pattern]) => patternOf(pattern).test(key)).map(([, item]) => item);
  if (matching.length > 0) return matching.filter(isSchema);
  return isSchema(schema['additionalProperties']) ? [schema['additionalProperties']] : [];
}
