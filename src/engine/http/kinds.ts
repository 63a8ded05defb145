import { kind as kindOf, type OptionKind, type OptionSchema } from '../../lib/option.ts';

/** Creates options that share keywords, which come first. */
export function kind(keywords: OptionSchema): OptionKind {
  return kindOf({}, keywords);
}

/** A text that is not empty. */
export const text = kind({ type: 'string', minLength: 1 });

/** A text or a number, or a function that gives one. */
export const value = kind({ type: ['string', 'number', 'object'] });

/** A text, or a function that gives it. */
export const textValue = kind({ type: ['string', 'object'] });

export const object = kind({ type: 'object' });

/** An object; a list stands for an empty one, as some editors write it. */
export const map = kind({ type: ['object', 'array'] });

/** The same, where null is none. */
export const optionalMap = kind({ type: ['object', 'array', 'null'] });

/** Names and values. */
export const values = kind({ type: ['object', 'array'], default: {} });

export const optionalText = kind({ type: ['string', 'null'] });

/** A text; a number stands for its text. */
export const name = kind({ type: ['string', 'number'] });

/** Creates the `type` of an authentication. */
export function typeNamed(word: string, description: string): OptionSchema {
  return kind({ const: word })('Type', description, [word]);
}
