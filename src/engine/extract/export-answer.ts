import { charsetOf, DEFAULT_FORMAT, textOf, xmlDocument } from '../formats/index.ts';
import type { JobRequest } from '../shared/message.ts';
import type { ExportSettings, Job } from '../jobs/index.ts';
import {
  entriesOf,
  flattenContext,
  isList,
  isObject,
  JsonSyntaxError,
  objectOf,
  parseExact,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { RecordedAnswer } from '../recording/exchanges.ts';
import { notJson } from '../records/answer.ts';
import type { PageSourceOptions } from './page-source.ts';

/** An answer of an export before its files. */
export interface StepAnswer {
  readonly request: JobRequest;
  readonly answer: RecordedAnswer;
  /** Null for an empty body. */
  readonly json: Json;
}

/** @throws {RecordError} for a body that is neither JSON nor XML */
export function stepAnswer(
  request: JobRequest,
  answer: RecordedAnswer,
  { secrets }: Pick<PageSourceOptions, 'secrets'>,
): StepAnswer {
  const { body, headers, url } = answer.response;
  const text = textOf(body, headers).trim();
  if (text === '') return { request, answer, json: null };
  if (/xml/i.test(headers['content-type'] ?? '') && text.startsWith('<')) {
    const bytes = {
      bytes: body.length,
      read: (at: number, length: number) => body.subarray(at, at + length),
    };
    return { request, answer, json: xmlDocument(bytes, DEFAULT_FORMAT.xml, charsetOf(headers).label) };
  }
  try {
    return { request, answer, json: parseExact(text) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw notJson(body, error, {
      describeUrl: () => secrets.redactUrl(url),
      redact: (shown) => secrets.redact(shown),
    });
  }
}

const HEADER = '@header.';

/**
 * Returns the context of `{"created": …}` and `{"polled": …}`: the values of the answer by their paths, and its
 * headers.
 */
export function contextOf({ json, answer: { response } }: StepAnswer): AnyObject {
  const values = isObject(json) || isList(json) ? entriesOf(flattenContext(json)) : [];
  const headers = Object.entries(response.headers).map(
    ([name, value]) => [`${HEADER}${name}`, value] as const,
  );
  return objectOf([...headers, ...values]);
}

/** Returns the names of the headers that the requests of an export refer to: they are recorded as they are. */
export function headersIn({ create, poll, address, download }: ExportSettings<Job>): readonly string[] {
  const text = JSON.stringify([create, poll, address, download]);
  const named = Array.from(text.matchAll(/"@header\.([\w-]+)"/g), ([, name = '']) => name.toLowerCase());
  const sources = Array.from(text.matchAll(/\{"header":"([\w-]+)"/g), ([, name = '']) => name.toLowerCase());
  return [...new Set(['retry-after', 'location', 'link', ...named, ...sources])];
}
