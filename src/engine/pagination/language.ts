import type { JobRequest } from '../shared/message.ts';
import { getKey, isEmpty, type AnyObject, type Json } from '../../lib/json/index.ts';
import {
  ANSWER_KINDS,
  compileCondition,
  compilePlace,
  compileSource,
  type Condition,
  type Kind,
  type Place,
  type Source,
} from '../language/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import type { MethodContext, PaginatedJob } from './paginator.ts';
import { placeOf } from './request.ts';
import { invalid } from './pagination-settings.ts';

/** Kinds of values that sources of a pagination may read: the exchange, and the contexts of the job. */
const PAGE_KINDS: readonly Kind[] = [...ANSWER_KINDS, 'first', 'last', 'min', 'max'];

type Context = Pick<MethodContext, 'at' | 'call'>;

export interface SourceForm {
  /** Separator between the keys of a plain path. */
  readonly delimiter?: string | undefined;
  readonly isKeyFirst?: boolean;
}

/** Reads the source that a key holds. */
function sourceAt(
  options: AnyObject,
  key: string,
  { at, call }: Context,
  form: SourceForm = {},
): Source | undefined {
  const value = getKey(options, key);
  if (isEmpty(value) || value === undefined) return undefined;
  return compileSource(value, { at: `${at}.${key}`, call, kinds: PAGE_KINDS, invalid, ...form });
}

/** Reads the source that a key must hold. */
export function requiredSource(
  options: AnyObject,
  key: string,
  context: Context,
  form: SourceForm = {},
): Source {
  const source = sourceAt(options, key, context, form);
  if (source !== undefined) return source;
  throw invalid(
    `${context.at}.${key}`,
    `\`${key}\` is missing.`,
    `Set \`${key}\` to a path in the response, or to a source such as {"last": "id"}.`,
  );
}

/** Returns the names of the values that a source reads, as page signals name them. */
export function leadsOf(source: Source): readonly string[] {
  const { text, path, needs } = source;
  return needs.headers.length > 0
    ? needs.headers.map((name) => `header ${name}`)
    : [path?.keys?.join('.') ?? text];
}

export function conditionAt(value: Json, at: string, { call }: Context): Condition {
  return compileCondition(value, { at, call, kinds: PAGE_KINDS, invalid });
}

/** Reads the place that a key holds; the name of a parameter where it holds none. */
export function placeAt(
  options: AnyObject,
  key: string,
  job: PaginatedJob,
  { at }: Context,
  fallback?: string,
): Place {
  const given = getKey(options, key);
  const value = isEmpty(given) ? fallback : given;
  if (value === undefined)
    throw invalid(
      `${at}.${key}`,
      `\`${key}\` is missing.`,
      `Set \`${key}\` to the name of a parameter, or to a place such as {"body": "variables.after"}.`,
    );
  if (typeof value === 'boolean')
    throw invalid(`${at}.${key}`, `\`${key}\` must be a place in the request, and it is ${kindOf(value)}.`);
  return compilePlace(value, { at: `${at}.${key}`, by: placeOf(options, job, at), invalid });
}

/**
 * Throws when a place is not in the request.
 *
 * @param at JSON path of the place
 * @throws {PaginationError} when the request has no such place
 */
export function mustBeIn(place: Place, request: JobRequest, at: string): void {
  if (place.isIn(request)) return;
  const hint =
    place.kind === 'body'
      ? 'Write the body as an object, or put a name in braces into its text and use {"template": "name"}.'
      : place.kind === 'path'
        ? 'Put the name in braces into the `endpoint` of the job.'
        : 'Put the name in braces into a text of the request: the endpoint, a parameter, the body or a header.';
  const message =
    place.kind === 'body'
      ? 'The body of the request is a text or a list, which has no keys.'
      : `The request has no such place: ${place.text}.`;
  throw invalid(at, message, hint);
}
