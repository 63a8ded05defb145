import { entriesOf, getKey, isList, isNumber, isObject, JsonNumber, sizeOf, type Json } from './value.ts';

/** Tells whether two values are the same JSON value: numbers by value, objects whatever the order of their keys. */
export function equalJson(a: Json, b: Json): boolean {
  if (isNumber(a) && isNumber(b)) return equalNumbers(a, b);
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, i) => equalJson(item, b[i] ?? null));
  if (isObject(a) && isObject(b))
    return (
      sizeOf(a) === sizeOf(b) &&
      entriesOf(a).every(([key, item]) => {
        const other = getKey(b, key);
        return other !== undefined && equalJson(item, other);
      })
    );
  return a === b;
}

/** Compares two numbers; integers exactly, as they may be beyond 2^53. */
function equalNumbers(a: number | JsonNumber, b: number | JsonNumber): boolean {
  const [x, y] = [literalOf(a), literalOf(b)];
  if (/^-?\d+$/.test(x) && /^-?\d+$/.test(y)) return BigInt(x) === BigInt(y);
  return Number(x) === Number(y);
}

function literalOf(number: number | JsonNumber): string {
  return number instanceof JsonNumber ? number.literal : String(number);
}
