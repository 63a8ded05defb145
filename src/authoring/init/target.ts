import { EMPTY_BODY, EMPTY_INSIDE } from '../actions/curl/body.ts';
import { IN_ENDPOINT, jobFromCommand, wholeQuery } from '../actions/curl/job.ts';
import { isItem, pairsOf } from '../actions/curl/nested.ts';
import { readAddress } from '../actions/curl/address.ts';
import type { CurlCommand } from '../actions/curl/command.ts';
import { resolveUrl } from '../../engine/http/url.ts';
import {
  textAt,
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  withKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { ActionError, RunError } from '../../lib/errors.ts';
import { changesData } from '../../engine/shared/message.ts';
import { FoundCredentials } from './credentials.ts';
import { wordsOf } from './names.ts';
import type { SecretStore } from './secret-store.ts';
import { signatureOf } from './signature.ts';

/** A request that brings rows, as parts of a configuration. It has references to secrets, and no secret. */
export interface FoundRequest {
  readonly baseUrl: string;
  /** The job's part of the address. */
  readonly endpoint: string;
  /** Name of the table. */
  readonly dataType: string;
  /** As a job has it: `FORM` is a POST with a form. */
  readonly method: string;
  readonly params: AnyObject;
  readonly paramsIn: 'query' | 'body' | undefined;
  /** `api.authentication`. */
  readonly authentication: AnyObject | undefined;
  /** `api.http.headers`. */
  readonly headers: AnyObject;
  /** `config.http.headers`, which refer to attributes. */
  readonly secretHeaders: AnyObject;
  /** `parameters.aws`: requests are signed. */
  readonly aws?: AnyObject | undefined;
  /** The body is an object without keys. */
  readonly hasEmptyBody?: boolean;
  /** A parameter is a list, whose name is sent once for each item. */
  readonly hasLists?: boolean;
  /** Attributes for the configuration, beside the jobs: user name, secrets by reference. */
  readonly attributes: AnyObject;
  /** Parameter that asks for as many rows as came, where its name is not a usual one. */
  readonly sizedBy?: readonly string[];
  /** Names of parameters that a description of the API has. */
  readonly documented?: readonly string[];
  /** Notes on what was left out or changed, for people. */
  readonly notes: readonly string[];
}

/** Options `--auth` and `--header`. */
export interface Given {
  readonly auth: string | undefined;
  readonly headers: readonly string[];
}

/**
 * Creates the request of an address, a curl command, or an equivalent.
 *
 * @throws {ActionError} for a request that a job cannot make, or whose login is not known here
 * @throws {RunError} `command.invalid` for `--auth` or `--header` that cannot be understood
 */
export function targetOf(command: CurlCommand, given: Given, vault: SecretStore): FoundRequest {
  if (command.scheme !== undefined && given.auth === undefined) throw unknownLogin(command.scheme);
  const address = readAddress(command.url, undefined);
  const credentials = new FoundCredentials(vault);
  credentials.fromAddress(command.url);
  const { aws, others } = signatureOf(command, address.place, vault);
  const headers = credentials.fromHeaders(others);
  if (aws === undefined && command.credentials !== undefined && command.login !== undefined)
    credentials.login(command.login, command.credentials);
  if (command.cookies !== undefined) credentials.cookie(command.cookies);
  const own = credentials.fromLines(given.headers);
  if (given.auth !== undefined) credentials.fromOption(given.auth);

  const { baseUrl, endpoint } = placesOf(address.place);
  const { job, warnings } = jobFromCommand(
    {
      ...command,
      url: address.query === undefined ? address.place : `${address.place}?${address.query}`,
      headers: headers.filter(([name]) => !own.some(([known]) => known.toLowerCase() === name.toLowerCase())),
      login: undefined,
      credentials: undefined,
      signature: undefined,
      scheme: undefined,
      hasCookies: false,
      cookies: undefined,
    },
    { baseUrl, headers: {} },
  );
  const method = textAt(job, 'method') ?? 'GET';
  if (changesData(method)) throw notForLooking(method);
  const written = textAt(job, 'endpoint') ?? endpoint;
  const inQuery = queryOf(wholeQuery(command, address), job);
  const params = credentials.fromParams(inQuery ?? objectAt(job, 'params'), inQuery !== undefined);
  const paramsIn = textAt(job, 'paramsIn');
  return {
    baseUrl,
    endpoint: written.startsWith('http') || inQuery !== undefined ? endpoint : written,
    dataType: tableName(endpoint, address.place),
    method,
    params,
    paramsIn: paramsIn === 'body' || paramsIn === 'query' ? paramsIn : undefined,
    authentication: credentials.authentication,
    headers: objectOf([...entriesOf(objectAt(job, 'headers')), ...own]),
    secretHeaders: credentials.secretHeaders,
    attributes: credentials.attributes,
    ...(aws === undefined ? {} : { aws }),
    ...(warnings.includes(EMPTY_BODY) ? { hasEmptyBody: true } : {}),
    ...(entriesOf(inQuery ?? {}).some(([, value]) => isList(value)) ? { hasLists: true } : {}),
    notes: [
      ...warnings.filter(
        (warning) =>
          !/seems to hold a secret/.test(warning) &&
          warning !== EMPTY_INSIDE &&
          warning !== EMPTY_BODY &&
          !(inQuery !== undefined && warning === IN_ENDPOINT),
      ),
      ...credentials.notes,
    ],
  };
}

/** Requests of a look are sent several times: not those that change what is there. */
function notForLooking(method: string): RunError {
  return new RunError(
    'command.invalid',
    `A ${method} request changes data: it is not sent to look at an API.`,
    {
      hint: 'Give the request that brings the list, a GET or a POST: it is sent several times, with other parameters.',
    },
  );
}

/**
 * Returns the request at the address that a redirect led to, on the same host: otherwise each page would be redirected
 * again. For another host, to which the credentials would not go, the request stays as it is.
 */
export function whereItLed(target: FoundRequest, url: string): FoundRequest {
  const asked = new URL(target.endpoint, target.baseUrl);
  const led = new URL(url);
  if (
    target.method !== 'GET' ||
    led.host !== asked.host ||
    led.search !== '' ||
    target.endpoint.includes('?')
  )
    return target;
  if (led.href === asked.href || entriesOf(target.params).length > 0) return target;
  const note = `The API led from ${asked.href} to ${led.href}, which the configuration asks at once.`;
  return { ...target, ...placesOf(led.href), notes: [...target.notes, note] };
}

/** Tells whether a person has to log in, in the browser. */
export function isOfPerson(authentication: AnyObject | undefined): boolean {
  return authentication !== undefined && getKey(authentication, 'authorizationUrl') !== undefined;
}

/** Creates a command of an address alone. */
export function addressCommand(url: string): CurlCommand {
  return {
    url,
    method: undefined,
    headers: [],
    data: [],
    query: [],
    dataAsQuery: false,
    login: undefined,
    credentials: undefined,
    signature: undefined,
    scheme: undefined,
    hasCookies: false,
    cookies: undefined,
    variables: [],
    warnings: [],
  };
}

/** Splits an address: `https://h/v1/users` is `users` below `https://h/v1/`. */
function placesOf(address: string): { readonly baseUrl: string; readonly endpoint: string } {
  const whole = resolveUrl(address, '');
  const [, origin = '', path = '/'] = /^(https?:\/\/[^/]*)(\/.*)?$/.exec(whole) ?? [];
  const bare = path.replace(/\/$/, '');
  const slash = bare.lastIndexOf('/');
  if (bare === '') return { baseUrl: `${origin}/`, endpoint: '/' };
  return { baseUrl: `${origin}${bare.slice(0, slash + 1)}`, endpoint: path.slice(slash + 1) };
}

/** Returns the name of the resource: the last part of the address that has letters and is no id. */
function tableName(endpoint: string, address: string): string {
  const parts = [endpoint, ...address.split('/').slice(3).toReversed()];
  for (const part of parts) {
    const words = wordsOf(part.split('?', 1)[0] ?? '');
    if (
      words.length > 0 &&
      /[a-z]/.test(words.join('')) &&
      !/^v\d+$/.test(words.join('')) &&
      !/\d{3}/.test(part)
    )
      return words.join('_');
  }
  return 'rows';
}

function unknownLogin(option: string): ActionError {
  return new ActionError('action.invalid', `The command logs in by ${option}, which is not known here.`, {
    hint: 'Where the API takes a key, a token or Basic too, leave the option out, and give that.',
  });
}

/**
 * Returns the query as flat parameters, which are sent as they were written; undefined if the job has none there, or
 * parameters cannot express it.
 */
function queryOf(query: string, job: AnyObject): AnyObject | undefined {
  const endpoint = textAt(job, 'endpoint') ?? '';
  const method = textAt(job, 'method');
  const pairs = query === '' ? undefined : pairsOf(query);
  if (pairs === undefined || (method !== 'GET' && method !== 'DELETE')) return undefined;
  const hasItems = pairs.some(isItem);
  if (endpoint.includes('?') && !hasItems) return undefined;
  const values = Map.groupBy(pairs, ([name]) => name);
  if (!hasItems && values.size !== pairs.length) return undefined;
  // sent under one name again, and not with numbers, which an API may take for keys
  return objectOf(
    [...values].map(([name, all]) => {
      const [[, only] = ['', ''], ...more] = all;
      return [name, more.length === 0 ? only : all.map(([, value]) => value)];
    }),
  );
}

function objectAt(node: AnyObject, key: string): AnyObject {
  const value: Json | undefined = getKey(node, key);
  return isObject(value) ? value : {};
}

/** Returns the parameters with one set, at a path of keys. */
export function withParameter(params: AnyObject, keys: readonly string[], value: Json): AnyObject {
  const [key = '', ...rest] = keys;
  const inner = getKey(params, key);
  return withKey(
    params,
    key,
    rest.length === 0 ? value : withParameter(isObject(inner) ? inner : {}, rest, value),
  );
}
