import type { OptionSchema } from '../../lib/option.ts';
import { getKey, isObject, type AnyObject, type Json } from '../../lib/json/index.ts';
import { remember } from '../../lib/remember.ts';
import { branchesOf, discriminatorOf, fixedValues, isSchema, propertiesOf } from './validation-schema.ts';

/** A place in a value, with the schemas that are given for it. */
export interface SchemaPlace {
  /** False where no schema is given. */
  readonly isKnown: boolean;
  /** Advice of a schema on what to use in place of this key. */
  readonly deprecated: string | undefined;
  /** Returns the schemas that apply to a value at this place. */
  readonly schemasOf: (value: Json) => AppliedSchemas;
}

/** All schemas that apply to one value, and what follows from them for the keys in it. */
export interface AppliedSchemas {
  /** Keys that they list. */
  readonly names: readonly string[];
  /** One of them admits any further key. */
  readonly isFree: boolean;
  /** Place of the items of a list. */
  readonly items: SchemaPlace;
  /** Returns the place of a key. */
  readonly below: (key: string) => SchemaPlace;
}

/**
 * Returns the place of a whole value. Values have many places that are alike, such as the columns of all jobs: what
 * follows from the schema alone is worked out once for all of them.
 *
 * @param schema the whole schema, with its `definitions`
 */
export function placeOf(schema: OptionSchema): SchemaPlace {
  const places = allPlaces.get(schema) ?? new SchemaPlaces(schema);
  allPlaces.set(schema, places);
  return places.of([schema]);
}

const allPlaces = new WeakMap<OptionSchema, SchemaPlaces>();

/** A schema that applies, or a choice by the value: each part of the choice has schemas of its own. */
type Part = OptionSchema | ((value: Json) => readonly Part[]);

/** The places of a schema: as many as it has combinations, whatever values are looked at. */
class SchemaPlaces {
  readonly #root: OptionSchema;
  readonly #ids = new Map<OptionSchema, number>();
  readonly #places = new Map<string, SchemaPlace>();
  readonly #applied = new Map<string, AppliedSchemas>();
  readonly #parts = new Map<OptionSchema, readonly Part[]>();

  constructor(root: OptionSchema) {
    this.#root = root;
  }

  of(schemas: readonly OptionSchema[]): SchemaPlace {
    const key = this.#keyOf(schemas);
    const place = this.#places.get(key) ?? this.#made(schemas);
    this.#places.set(key, place);
    return place;
  }

  #made(schemas: readonly OptionSchema[]): SchemaPlace {
    const parts = schemas.flatMap((schema) => this.#partsOf(schema));
    const isSame = parts.every((part) => typeof part !== 'function');
    let known: AppliedSchemas | undefined;
    return {
      isKnown: schemas.length > 0,
      deprecated: deprecationIn(schemas),
      schemasOf: (value) =>
        isSame ? (known ??= this.#apply(schemasIn(parts, value))) : this.#apply(schemasIn(parts, value)),
    };
  }

  #apply(schemas: ReadonlySet<OptionSchema>): AppliedSchemas {
    const key = this.#keyOf(schemas);
    const applied = this.#applied.get(key) ?? this.#appliedOf([...schemas]);
    this.#applied.set(key, applied);
    return applied;
  }

  #appliedOf(schemas: readonly OptionSchema[]): AppliedSchemas {
    const names = new Set(schemas.flatMap((schema) => Object.keys(propertiesOf(schema))));
    const listed = new Map<string, SchemaPlace>();
    const find = (key: string): SchemaPlace => this.of(schemas.flatMap((schema) => schemasFor(schema, key)));
    let items: SchemaPlace | undefined;
    const itemsOf = (): SchemaPlace =>
      this.of(schemas.flatMap((schema) => (isSchema(schema['items']) ? [schema['items']] : [])));
    return {
      names: [...names],
      isFree: schemas.some((schema) => schema['additionalProperties'] === true),
      get items() {
        return (items ??= itemsOf());
      },
      below: (key) => {
        // keys that people choose have no end, and are not kept
        if (!names.has(key)) return find(key);
        const place = listed.get(key) ?? find(key);
        listed.set(key, place);
        return place;
      },
    };
  }

  /** Returns a schema with those that apply beside it: references, `allOf`, the branches of a choice, `if` and `then`. */
  #partsOf(schema: OptionSchema): readonly Part[] {
    const before = this.#parts.get(schema);
    if (before !== undefined) return before;
    const { $ref, allOf, anyOf, oneOf } = schema;
    const parts = [
      schema,
      ...(typeof $ref === 'string' ? this.#partsOf(resolve(this.#root, $ref)) : []),
      ...branchesOf(allOf).flatMap((branch) => this.#partsOf(branch)),
      ...this.#choice(branchesOf(anyOf)),
      ...this.#choice(branchesOf(oneOf)),
      ...this.#condition(schema),
    ];
    this.#parts.set(schema, parts);
    return parts;
  }

  /** Chooses the branches of the value's kind; all of them when none fits, or the kind is missing. */
  #choice(branches: readonly OptionSchema[]): readonly Part[] {
    const all = branches.map((branch) => this.#partsOf(branch));
    const key = discriminatorOf(branches);
    if (key === undefined) return all.flat();
    const kinds = branches.map((branch) => fixedValues(branch, key) ?? []);
    return [
      (value) => {
        const kind = isObject(value) ? getKey(value, key) : undefined;
        const chosen = all.filter((_, index) => kinds[index]?.some((fixed) => fixed === kind));
        return (chosen.length > 0 ? chosen : all).flat();
      },
    ];
  }

  #condition(schema: OptionSchema): readonly Part[] {
    const condition = schema['if'];
    if (!isSchema(condition)) return [];
    const [then, otherwise] = [schema['then'], schema['else']].map((branch) =>
      isSchema(branch) ? this.#partsOf(branch) : [],
    );
    return [(value) => (isObject(value) && holds(condition, value) ? then : otherwise) ?? []];
  }

  /** Names a combination of schemas. */
  #keyOf(schemas: Iterable<OptionSchema>): string {
    let text = '';
    for (const schema of schemas) {
      const id = this.#ids.get(schema) ?? this.#ids.size;
      this.#ids.set(schema, id);
      text += `${id} `;
    }
    return text;
  }
}

function schemasIn(
  parts: readonly Part[],
  value: Json,
  found = new Set<OptionSchema>(),
): ReadonlySet<OptionSchema> {
  for (const part of parts) {
    if (typeof part === 'function') schemasIn(part(value), value, found);
    else found.add(part);
  }
  return found;
}

function deprecationIn(schemas: readonly OptionSchema[]): string | undefined {
  const old = schemas.find((schema) => schema['deprecated'] === true);
  return old && String(old['description']);
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
