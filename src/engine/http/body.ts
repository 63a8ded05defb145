import { hash } from 'node:crypto';
import { HttpError } from '../../lib/errors.ts';
import { entriesOf, getKey, isList, isObject, toJsonText, toText, type Json } from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { encodeForm, type ListStyle } from './encode.ts';
import type { BodyFormat } from '../shared/message.ts';
import { encodeXml } from './xml-body.ts';

export interface EncodedBody {
  readonly body: string;
  readonly contentType: string;
}

/**
 * Writes a body in its format. A text is sent as it is in every format but `multipart`, which has parts.
 *
 * @throws {HttpError} `job.invalid` for a value that the format cannot say
 */
export function encodeBody(value: Json, format: BodyFormat, lists?: ListStyle): EncodedBody {
  if (format === 'multipart') return encodeMultipart(value);
  return {
    body: typeof value === 'string' ? value : WRITERS[format](value, lists),
    contentType: TYPES[format],
  };
}

const TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
} as const;

const WRITERS: Readonly<Record<keyof typeof TYPES, (value: Json, lists?: ListStyle) => string>> = {
  json: toJsonText,
  form: encodeForm,
  text: (value) => (isObject(value) || isList(value) ? toJsonText(value) : toText(value)),
  xml: (value) => encodeXml(value),
};

/**
 * Encodes `multipart/form-data` (RFC 7578), with the parts in their order: a text for a scalar, JSON for an object, a
 * part for each item of a list. `{"content": …, "filename": …, "contentType": …}` is a part with the name of a file or
 * a type of its own.
 *
 * The boundary follows from the parts, so that the same request has the same bytes when a run is resumed.
 */
function encodeMultipart(value: Json): EncodedBody {
  if (!isObject(value) && !(isList(value) && value.length === 0))
    throw invalid(`A multipart body is an object of parts, and here is ${kindOf(value)}.`);
  const parts = (isObject(value) ? entriesOf(value) : []).flatMap(([name, part]) =>
    (isList(part) ? part : [part]).map((item) => partText(name, item)),
  );
  const boundary = freeBoundary(parts);
  const body = [...parts.map((part) => `--${boundary}\r\n${part}\r\n`), `--${boundary}--\r\n`].join('');
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}

function partText(name: string, part: Json): string {
  const file = isObject(part) && getKey(part, 'content') !== undefined ? part : undefined;
  const content = file === undefined ? part : (getKey(file, 'content') ?? '');
  const isJson = isObject(content) || isList(content);
  const filename = file === undefined ? undefined : getKey(file, 'filename');
  const type =
    (file === undefined ? undefined : getKey(file, 'contentType')) ?? (isJson ? TYPES.json : undefined);
  const headers = [
    `Content-Disposition: form-data; name="${quoted(name)}"${
      filename === undefined ? '' : `; filename="${quoted(toText(filename))}"`
    }`,
    ...(type === undefined ? [] : [`Content-Type: ${headerText(toText(type))}`]),
  ];
  return `${headers.join('\r\n')}\r\n\r\n${isJson ? toJsonText(content) : toText(content)}`;
}

/** Escapes a name as browsers do (HTML, multipart form data). */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

function headerText(text: string): string {
  if (/[\r\n]/.test(text)) throw invalid('The type of a part of a multipart body has a line break.');
  return text;
}

function freeBoundary(parts: readonly string[]): string {
  for (let salt = 0; ; salt++) {
    const boundary = `gex-${hash('sha256', [salt, ...parts].join('\0')).slice(0, 32)}`;
    if (!parts.some((part) => part.includes(boundary))) return boundary;
  }
}

function invalid(message: string): HttpError {
  return new HttpError('job.invalid', message, {
    hint: 'Correct “body” or “bodyFormat” of the job.',
  });
}
