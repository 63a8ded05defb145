import type { Authentication } from '../draft.ts';
import { isConstant, TemplateError, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { isMap, isSequence } from '../node.ts';
import { noteFixed, type TemplateScope } from '../scope.ts';
import { call, textOut } from '../translate/out.ts';
import type { TemplatePosition, TranslatedJson } from '../translate/position.ts';
import { valueOf } from '../translate/value.ts';
import type { CodeObject } from './code-object.ts';
import { wordsOf } from './explore.ts';
import type { CodeMap, CodeValue } from './values.ts';

type Signed = Extract<CodeValue, { kind: 'signed' }>;

/** Fields of the form that such a login always has. */
const USUAL: Readonly<Record<string, string>> = {
  grant_type: 'client_credentials',
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
};

/**
 * Reads a login in which a token that the code signs stands for the secret of the client; undefined for any other.
 *
 * @param headers what the code makes of the answer
 */
export function clientAssertion(
  object: CodeObject,
  { entries }: CodeMap,
  headers: Readonly<Record<string, TranslatedJson>>,
  position: TemplatePosition,
  scope: TemplateScope,
): Authentication | undefined {
  const data = entries.get('data');
  const signed = data?.kind === 'dict' ? data.entries.get('client_assertion') : undefined;
  if (data?.kind !== 'dict' || signed?.kind !== 'signed') return undefined;
  const others = [...data.entries].filter(([name]) => name !== 'client_assertion');
  const isUsual = Object.entries(USUAL).every(
    ([name, value]) => object.textOf(data.entries.get(name) ?? signed) === value,
  );
  if (!isUsual || ['auth', 'json', 'params'].some((key) => entries.has(key)))
    throw new TemplateError('a login by a signed token that is none of OAuth');
  const params = others
    .filter(([name]) => !Object.hasOwn(USUAL, name))
    .map(([name, value]) => [name, textOf(object, value, position)] as const);
  return {
    type: 'jwt',
    ...ofSigned(object, signed, position),
    tokenUrl: addressOf(object, entries.get('url'), scope),
    exchange: 'clientAssertion',
    ...(params.length === 0 ? {} : { params: Object.fromEntries(params) }),
    ...placeOf(headers),
  };
}

function textOf(object: CodeObject, value: CodeValue, position: TemplatePosition): TranslatedJson {
  return textOut(valueOf(fold(object.expressionOf(value, undefined), new Map()), position));
}

function ofSigned(
  object: CodeObject,
  { payload, key, algorithm, headers }: Signed,
  position: TemplatePosition,
): Authentication {
  let lifetime: number | undefined;
  // those that are made unless a claim says something else
  const claims: Record<string, TranslatedJson> = { iat: null };
  for (const [name, value] of object.entries(payload, undefined)) {
    const seconds = value.kind === 'moment' ? (value.plus ?? 0) : undefined;
    if (name === 'exp') {
      if (seconds === 0 || seconds === undefined || !isConstant(seconds) || typeof seconds.value !== 'number')
        throw object.refused(undefined, 'a signed token whose end is not some seconds away');
      lifetime = seconds.value;
    } else if (seconds === 0 && name === 'iat') delete claims['iat'];
    else if (seconds === 0) claims[name] = { jwt: 'issuedAt' };
    else if (value.kind === 'unique') claims[name] = { jwt: 'id' };
    else claims[name] = valueOf(fold(object.expressionOf(value, undefined), new Map()), position).out;
  }
  if (lifetime === undefined) throw object.refused(undefined, 'a signed token without an end');
  const named = object
    .entries(headers, undefined)
    .filter(([name]) => name !== 'alg' && name !== 'typ')
    .map(([name, value]) => [name, textOf(object, value, position)] as const);
  return {
    algorithm,
    [algorithm.startsWith('HS') ? '#secret' : '#privateKey']: textOf(object, key, position),
    claims,
    ...(named.length === 0 ? {} : { headers: Object.fromEntries(named) }),
    lifetime,
  };
}

/** Returns the address of the tokens, by the settings as they are now. */
function addressOf(object: CodeObject, url: CodeValue | undefined, scope: TemplateScope): string {
  const expression = url === undefined ? undefined : fold(object.expressionOf(url, undefined), new Map());
  const now = expression === undefined ? undefined : fold(scope.settings.substituted(expression), new Map());
  if (now === undefined || !isConstant(now) || typeof now.value !== 'string')
    throw new TemplateError('an address of tokens that is known only while it runs');
  if (expression !== undefined && !isConstant(expression)) noteFixed(scope, address(expression));
  return now.value;
}

function address(expression: Expression): string {
  const parts = expression.kind === 'join' ? expression.parts : [expression];
  return parts.map((part) => (isConstant(part) ? wordsOf(part) : `{{ ${wordsOf(part)} }}`)).join('');
}

/** Returns the header that has the token, and the text in front of it. */
function placeOf(headers: Readonly<Record<string, TranslatedJson>>): Authentication {
  const [[name, value] = ['', null], ...more] = Object.entries(headers);
  const token = { response: 'access_token' };
  const parts =
    isMap(value) && value['function'] === 'concat' && isSequence(value['args']) ? value['args'] : [value];
  const [prefix] = parts.length === 2 ? parts : [''];
  const last = JSON.stringify(parts.at(-1) ?? null);
  const isToken = [token, call('concat', token)].some((one) => JSON.stringify(one) === last);
  if (more.length > 0 || typeof prefix !== 'string' || parts.length > 2 || !isToken)
    throw new TemplateError('a header that is not made of the token');
  return { name, in: 'header', prefix };
}
