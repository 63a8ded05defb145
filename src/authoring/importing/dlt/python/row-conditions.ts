import { call, type TranslatedValue } from '../value.ts';

export function negated(condition: TranslatedValue): TranslatedValue {
  if (typeof condition === 'boolean') return !condition;
  if (isObject(condition) && condition['not'] !== undefined) return condition['not'];
  return { not: condition };
}

export function both(left: TranslatedValue, right: TranslatedValue): TranslatedValue {
  if (left === false || right === false) return false;
  return left === true ? right : right === true ? left : { all: [left, right] };
}

export function either(left: TranslatedValue, right: TranslatedValue): TranslatedValue {
  if (left === true || right === true) return true;
  return left === false ? right : right === false ? left : { any: [left, right] };
}

/** Returns a condition as a call of functions. */
export function asCall(condition: TranslatedValue): TranslatedValue {
  if (!isObject(condition)) return condition;
  const { not, all, any, value = null, is = '', than, as } = condition;
  if (not !== undefined) return call('not', asCall(not));
  for (const [word, parts] of Object.entries({ all, any }))
    if (Array.isArray(parts)) return call(word, ...parts.map((part: TranslatedValue) => asCall(part)));
  const rest = as === undefined ? (than === undefined ? [] : [than]) : [than ?? null, as];
  return call('is', value, is, ...rest);
}

export function isObject(value: TranslatedValue): value is { readonly [key: string]: TranslatedValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
