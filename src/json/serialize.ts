import { hash } from 'node:crypto';
import { floatSerialized } from './text.ts';
import { entriesOf, isList, JsonMap, JsonNumber, type AnyObject, type Json } from './value.ts';

/**
 * The type-tagged canonical text of a value (spec extractor 0.8); generated link ids are MD5 of it.
 * Objects of a response are `O:8:"stdClass"`; configuration maps are arrays with string keys (`serializeMap`).
 */
export function serialize(value: Json): string {
  if (typeof value === 'string') return serializedText(value);
  if (typeof value === 'number') return Number.isInteger(value) ? `i:${value};` : `d:${floatDigits(value)};`;
  if (value === null) return 'N;';
  if (typeof value === 'boolean') return value ? 'b:1;' : 'b:0;';
  if (value instanceof JsonNumber) {
    if (value.isInteger) return `i:${value.literal === '-0' ? '0' : value.literal};`;
    return `d:${floatDigits(value.value)};`;
  }
  if (isList(value)) {
    let out = `a:${value.length}:{`;
    for (let i = 0; i < value.length; i++) out += `i:${i};${serialize(value[i] ?? null)}`;
    return `${out}}`;
  }
  return serializeWith(value, NO_ENTRIES);
}

const NO_ENTRIES: readonly (readonly [string, Json])[] = [];

/** An object with properties appended; they replace properties of the same name in place. */
export function serializeWith(object: AnyObject, appended: readonly (readonly [string, Json])[]): string {
  if (object instanceof JsonMap || appended.some(([key]) => Object.hasOwn(object, key))) {
    return serializeEntries([...new Map<string, Json>([...entriesOf(object), ...appended])]);
  }
  const keys = Object.keys(object);
  let out = `O:8:"stdClass":${keys.length + appended.length}:{`;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    out += serializedKey(key) + serialize(object[key] ?? null);
  }
  for (const [key, value] of appended) out += serializedKey(key) + serialize(value);
  return `${out}}`;
}

function serializeEntries(entries: readonly (readonly [string, Json])[]): string {
  let out = `O:8:"stdClass":${entries.length}:{`;
  for (const [key, value] of entries) out += serializedKey(key) + serialize(value);
  return `${out}}`;
}

const floats = new Map<number, string>();

/** Seventeen digits are dear to work out, and the same fractions come again and again: the last thousands are kept. */
function floatDigits(value: number): string {
  let digits = Object.is(value, -0) ? '-0' : floats.get(value);
  if (digits === undefined) {
    digits = floatSerialized(value);
    if (floats.size >= 20_000) floats.clear();
    floats.set(value, digits);
  }
  return digits;
}

/** A configuration map: an array with string keys, or integer keys where they are canonical integers. */
export function serializeMap(map: AnyObject): string {
  const entries = entriesOf(map);
  let out = `a:${entries.length}:{`;
  for (const [key, value] of entries) {
    out += /^(?:0|-?[1-9]\d{0,17})$/.test(key) ? `i:${key};` : serializedKey(key);
    out += isMapLike(value) ? serializeMap(value) : serialize(value);
  }
  return `${out}}`;
}

export function md5(text: string): string {
  return hash('md5', text);
}

const keyTexts = new Map<string, string>();

function serializedKey(key: string): string {
  let text = keyTexts.get(key);
  if (text === undefined) {
    text = serializedText(key);
    if (keyTexts.size < 10_000) keyTexts.set(key, text);
  }
  return text;
}

function serializedText(text: string): string {
  return `s:${byteLength(text)}:"${text}";`;
}

/** Length in UTF-8 bytes; short ASCII text, the usual case, without leaving JavaScript. */
function byteLength(text: string): number {
  if (text.length > 64) return Buffer.byteLength(text);
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}

function isMapLike(value: Json): value is AnyObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}
