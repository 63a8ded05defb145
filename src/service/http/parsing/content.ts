import { encodeExact, isList, isObject, parseExact, type Json } from '../../../lib/json/index.ts';
import { badRequest } from '../../domain/api-error.ts';
import { reasonOf } from '../../../lib/errors.ts';

/** Largest configuration or state, in bytes. */
const MAX_CONTENT_BYTES = 4 * 1024 * 1024;

/**
 * Reads the content of a configuration or a state as text to be stored: given as a JSON value, or as text that holds
 * JSON (a form field, also a string inside a JSON body). Nothing in it is renamed, unwrapped or rounded.
 *
 * @throws {ApiError} 400 with the code of the field when it is no JSON object or list, or too large
 */
export function readContent(value: Json | undefined, field: 'configuration' | 'state'): string | undefined {
  if (value === undefined || value === null) return undefined;
  const content = contentOf(value, (text) => parseText(text, field));
  if (!isList(content) && !isObject(content)) throw wrongFormat(field, `The ${field} is not a JSON object.`);
  const text = encodeExact(content);
  if (Buffer.byteLength(text) > MAX_CONTENT_BYTES)
    throw badRequest('storage.components.validation', `The ${field} is larger than 4 MB.`);
  return text;
}

/** Tells whether a value is a JSON object or list, or text that holds one. */
export function isContent(value: Json): boolean {
  try {
    const content = contentOf(value, parseExact);
    return isList(content) || isObject(content);
  } catch {
    return false;
  }
}

/** Returns the value of JSON that may be encoded twice, as some clients do: JSON text of a text that holds JSON. */
function contentOf(value: Json, parse: (text: string) => Json): Json {
  const content = typeof value === 'string' ? parse(value) : value;
  return typeof value === 'string' && typeof content === 'string' ? parse(content) : content;
}

function parseText(text: string, field: 'configuration' | 'state'): Json {
  try {
    return parseExact(text);
  } catch (error) {
    const reason = reasonOf(error);
    throw wrongFormat(
      field,
      `The ${field} is not valid JSON: ${reason}. In a form, the JSON text must be URL-encoded.`,
    );
  }
}

const wrongFormat = (field: 'configuration' | 'state', message: string): Error =>
  badRequest(
    field === 'configuration' ? 'validation.invalidConfigurationFormat' : 'validation.invalidStateFormat',
    message,
  );
