import { ActionError } from '../../../lib/errors.ts';
import { entriesOf, isObject, objectOf, type AnyObject, type Json } from '../../../lib/json/index.ts';
import { isSecretName } from '../../../lib/secrets.ts';
import { endpointFor, readAddress, type CurlAddress } from './address.ts';
import { dataText, readBody, type CurlBody } from './body.ts';
import { readCurlCommand, type CurlCommand } from './command.ts';
import { SCHEME } from './curl-options.ts';
import { COOKIES, jobHeaders, loginWarning, secretParameter } from './headers.ts';
import { isItem, nestedParams, pairsOf } from './nested.ts';

export interface CurlJobOptions {
  /** Undefined when the configuration has none yet: the endpoint is then the whole address. */
  readonly baseUrl: string | undefined;
  /** Headers of every request, which a job need not repeat. */
  readonly headers: AnyObject;
}

/** A job as it stands in a configuration, and what could not be put into it. */
export interface CurlJob {
  readonly job: AnyObject;
  readonly warnings: readonly string[];
}

/**
 * Converts a curl command into a job: `endpoint`, `method`, `params`, `headers`, and `paramsIn` if the method normally
 * has its parameters elsewhere. Credentials are left out and reported.
 *
 * @throws {ActionError} saying what is wrong with the command, or what a job cannot do
 */
export function jobFromCurl(source: string, options: CurlJobOptions): CurlJob {
  return jobFromCommand(readCurlCommand(source), options);
}

/** Converts a parsed command, or a request from another source, into a job. */
export function jobFromCommand(command: CurlCommand, options: CurlJobOptions): CurlJob {
  const warnings = [...command.warnings];
  const address = readAddress(command.url, options.baseUrl);
  if (address.hasUser || command.login === 'basic') warnings.push(loginWarning('basic'));
  if (command.login === 'bearer') warnings.push(loginWarning('bearer'));
  if (command.hasCookies) warnings.push(COOKIES);
  if (command.signature !== undefined)
    warnings.push('--aws-sigv4 was left out. Set `aws.signature.credentials` of the parameters.');
  if (command.scheme !== undefined)
    warnings.push(`${command.scheme} was left out. It is not known here. ${SCHEME}`);

  const body = bodyOf(command, warnings);
  const { method, paramsIn } = methodOf(command, body);
  const query = wholeQuery(command, address);
  const isQueryJob = body === undefined && (method === 'GET' || method === 'DELETE');
  const pairs = isQueryJob ? pairsOf(query) : undefined;
  // a list is sent with numbers, which an API may take for keys
  const queryParams = pairs === undefined || pairs.some(isItem) ? undefined : nestedParams(pairs);
  if (isQueryJob && queryParams === undefined) warnings.push(IN_ENDPOINT);
  const endpoint = queryParams === undefined && query !== '' ? `${address.place}?${query}` : address.place;
  const params = body?.params ?? queryParams ?? {};

  const leftInQuery = queryParams === undefined ? (pairsOf(query) ?? []) : [];
  for (const name of [...textNames(params), ...leftInQuery.map(([name]) => name)]) {
    if (isSecretName(name)) warnings.push(secretParameter(name));
  }
  const job: [string, Json][] = [
    ['endpoint', endpointFor(endpoint, options.baseUrl)],
    ['method', method],
    ['params', params],
    ['headers', headersOf(command, body, options.headers, warnings)],
  ];
  if (paramsIn !== undefined) job.push(['paramsIn', paramsIn]);
  return { job: objectOf(job), warnings: [...new Set(warnings)] };
}

/** Returns the query as it is sent: that of the address, with the data of `-G` and the pieces of `--url-query`. */
export function wholeQuery(command: CurlCommand, address: CurlAddress): string {
  return [address.query, command.dataAsQuery ? dataText(command.data) : undefined, ...command.query]
    .filter((part) => part !== undefined && part !== '')
    .join('&');
}

function bodyOf(command: CurlCommand, warnings: string[]): CurlBody | undefined {
  if (command.dataAsQuery || command.data.length === 0) return undefined;
  if (dataText(command.data).trim() === '') return undefined;
  return readBody(command.data, contentTypeOf(command), warnings);
}

function contentTypeOf({ headers }: CurlCommand): string | undefined {
  const value = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return value?.split(';', 1)[0]?.trim().toLowerCase();
}

/** Note on a query that is no parameters. */
export const IN_ENDPOINT = 'The query stays in the endpoint: parameters could not give it back as it is.';

const KNOWN = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Returns the method of the job, in which a form is a method of its own. */
function methodOf(command: CurlCommand, body: CurlBody | undefined): { method: string; paramsIn?: 'body' } {
  const hasData = command.data.length > 0 && !command.dataAsQuery;
  const method = (command.method ?? (hasData ? 'POST' : 'GET')).toUpperCase();
  if (!KNOWN.includes(method))
    throw new ActionError('action.invalid', `A job cannot send “${method}”.`, {
      hint: `It can send ${KNOWN.join(', ')}.`,
    });
  if (body?.kind === 'form') {
    if (method === 'POST') return { method: 'FORM' };
    throw new ActionError(
      'action.invalid',
      `A job sends a form by POST only, and the command sends it by ${method}.`,
      {
        hint: 'See whether the API takes JSON with this method, or a form by POST.',
      },
    );
  }
  return body !== undefined && (method === 'GET' || method === 'DELETE')
    ? { method, paramsIn: 'body' }
    : { method };
}

/**
 * Returns the headers of the job. `Content-Type` follows from the body; another one is kept in a spelling that wins
 * over it.
 */
function headersOf(
  command: CurlCommand,
  body: CurlBody | undefined,
  common: AnyObject,
  warnings: string[],
): AnyObject {
  const kept = jobHeaders(
    command.headers.filter((header) => !isType(header)),
    common,
    warnings,
  );
  const own = command.headers.find(isType)?.[1];
  const type = contentTypeOf(command);
  if (body?.kind === 'json' && own !== undefined && type !== 'application/json' && type !== FORM_TYPE)
    kept.set('content-type', own);
  return objectOf(kept);
}

function isType([name]: readonly [string, string]): boolean {
  return name.toLowerCase() === 'content-type';
}

const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Returns the names of parameters that hold a text. */
function textNames(params: Json): readonly string[] {
  if (!isObject(params)) return [];
  return entriesOf(params).flatMap(([name, value]) => (typeof value === 'string' ? [name] : []));
}
