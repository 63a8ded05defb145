import { Float, isItems, isMapping, TemplateError, type Constant } from './ast.ts';

/** The result of a function that can't be worked out with these arguments. */
export const NOT_SAID = Symbol('not said');
export type NotSaid = typeof NOT_SAID;

export function isTruthy(value: Constant): boolean {
  if (value instanceof Float) return value.value !== 0;
  if (isItems(value)) return value.length > 0;
  if (isMapping(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

export function isEqual(left: Constant, right: Constant): boolean {
  const [a, b] = [plain(left), plain(right)];
  if (isItems(a) && isItems(b)) return a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  if (isMapping(a) && isMapping(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
    );
  }
  return (a ?? null) === (b ?? null) && (a === undefined) === (b === undefined);
}

/** Booleans are numbers where they are compared with them. */
export function plain(value: Constant): Constant {
  if (value instanceof Float) return value.value;
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Longest text that is worked out: a few replacements inside of each other could make one that fills the memory. */
const MAX_TEXT = 1_000_000;

/** @throws {TemplateError} for a text that is too long */
export function limited(text: string): string {
  refuseLength(text.length);
  return text;
}

/** @throws {TemplateError} for the length of a text that would be too long */
export function refuseLength(length: number): void {
  if (length > MAX_TEXT) throw new TemplateError('a text that is too long');
}
