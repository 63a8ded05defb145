/** JSON Schema fragment of a stage's options; `config/schema.ts` assembles them. */
export type OptionSchema = Readonly<Record<string, unknown>>;

/**
 * Makes the schema of one option.
 *
 * @param more the values it takes, its default, examples and other keywords; or its examples alone
 */
export type OptionKind = (title: string, description: string, more?: More) => OptionSchema;

type More = OptionSchema | readonly unknown[];

/**
 * Makes a factory of options that have the same keywords, such as their type.
 *
 * @param first keywords that stand before the title
 */
export function kind(keywords: OptionSchema, first?: OptionSchema): OptionKind {
  return (title, description, more) => ({
    ...first,
    title,
    description,
    ...keywords,
    ...(isList(more) ? { examples: more } : more),
  });
}

/** Tells whether it is a list. `Array.isArray` does not distinguish a readonly list from an object. */
function isList(more: More | undefined): more is readonly unknown[] {
  return Array.isArray(more);
}

/** Option of any kind. */
export const option = kind({});

export const text = kind({ type: 'string' });

/** Text; null means none. */
export const optionalText = kind({ type: ['string', 'null'] });

/** Text; a number stands for its text. */
export const name = kind({ type: ['string', 'number'] });

/** Whole number, or its text; null means none. */
export const whole = kind({ type: ['integer', 'string', 'null'] });

export const object = kind({ type: 'object' });

/** Object; null and a list stand for an empty one. */
export const map = kind({ type: ['object', 'array', 'null'] });

/** Returns a reference to a definition of the whole schema. */
export function definition(of: string): OptionSchema {
  return { $ref: `#/definitions/${of}` };
}
