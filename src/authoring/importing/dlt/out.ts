import { Untaken } from './findings.ts';
import { momentOf } from './moments.ts';
import type { SourceSettings } from './dlt-settings.ts';
import {
  call,
  PythonCall,
  Code,
  isList,
  Setting,
  TextParts,
  ValueMap,
  type TranslatedValue,
  type Value,
} from './value.ts';

/** Joins texts and references; text alone stays one. */
export function joined(parts: readonly TranslatedValue[]): TranslatedValue {
  const merged: TranslatedValue[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    const isText = typeof part !== 'object';
    if (isText && typeof last === 'string') merged[merged.length - 1] = `${last}${String(part)}`;
    else merged.push(isText ? String(part) : part);
  }
  const [only = ''] = merged;
  return merged.length < 2 ? only : call('concat', ...merged);
}

/** Returns a scalar: itself, a setting, or a text with settings. @throws {Untaken} for anything else */
export function scalarOut(value: Value | undefined, settings: SourceSettings): TranslatedValue {
  if (value instanceof Setting) return settings.reference(value);
  if (value instanceof TextParts)
    return joined(value.parts.map((part) => (typeof part === 'string' ? part : settings.reference(part))));
  if (value instanceof Code || value instanceof PythonCall) {
    const moment = momentOf(value.text);
    if (moment !== undefined) return moment;
    throw new Untaken('Python code', value);
  }
  if (value === undefined || isList(value) || value instanceof ValueMap)
    throw new Untaken('a value that is no text', value);
  return value;
}

/** Returns a text as Python writes it: `True`, `None`. */
export function textOut(value: Value | undefined, settings: SourceSettings): TranslatedValue {
  const out = scalarOut(value, settings);
  if (typeof out === 'boolean') return out ? 'True' : 'False';
  return out === null ? 'None' : out;
}

/** Returns a text that is known now. @throws {Untaken} */
export function plainText(value: Value | undefined, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new Untaken(`“${what}” that is no text`, value);
}
