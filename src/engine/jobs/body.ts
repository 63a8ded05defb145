import type { BodyFormat } from '../shared/message.ts';
import { getKey, isList, isObject, sizeOf, type AnyObject, type Json } from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { jobError, read } from './read-job.ts';

export const BODY_FORMATS: readonly BodyFormat[] = ['json', 'form', 'text', 'xml', 'multipart'];

/**
 * Reads `body` and `bodyFormat` of a job.
 *
 * @param at JSON path of the job
 * @throws {JobError} for a body that its format cannot be, or parameters that have no place beside it
 */
export function readBody(
  node: AnyObject,
  method: string,
  at: string,
): { readonly body?: Json; readonly bodyFormat?: BodyFormat } {
  const bodyFormat = read.word(node, 'bodyFormat', at, BODY_FORMATS);
  const body = getKey(node, 'body') ?? '';
  if (method === 'FORM' && bodyFormat !== undefined && bodyFormat !== 'form')
    throw jobError(
      `${at}.bodyFormat`,
      `The method FORM sends a form, not “${bodyFormat}”`,
      'Write "method": "POST".',
    );
  const format = bodyFormat === undefined ? {} : { bodyFormat };
  if (body === '') return format;
  if (typeof body !== 'string' && !isObject(body) && !isList(body))
    throw jobError(
      `${at}.body`,
      `“body” must be an object, a list or a text, not ${kindOf(body)}`,
      'Put it into quotes to send it as text.',
    );
  checkKind(body, bodyFormat ?? (method === 'FORM' ? 'form' : undefined), at);
  if (!isObject(body) && getKey(node, 'paramsIn') === 'body')
    throw jobError(
      `${at}.paramsIn`,
      `Parameters cannot go into a body that is ${kindOf(body)}`,
      'Leave “paramsIn” out, so that they go into the query, or write the body as an object.',
    );
  return { body, ...format };
}

function checkKind(body: Json, format: BodyFormat | undefined, at: string): void {
  const isMap = isObject(body);
  const isCall = isMap && getKey(body, 'function') !== undefined;
  if (isCall) return;
  const path = `${at}.body`;
  if (isList(body) && (format === 'form' || format === 'xml' || format === 'multipart'))
    throw jobError(path, `A list cannot be sent as “${format}”`, 'Write the body as an object.');
  if (format === 'multipart' && !isMap)
    throw jobError(
      path,
      `A multipart body is an object of parts, not ${kindOf(body)}`,
      'Write {"name": "value"}.',
    );
  if (format === 'xml' && isMap && sizeOf(body) !== 1)
    throw jobError(
      path,
      `An XML body has one outermost element, and here are ${sizeOf(body)} keys`,
      'Put them into one.',
    );
}
