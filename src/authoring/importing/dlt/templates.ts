import { Untaken } from './findings.ts';
import { joined, scalarOut, textOut } from './out.ts';
import type { SourceSettings } from './dlt-settings.ts';
import { isList, type TranslatedValue, TextParts, type Value, ValueMap } from './value.ts';

export type TemplatePart = { readonly text: string } | { readonly field: string };

/** Splits a text as `str.format` does: `issues/{resources.issues.number}/comments`, `{{` is a brace. */
export function partsOf(text: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let plain = '';
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if ((sign === '{' || sign === '}') && text.charAt(at + 1) === sign) {
      plain += sign;
      at++;
    } else if (sign === '{') {
      const end = text.indexOf('}', at);
      if (end === -1) throw new Untaken('a brace that is not closed', text);
      const field = text.slice(at + 1, end);
      if (/[!:]/.test(field)) throw new Untaken('a placeholder with a format', text);
      if (plain !== '') parts.push({ text: plain });
      plain = '';
      parts.push({ field: field.trim() });
      at = end;
    } else if (sign === '}') throw new Untaken('a brace that was not opened', text);
    else plain += sign;
  }
  if (plain !== '' || parts.length === 0) parts.push({ text: plain });
  return parts;
}

/** Returns the fields of all texts in a value. */
export function fieldsOf(value: Value | undefined): readonly string[] {
  if (typeof value === 'string') {
    try {
      return partsOf(value).flatMap((part) => ('field' in part ? [part.field] : []));
    } catch (error) {
      if (error instanceof Untaken) return []; // told where the value is used
      throw error;
    }
  }
  if (isList(value)) return value.flatMap((item) => fieldsOf(item));
  if (value instanceof ValueMap)
    return [...value.entries].flatMap(([key, item]) => [...fieldsOf(key), ...fieldsOf(item)]);
  return [];
}

/**
 * Resolves a field at the place of its use.
 *
 * @param keepsKind false where the value becomes a text, or a part of one
 * @throws {Untaken} for a field that nothing is known of
 */
export type Resolve = (field: string, keepsKind: boolean) => TranslatedValue;

/**
 * Returns a scalar with its fields put in. A text that is only one field keeps the kind of its value when `keepsKind`.
 */
function filled(
  value: Value | undefined,
  resolve: Resolve,
  settings: SourceSettings,
  keepsKind: boolean,
): TranslatedValue {
  if (typeof value !== 'string')
    return keepsKind || value === null ? scalarOut(value, settings) : textOut(value, settings);
  const parts = partsOf(value);
  const isWhole = parts.length === 1;
  const out = parts.map((part) => ('text' in part ? part.text : resolve(part.field, keepsKind && isWhole)));
  const [only] = out;
  return isWhole && only !== undefined ? only : joined(out);
}

/** Returns a value of any kind with the fields of its texts put in. */
export function deepFilled(
  value: Value | undefined,
  resolve: Resolve,
  settings: SourceSettings,
): TranslatedValue {
  if (isList(value)) return value.map((item) => deepFilled(item, resolve, settings));
  if (value instanceof ValueMap) {
    refuseOpen(value);
    return Object.fromEntries(
      [...value.entries].map(([key, item]) => [keyOf(key), deepFilled(item, resolve, settings)]),
    );
  }
  if (value instanceof TextParts) return scalarOut(value, settings);
  return filled(value, resolve, settings, true);
}

/**
 * Returns the entries of a map of texts, with their fields put in.
 *
 * @param takesLists whether a value may be a list, each of whose items is sent
 */
export function filledMap(
  value: Value | undefined,
  resolve: Resolve,
  settings: SourceSettings,
  takesLists = false,
): Record<string, TranslatedValue> {
  if (value === undefined || value === null) return {};
  if (!(value instanceof ValueMap)) throw new Untaken('a map that is none', value);
  refuseOpen(value);
  const entries = [...value.entries].filter(([, item]) => item !== null);
  const one = (item: Value | undefined): TranslatedValue => filled(item, resolve, settings, false);
  return Object.fromEntries(
    entries.flatMap(([key, item]): [string, TranslatedValue][] => {
      if (!takesLists || !isList(item)) return [[keyOf(key), one(item)]];
      const items = item.filter((each) => each !== null).map(one);
      // a list that is sent is not worked out
      if (items.some((each) => typeof each === 'object'))
        throw new Untaken('a list with values that are known only in a run', item);
      return items.length === 0 ? [] : [[keyOf(key), items]];
    }),
  );
}

export function refuseOpen({ open }: ValueMap): void {
  const [code] = open;
  if (code !== undefined) throw new Untaken('keys that code makes', code);
}

function keyOf(key: string): string {
  const parts = partsOf(key);
  if (parts.some((part) => 'field' in part)) throw new Untaken('a placeholder in a key', key);
  return parts.map((part) => ('text' in part ? part.text : '')).join('');
}
