import { encodeExact, JsonMap, JsonNumber } from '../../lib/json/index.ts';
import { RawJson, type Reply } from './reply.ts';

/** The JSON text of an answer; raw parts are spliced in as they are. */
export function encodeReply(value: Reply): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isPlain(value)) return JSON.stringify(value);
  if (value instanceof RawJson) return value.text;
  if (value instanceof JsonNumber || value instanceof JsonMap) return encodeExact(value);
  if (isReplyList(value)) return `[${value.map(encodeReply).join(',')}]`;
  let text = '{';
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${encodeReply(item)}`;
  }
  return `${text}}`;
}

/** Tells whether `JSON.stringify` writes the value the same, which is many times as fast: most long lists are such. */
function isPlain(value: Reply | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof RawJson || value instanceof JsonNumber || value instanceof JsonMap) return false;
  if (isReplyList(value)) return value.every(isPlain);
  for (const key in value) if (!isPlain(value[key])) return false;
  return true;
}

// Array.isArray alone doesn't narrow a readonly list away.
function isReplyList(value: Reply): value is readonly Reply[] {
  return Array.isArray(value);
}
