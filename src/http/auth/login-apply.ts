import { ConfigError, FunctionError, HttpError } from '../../errors.ts';
import type { Contexts } from '../../evaluate.ts';
import { dig, isList, isScalar, keysOf, type AnyObject, type Json } from '../../json/index.ts';
import { withHeader, type ApiRequest } from '../message.ts';
import { typeName, type AuthContext } from './auth.ts';
import { mergeLoginQuery } from './url-query.ts';
import { evaluateMap, headerText, queryParameter, type NamedValue } from './values.ts';

/** A login that was answered. */
export interface Login {
  readonly response: AnyObject;
  /** The same, flattened. */
  readonly values: AnyObject;
  /** Unix seconds; undefined when it never ends. */
  readonly expiresAt: number | undefined;
}

/**
 * The request with what `apiRequest` takes from the login: headers are set, parameters are added to the query.
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

/** A text that is a path into the answer stands for the value there, so that plain `"auth.token"` works. */
function valuesOf(
  node: Json | undefined,
  response: AnyObject,
  contexts: Contexts,
  context: AuthContext,
  at: string,
): NamedValue[] {
  return evaluateMap(node, contexts, context, at).map(([name, value]) => {
    if (typeof value !== 'string' || value === '.') return [name, value];
    const found = dig(value, response);
    if (found === undefined) return [name, value];
    if (isScalar(found)) return [name, found];
    throw new HttpError(
      'auth.failed',
      `“${value}” of the login response is ${typeName(found)}, not a text.`,
      {
        where: { path: `${at}.${name}` },
        hint: isList(found)
          ? 'Name one item, such as the path with ".0".'
          : `Name a value inside of it. ${known(contexts['response'])}`,
      },
    );
  });
}

/** The functions are fine, the answer is not: says so, with the names (never the values) that it has. */
function asLoginError(error: unknown, response: AnyObject): unknown {
  if (!(error instanceof FunctionError || error instanceof ConfigError)) return error;
  return new HttpError(
    'auth.failed',
    `The login was answered, but its answer cannot be used: ${error.message}`,
    {
      where: error.where,
      hint: error.hint === undefined ? known(response) : `${error.hint}\n${known(response)}`,
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
