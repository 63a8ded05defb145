import { hash } from 'node:crypto';
import { ByteWriter } from '../bytes.ts';
import { floatSerialized } from './text.ts';
import { isObject, entriesOf, isList, JsonMap, JsonNumber, type AnyObject, type Json } from './value.ts';

type Entries = readonly (readonly [string, Json])[];

const NONE: Entries = [];
const out = new ByteWriter(1 << 12);

/**
 * Returns the type-tagged canonical text of a value; generated link ids are MD5 of it. Objects of a response are
 * `O:8:"stdClass"`; configuration maps are arrays with string keys ({@link serializeMap}).
 */
export function serialize(value: Json): string {
  out.length = 0;
  writeValue(value);
  return out.view().toString('utf8');
}

/** Serializes an object with properties appended; they replace properties of the same name in place. */
export function serializeWith(object: AnyObject, appended: Entries): string {
  out.length = 0;
  writeObject(object, appended);
  return out.view().toString('utf8');
}

/** Returns the MD5 of a serialized object with properties appended, followed by a text. */
export function md5OfObject(object: AnyObject, appended: Entries | undefined, behind: string): string {
  out.length = 0;
  writeObject(object, appended ?? NONE);
  if (behind !== '') out.text(behind);
  return hash('md5', out.view());
}

/** Returns properties as they are appended to an object before it is hashed. */
export function serializedEntries(appended: Entries): string {
  out.length = 0;
  for (const [key, value] of appended) {
    writeKey(key);
    writeValue(value);
  }
  return out.view().toString('utf8');
}

/** Serializes a configuration map: an array with string keys, or integer keys where they are canonical integers. */
export function serializeMap(map: AnyObject): string {
  const entries = entriesOf(map);
  let text = `a:${entries.length}:{`;
  for (const [key, value] of entries) {
    text += /^(?:0|-?[1-9]\d{0,17})$/.test(key) ? `i:${key};` : serialize(key);
    text += isObject(value) ? serializeMap(value) : serialize(value);
  }
  return `${text}}`;
}

export function md5(text: string): string {
  return hash('md5', text);
}

function writeValue(value: Json): void {
  if (typeof value === 'string') writeText(value);
  else if (typeof value === 'number') {
    if (Number.isInteger(value)) out.text(`i:${value};`);
    else writeFloat(value);
  } else if (value === null) out.text('N;');
  else if (typeof value === 'boolean') out.text(value ? 'b:1;' : 'b:0;');
  else if (value instanceof JsonNumber) {
    if (value.isInteger) out.text(`i:${value.literal === '-0' ? '0' : value.literal};`);
    else writeFloat(value.value);
  } else if (isList(value)) {
    out.text(`a:${value.length}:{`);
    for (let i = 0; i < value.length; i++) {
      out.text(`i:${i};`);
      writeValue(value[i] ?? null);
    }
    out.byte(0x7d);
  } else writeObject(value, NONE);
}

function writeFloat(value: number): void {
  out.text('d:');
  out.text(floatSerialized(value));
  out.byte(0x3b);
}

function writeObject(object: AnyObject, appended: Entries): void {
  if (object instanceof JsonMap || appended.some(([key]) => Object.hasOwn(object, key))) {
    writeEntries([...new Map<string, Json>([...entriesOf(object), ...appended])]);
    return;
  }
  const keys = Object.keys(object);
  out.text(`O:8:"stdClass":${keys.length + appended.length}:{`);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    writeKey(key);
    writeValue(object[key] ?? null);
  }
  for (const [key, value] of appended) {
    writeKey(key);
    writeValue(value);
  }
  out.byte(0x7d);
}

function writeEntries(entries: Entries): void {
  out.text(`O:8:"stdClass":${entries.length}:{`);
  for (const [key, value] of entries) {
    writeKey(key);
    writeValue(value);
  }
  out.byte(0x7d);
}

/** Writes `s:<bytes>:"<text>";`. The length is first assumed to be that of ASCII. */
function writeText(text: string): void {
  const { length } = text;
  if (length < HEADS.length && out.framed(HEADS[length] ?? '', text, TAIL)) return;
  out.text(`s:${Buffer.byteLength(text)}:"`);
  out.text(text);
  out.text(TAIL);
}

const TAIL = '";';
const HEADS = Array.from({ length: 64 }, (_, length) => `s:${length}:"`);

const keyTexts = new Map<string, string>();

/** Writes a key. Its text is cached, since keys repeat with every row. */
function writeKey(key: string): void {
  let text = keyTexts.get(key);
  if (text === undefined) {
    text = `s:${Buffer.byteLength(key)}:"${key}";`;
    if (keyTexts.size < 10_000) keyTexts.set(key, text);
  }
  out.text(text);
}
