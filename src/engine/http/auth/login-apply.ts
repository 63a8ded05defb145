import { ConfigError, FunctionError, HttpError } from '../../../lib/errors.ts';
import type { Contexts } from '../../shared/evaluate.ts';
import {
  compilePath,
  entriesOf,
  isList,
  isScalar,
  keysOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { withHeader, type ApiRequest } from '../../shared/message.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import type { AuthContext } from './auth.ts';
import { mergeLoginQuery } from './url-query.ts';
import { evaluateMap, headerText, mapEntries, queryParameter, type NamedValue } from './values.ts';

/** A login that was answered. */
export interface Login {
  readonly response: AnyObject;
  /** The same, flattened. */
  readonly values: AnyObject;
  /** Unix seconds; undefined when it never ends. */
  readonly expiresAt: number | undefined;
}

/**
 * Adds the values that `apiRequest` takes from the login to a request: headers are set, parameters are added to the
 * query.
 *
 * @param apiRequest `headers` and `query`, maps of values that see `response` and `attr`
 * @throws {HttpError} auth.failed when the login's answer lacks something
 */
export function applyLogin(
  request: ApiRequest,
  { response, values }: Login,
  apiRequest: ReadonlyMap<string, Json>,
  context: AuthContext,
): ApiRequest {
  const at = `${context.at}.apiRequest`;
  const contexts = { response: values, attr: context.attributes };
  try {
    const query = valuesOf(apiRequest.get('query'), response, contexts, context, `${at}.query`);
    let { headers } = request;
    for (const [name, value] of valuesOf(
      apiRequest.get('headers'),
      response,
      contexts,
      context,
      `${at}.headers`,
    )) {
      headers = withHeader(headers, name, headerText(value, `${at}.headers.${name}`));
    }
    const url = mergeLoginQuery(
      request.url,
      query.map((item) => queryParameter(item, `${at}.query`)),
    );
    return { ...request, url, headers };
  } catch (error) {
    throw asLoginError(error, values);
  }
}

/**
 * Evaluates a map of values. A text that is a path into the answer stands for the value there, so that plain
 * `"auth.token"` works.
 */
function valuesOf(
  node: Json | undefined,
  response: AnyObject,
  contexts: Contexts,
  context: AuthContext,
  at: string,
): NamedValue[] {
  const written = new Map(mapEntries(node, at));
  return evaluateMap(node, contexts, context, at).map(([name, value]) => {
    const found =
      typeof value !== 'string' || value === '.'
        ? undefined
        : compilePath(value, { at: `${at}.${name}` }).find(response);
    if (typeof value !== 'string' || found === undefined) {
      if (!isScalar(written.get(name))) hide(value, contexts['response'], context);
      return [name, value];
    }
    if (isScalar(found)) {
      hide(found, contexts['response'], context);
      return [name, found];
    }
    throw new HttpError('auth.failed', `“${value}” of the login response is ${kindOf(found)}, not a text.`, {
      where: { path: `${at}.${name}` },
      hint: isList(found)
        ? 'Name one item, such as the path with ".0".'
        : `Name a value inside of it. ${known(contexts['response'])}`,
    });
  });
}

/**
 * Registers what a login gave as secret, whatever its name is: the values of the answer inside a text, else the whole
 * text, which is then a signature.
 */
function hide(value: Json, answer: AnyObject | undefined, { secrets }: AuthContext): void {
  if (secrets === undefined || !isScalar(value)) return;
  const text = toText(value);
  const parts = (answer === undefined ? [] : entriesOf(answer))
    .map(([, part]) => (isScalar(part) ? toText(part) : ''))
    .filter((part) => part.length >= SHORTEST && text.includes(part));
  for (const part of parts.length === 0 ? [text] : parts) secrets.add(part);
}

/** Shorter parts stand in a text by chance. */
const SHORTEST = 4;

/**
 * Converts an error of a function into one about the answer, with the names (never the values) that the answer has: the
 * functions are valid, the answer is not.
 */
function asLoginError(error: unknown, response: AnyObject): unknown {
  if (!(error instanceof FunctionError || error instanceof ConfigError)) return error;
  return new HttpError(
    'auth.failed',
    `The login was answered, but its answer cannot be used: ${error.message}`,
    {
      where: error.where,
      hint: [error.hint ?? [], known(response)].flat(),
      cause: error,
    },
  );
}

function known(response: AnyObject | undefined): string {
  const names = response === undefined ? [] : keysOf(response);
  if (names.length === 0) return 'The login response is empty.';
  const shown = names.slice(0, 10).join(', ');
  return `The login response has: ${shown}${names.length > 10 ? ' …' : ''}.`;
}
