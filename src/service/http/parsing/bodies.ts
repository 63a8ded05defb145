import type { MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseExact, type Json } from '../../../lib/json/index.ts';
import { badRequest, ApiError } from '../../domain/api-error.ts';
import { MAX_BODY_BYTES } from '../../domain/request-limits.ts';
import { nest, parseQuery } from './nest.ts';
import { reasonOf } from '../../../lib/errors.ts';

/**
 * Reads JSON and forms into {@link Json}: exact numbers and key order, lists and objects by brackets. Every route
 * accepts both, and an empty body of either kind.
 */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/(?:[\w.-]+\+)?json/i,
    { parseAs: 'string' },
    ({ visit }, text, done) => {
      settle(() => parseJson(text.toString(), visit), done);
    },
  );
  app.addContentTypeParser(
    /^application\/x-www-form-urlencoded/i,
    { parseAs: 'string' },
    (_request, text, done) => {
      settle(() => parseForm(text.toString()), done);
    },
  );
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
    settle(() => parseUnnamed(text.toString()), done);
  });
}

/** Reads the fields of a multipart body; a file sent in place of a field counts as its text. */
export async function readMultipart(
  request: FastifyRequest,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<Json> {
  const pairs: [string, string][] = [];
  let left = maxBytes;
  try {
    for await (const { fieldname, file } of request.parts({
      ...AS_STREAMS,
      limits: { fileSize: maxBytes + 1 },
    }) as AsyncIterable<MultipartFile>) {
      const text = await readField(request, file, left);
      left -= text.length;
      pairs.push([fieldname, text]);
    }
  } catch (error) {
    if (error instanceof ApiError || (error as { statusCode?: unknown }).statusCode === 413) throw error;
    throw new ApiError(400, 'malformedRequest', 'The multipart body of the request is broken.', {
      cause: error,
    });
  }
  return nest(pairs);
}

/**
 * Option by which every part comes as a stream, so that the stored bytes are limited while it comes; and a part of
 * type JSON is a text with all its digits.
 */
export const AS_STREAMS = { isPartAFile: () => true } as const;

/**
 * Reads the text of a part of a multipart body, which is in memory from then on.
 *
 * @throws {ApiError} 413, and 503 when there is no memory for it
 */
export async function readField(
  { visit }: Pick<FastifyRequest, 'visit'>,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    visit?.hold(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

const tooLarge = (): ApiError =>
  new ApiError(413, 'requestTooLarge', 'The body of the request is larger than allowed.');

function settle(parse: () => Json, done: (error: Error | null, body?: unknown) => void): void {
  let body: Json;
  try {
    body = parse();
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  done(null, body);
}

function parseJson(text: string, visit: FastifyRequest['visit']): Json {
  const bare = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (bare.trim() === '') return {};
  const values = countValues(bare);
  if (values > MAX_VALUES)
    throw new ApiError(
      413,
      'requestTooLarge',
      `The JSON of the request has more than ${MAX_VALUES} values. Send less at a time; rows go into a file.`,
    );
  // The memory of the text itself is counted already.
  visit?.hold(Math.max(0, values * BYTES_OF_VALUE - bare.length));
  let body: Json;
  try {
    body = parseExact(bare);
  } catch (error) {
    const reason = reasonOf(error);
    throw badRequest('malformedRequest', `The body of the request is not valid JSON: ${reason}.`);
  }
  if (typeof body !== 'object')
    throw badRequest('malformedRequest', 'The body of the request must be a JSON object.');
  return body ?? {};
}

/** Values of a configuration of 4 MB; more would make other requests wait too long while they are read. */
const MAX_VALUES = 1_000_000;
/** Bytes of an empty list, and of its place in another. */
const BYTES_OF_VALUE = 64;

/**
 * Counts the values of a JSON text, at most: as many as there are brackets and commas outside of strings. It stops at
 * too many.
 */
function countValues(text: string): number {
  let count = 1;
  for (let at = 0; at < text.length && count <= MAX_VALUES; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === BRACKET || code === BRACE) count += 1;
  }
  return count;
}

const [QUOTE, COMMA, BRACKET, BRACE, BACKSLASH] = [0x22, 0x2c, 0x5b, 0x7b, 0x5c];

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE && at < text.length; code = text.charCodeAt(at))
    at += code === BACKSLASH ? 2 : 1;
  return at;
}

function parseForm(text: string): Json {
  if (/^[&\s+]*\{/.test(text))
    throw badRequest(
      'malformedRequest',
      'The body of the request looks like JSON, but its Content-Type says that it is a form.',
    );
  return parseQuery(text);
}

function parseUnnamed(text: string): Json {
  if (text.trim() === '') return {};
  throw new ApiError(
    415,
    'unsupportedMediaType',
    'Send JSON, a form or multipart, and say so in Content-Type.',
  );
}
