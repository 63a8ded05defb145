import { ConfigError, HttpError } from '../../../lib/errors.ts';
import type { Contexts } from '../../shared/evaluate.ts';
import {
  getKey,
  isEmpty,
  isObject,
  isScalar,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { ApiResponse, JobRequest, SendOptions } from '../../shared/message.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import type { AuthContext } from './auth.ts';
import { evaluateMap, headerText } from './values.ts';

/**
 * Reads `loginRequest` (login) and gives the function that sends it. Its functions are evaluated
 * each time.
 *
 * @throws {ConfigError} when `loginRequest` or its `endpoint` is missing
 */
export function parseLoginRequest(
  node: AnyObject,
  context: AuthContext,
  contexts: Contexts,
): (options: SendOptions) => Promise<ApiResponse> {
  const at = `${context.at}.loginRequest`;
  const job = getKey(node, 'loginRequest');
  if (!isObject(job) || isEmpty(job))
    throw new ConfigError(
      'config.invalid',
      `The login authentication needs “loginRequest”, but it is ${kindOf(job)}.`,
      {
        where: { path: at },
        hint: 'Write for example "loginRequest": {"endpoint": "login", "method": "POST", "params": {…}}.',
      },
    );
  const endpoint = getKey(job, 'endpoint');
  if ((!isScalar(endpoint) && !isObject(endpoint)) || isEmpty(endpoint))
    throw new ConfigError('config.invalid', 'The login request needs an “endpoint”.', {
      where: { path: `${at}.endpoint` },
      hint: 'Write the address of the login, relative to "baseUrl" or whole.',
    });
  const method = getKey(job, 'method') ?? 'GET';
  if (typeof method !== 'string')
    throw new ConfigError('config.invalid', `“method” must be a text, but it is ${kindOf(method)}.`, {
      where: { path: `${at}.method` },
    });

  const request = (): JobRequest => ({
    endpoint: addressText(
      isObject(endpoint) ? context.evaluate(endpoint, contexts, `${at}.endpoint`) : endpoint,
      `${at}.endpoint`,
    ),
    method: method === '' ? 'GET' : method.toUpperCase(),
    params: objectOf(evaluateMap(getKey(job, 'params'), contexts, context, `${at}.params`)),
    ...queryOf(job, contexts, context, at),
    headers: objectOf(
      evaluateMap(getKey(job, 'headers'), contexts, context, `${at}.headers`).map(([name, value]) => [
        name,
        headerText(value, `${at}.headers.${name}`),
      ]),
    ),
  });

  return async (options) => {
    const login = { ...context.buildRequest(request()), label: 'login', isLogin: true };
    const response = await context.login(login, options).catch((error: unknown) => {
      throw asLoginError(error, at);
    });
    if (response.status >= 400) throw refused(`The login answered with status ${response.status}.`, at);
    return response;
  };
}

/** Returns what is sent in the address; without parameters the login has no body then. */
function queryOf(
  job: AnyObject,
  contexts: Contexts,
  context: AuthContext,
  at: string,
): Pick<JobRequest, 'query' | 'paramsIn'> {
  const query = getKey(job, 'query');
  if (query === undefined) return {};
  return {
    query: objectOf(evaluateMap(query, contexts, context, `${at}.query`)),
    ...(getKey(job, 'params') === undefined ? { paramsIn: 'query' } : {}),
  };
}

function addressText(value: Json, at: string): string {
  if (isScalar(value) && !isEmpty(value)) return toText(value);
  throw new ConfigError('config.invalid', 'The function gave no address of the login.', {
    where: { path: at },
  });
}

/**
 * Converts the error of a login. An error status means that the credentials are wrong. A login that could not be sent
 * has been retried already: without its curl number, the request that waits for it does not retry it again.
 */
function asLoginError(error: unknown, at: string): unknown {
  if (!(error instanceof HttpError)) return error;
  const message = `The login failed: ${error.message}`;
  if (error.code === 'http.status') return refused(message, at, error);
  const { curl: _curl, ...details } = error.details;
  return new HttpError(error.code, message, { where: error.where, hint: error.hint, cause: error, details });
}

function refused(message: string, at: string, cause?: HttpError): HttpError {
  return new HttpError('auth.failed', message, {
    where: { ...cause?.where, path: at },
    hint: 'Check the endpoint of the login and the credentials in its parameters and headers.',
    ...(cause === undefined ? {} : { cause, details: cause.details }),
  });
}
