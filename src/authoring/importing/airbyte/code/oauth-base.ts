import type { ManifestComponent } from '../component.ts';
import { constant, type Expression } from '../jinja/ast.ts';
import { get, isMap, shown, type ManifestNode, type NodeMap } from '../node.ts';
import { REQUEST, type CallArguments } from './builtins.ts';
import type { CodeClass } from './component-code.ts';
import type { BaseClass, CodeRun } from './code-run.ts';
import { dict, isAnswered, type CodeValue } from './values.ts';

/** The class whose token is asked for by OAuth. */
export const OAUTH_BASE = 'DeclarativeOauth2Authenticator';

/** The attribute with the token that was asked for. */
const TOKEN = 'access_token';

const NO_ARGUMENTS: CallArguments = { positional: [], named: new Map() };

/** Keys of the component that methods of the class render, with what they are without it. */
const RENDERED: Readonly<Record<string, ManifestNode>> = {
  token_refresh_endpoint: '',
  client_id_name: 'client_id',
  client_id: '',
  client_secret_name: 'client_secret',
  client_secret: '',
  refresh_token_name: 'refresh_token',
  refresh_token: null,
  access_token_name: 'access_token',
  expires_in_name: 'expires_in',
  grant_type_name: 'grant_type',
  grant_type: 'refresh_token',
};

/** Keys that make another request or keep another token than the methods here. */
const OTHERS = [
  'access_token_value',
  'profile_assertion',
  'refresh_token_updater',
  'scopes',
  'send_refresh_request_as_query_params',
  'token_expiry_date',
  'token_expiry_date_format',
  'token_expiry_is_time_of_expiration',
  'use_profile_assertion',
];

/** The method that sends the request for a token, and gives what the answer says. */
const ASKS = '_get_refresh_access_token_response';

/**
 * Tells if a manifest is of a version of the other tool whose class calls that method; undefined where that is not known:
 * 6.18 has it, and in 6.33 nothing calls it.
 */
function asksByMethod(manifest: NodeMap): boolean | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(shown(get(manifest, 'version') ?? '')) ?? [];
  if (major === undefined) return undefined;
  const version = Number(major) * 1000 + Number(minor);
  return version <= 6018 ? true : version >= 6033 ? false : undefined;
}

/** Methods by which the class keeps the token or asks for it in another way. */
const NOT_READ =
  /^(?:_(?!_post_init__$)\w+|access_token|token_has_expired|refresh_and_set_access_token|build_refresh_request_query_params|(?:set|should)_\w+|get_(?:access_token|assertion|assertion_name|scopes|token_expiry_date))$/;

/** Returns the method or the key of an authenticator that does something else than what is read here. */
export function oddInOauth(
  { methods, module }: CodeClass,
  authenticator: ManifestComponent,
): string | undefined {
  const key = OTHERS.find(
    (name) => authenticator.get(name) !== undefined && authenticator.get(name) !== false,
  );
  const isOdd = (name: string): boolean =>
    name === ASKS ? asksByMethod(module.manifest) === undefined : NOT_READ.test(name);
  return [...methods.keys()].find(isOdd) ?? key;
}

/**
 * Returns what that class gives to one that extends it: its keys, rendered, and a token that is asked for once and kept.
 *
 * @param onExpiry takes the seconds for which the token is good
 * @param onTemplate takes a key that the code reads as it is written, with a template in it
 */
export function oauthBase(
  onExpiry: (seconds: Expression) => void,
  onTemplate: (key: string) => void,
): BaseClass {
  return {
    method: (object, name) => methodOf(object, name, onExpiry),
    attribute({ component }, name) {
      if (/^(?:(?:get|build|refresh)_\w+|_log_response)$/.test(name) && !Object.hasOwn(RENDERED, name))
        return { kind: 'method', of: { kind: 'self' }, name };
      if (!Object.hasOwn(RENDERED, name)) return undefined;
      if (component.text(name)?.includes('{{') === true) onTemplate(name);
      return rendered(component, name);
    },
  };
}

function methodOf(
  object: CodeRun,
  name: string,
  onExpiry: (seconds: Expression) => void,
): CodeValue | undefined {
  const { component } = object;
  const own = (method: string): CodeValue => object.callMethod(method, NO_ARGUMENTS, undefined);
  const key = name.startsWith('get_') ? name.slice('get_'.length) : '';
  if (Object.hasOwn(RENDERED, key)) return rendered(component, key);
  switch (name) {
    case '__post_init__':
      return constant(null);
    case 'get_auth_header':
      return dict([
        ['Authorization', { kind: 'join', parts: [constant('Bearer '), tokenOf(object, onExpiry)] }],
      ]);
    case 'get_access_token':
      return tokenOf(object, onExpiry);
    case 'get_scopes':
      return { kind: 'items', values: [] };
    case 'get_refresh_request_body':
    case 'get_refresh_request_headers':
      return mapOf(component, key);
    case 'build_refresh_request_headers':
      return own('get_refresh_request_headers');
    case 'build_refresh_request_body':
      return bodyOf(object, own);
    case 'refresh_access_token':
      return object.type.methods.has(ASKS) && asksByMethod(object.type.module.manifest) === true
        ? tokenIn(object, own(ASKS), own)
        : asked(object, own);
    case '_log_response':
      return constant(null);
    default:
      return undefined;
  }
}

/** Returns the token; it is asked for when it is wanted for the first time. */
function tokenOf(object: CodeRun, onExpiry: (seconds: Expression) => void): Expression {
  const kept = object.attributes.get(TOKEN);
  if (kept !== undefined) return object.expressionOf(kept, undefined);
  const pair = object.callMethod('refresh_access_token', NO_ARGUMENTS, undefined);
  const [token, seconds, ...more] = object.items(pair, undefined);
  if (token === undefined || seconds === undefined || more.length > 0)
    throw object.refused(undefined, 'a token without its time');
  onExpiry(object.expressionOf(seconds, undefined));
  const made = object.expressionOf(token, undefined);
  object.attributes.set(TOKEN, made);
  return made;
}

/** Makes the body of the usual request; credentials stand in a header where there is one. */
function bodyOf(object: CodeRun, own: (method: string) => CodeValue): CodeValue {
  const text = (key: string): string => {
    const name = object.textOf(own(`get_${key}_name`));
    if (name === undefined) throw object.refused(undefined, 'a name that is known only while it runs');
    return name;
  };
  const headers = new Map(object.entries(own('get_refresh_request_headers'), undefined));
  const body = dict([[text('grant_type'), own('get_grant_type')]]);
  const keys = [...(headers.has('Authorization') ? [] : ['client_id', 'client_secret']), 'refresh_token'];
  for (const key of keys) body.entries.set(text(key), own(`get_${key}`));
  for (const [key, value] of object.entries(own('get_refresh_request_body'), undefined))
    if (!body.entries.has(key)) body.entries.set(key, value);
  // what has no value is not sent
  for (const [key, value] of body.entries)
    if (value.kind === 'constant' && value.value === null) body.entries.delete(key);
  return body;
}

function asked(object: CodeRun, own: (method: string) => CodeValue): CodeValue {
  const headers = dict(object.entries(own('build_refresh_request_headers'), undefined));
  if ([...headers.entries.values()].some((value) => object.textOf(value) === 'application/json'))
    throw object.refused(undefined, 'a form that is sent as JSON');
  const entries: (readonly [string, CodeValue])[] = [
    ['url', own('get_token_refresh_endpoint')],
    ['method', constant('POST')],
    ['headers', headers],
    ['data', own('build_refresh_request_body')],
  ];
  object.attributes.set(REQUEST, dict(entries));
  return tokenIn(object, { kind: 'name', name: 'response' }, own);
}

/** Returns the token of an answer, and the seconds for which it is good. */
function tokenIn(object: CodeRun, answer: CodeValue, own: (method: string) => CodeValue): CodeValue {
  const of = object.expressionOf(answer, undefined);
  if (!isAnswered(of) || !object.attributes.has(REQUEST))
    throw object.refused(undefined, 'a token that is no part of an answer');
  const ofAnswer = (name: string): Expression => ({
    kind: 'item',
    of,
    key: object.expressionOf(own(`get_${name}_name`), undefined),
  });
  return { kind: 'items', values: [ofAnswer('access_token'), ofAnswer('expires_in')] };
}

function rendered(component: ManifestComponent, key: string): Expression {
  const node = component.get(key) ?? RENDERED[key] ?? null;
  return node === null ? constant(null) : component.expression(node);
}

function mapOf(component: ManifestComponent, key: string): CodeValue {
  const node = component.get(key);
  return dict(
    Object.entries(isMap(node) ? node : {}).map(
      ([name, value]) => [name, component.expression(value)] as const,
    ),
  );
}
