import type { ManifestComponent } from '../component.ts';
import type { Authentication } from '../draft.ts';
import { constant, isConstant, TemplateError, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { isMap, isSequence } from '../node.ts';
import { requestPosition, type TemplateScope } from '../scope.ts';
import { call, textOut } from '../translate/out.ts';
import { pathText, type TemplatePosition, type TranslatedJson } from '../translate/position.ts';
import { testOf } from '../translate/test.ts';
import { valueOf } from '../translate/value.ts';
import { REQUEST, type CallArguments } from './builtins.ts';
import type { CodeClass } from './component-code.ts';
import { clientAssertion } from './client-assertion.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import type { BaseClass, Decide } from './code-run.ts';
import { explore, type Outcome } from './explore.ts';
import { compared } from './moments.ts';
import { OAUTH_BASE, oauthBase, oddInOauth } from './oauth-base.ts';
import { CodeRefused } from './refused.ts';
import { dict, isExpression, joined, type CodeMap } from './values.ts';

/** The classes whose methods are known; the rest of what they do is in those that extend them. */
const BASES =
  /\.(?:NoAuth|DeclarativeAuthenticator|AbstractHeaderAuthenticator|BasicHttpAuthenticator|DeclarativeOauth2Authenticator)$/;

/** Methods by which an authenticator adds more than headers. */
const OTHER_PLACES = ['get_request_params', 'get_request_body_data', 'get_request_body_json', '__init__'];

const NO_ARGUMENTS: CallArguments = { positional: [], named: new Map() };

/**
 * Reads an authenticator that is a class of Python: one that chooses among others, one whose headers are made of
 * settings, and one that logs in with one request.
 *
 * @throws {CodeRefused} for code that does anything else
 */
export function codeAuthentication(
  type: CodeClass,
  authenticator: ManifestComponent,
  scope: TemplateScope,
  inner: (authenticator: ManifestComponent) => Authentication | undefined,
): Authentication {
  const position = positionOf(scope);
  const maker = type.methods.get('__new__');
  const [base = '', ...others] = type.bases;
  if (!BASES.test(base) || others.length > 0)
    throw new CodeRefused(`${type.module.path}: a class that extends ${type.bases.join(', ') || 'nothing'}`);
  if (maker !== undefined) {
    const chosen = explore((decide) => {
      const object = new CodeObject(
        type,
        authenticator,
        baseClass(
          base,
          () => undefined,
          () => undefined,
        ),
        decide,
      );
      const given = maker.parameters.filter(({ stars }) => stars === 0).slice(1);
      const named = new Map(given.map(({ name }) => [name, object.attribute(name, maker.node)]));
      const value = object.call(maker, { positional: [], named });
      if (value.kind !== 'component') throw object.refused(maker.node);
      return value.component;
    });
    return choiceOf(chosen, position, (component) => ({
      name: component.at.split('.').at(-1) ?? '',
      authentication: inner(component) ?? {},
    }));
  }
  const odd =
    OTHER_PLACES.find((name) => type.methods.has(name)) ??
    (base.endsWith(OAUTH_BASE) ? oddInOauth(type, authenticator) : undefined);
  if (odd !== undefined) throw new CodeRefused(`${type.module.path}: ${type.name}.${odd}`);
  const found = explore((decide) => loginOf(type, authenticator, base, decide, scope, position));
  return choiceOf(found, position, (authentication) => ({ name: 'login', authentication }));
}

function positionOf(scope: TemplateScope): TemplatePosition {
  const position = requestPosition(scope, 'a login');
  return {
    ...position,
    reference: (name, keys) =>
      name === 'response' ? { out: { response: pathText(keys) } } : position.reference(name, keys),
  };
}

/** Returns one authentication for all ways that the code can go. */
function choiceOf<T>(
  outcome: Outcome<T>,
  position: TemplatePosition,
  read: (value: T) => { readonly name: string; readonly authentication: Authentication },
): Authentication {
  if (outcome.kind === 'value') return read(outcome.value).authentication;
  const from: Record<string, TranslatedJson> = {};
  const choose = (part: Outcome<T>): TranslatedJson => {
    if (part.kind === 'error') return 'none of them';
    if (part.kind === 'fork') {
      const test = testOf(part.when, (each) => valueOf(each, position));
      return ifElse(test, choose(part.then), choose(part.otherwise));
    }
    const { name, authentication } = read(part.value);
    const text = JSON.stringify(authentication);
    for (let count = 1; ; count++) {
      const free = count === 1 ? name : `${name}-${count}`;
      from[free] ??= authentication;
      if (JSON.stringify(from[free]) === text) return free;
    }
  };
  const chosen = choose(outcome);
  if (Object.keys(from).length === 0) throw new TemplateError('a login that always fails');
  return { type: 'choice', choose: chosen, from };
}

/** Returns a choice; two conditions that end in the same else are one. */
function ifElse(test: TranslatedJson, then: TranslatedJson, otherwise: TranslatedJson): TranslatedJson {
  const [inner, value, other] = isMap(then) && isSequence(then['args']) ? then['args'] : [];
  if (inner === undefined || value === undefined || JSON.stringify(other) !== JSON.stringify(otherwise))
    return call('if', test, then, otherwise);
  return call('if', call('all', test, inner), value, otherwise);
}

/** Works the headers of a request out, and those of a later one: the login that they share has a lifetime. */
function loginOf(
  type: CodeClass,
  authenticator: ManifestComponent,
  base: string,
  decide: Decide,
  scope: TemplateScope,
  position: TemplatePosition,
): Authentication {
  let expires: Expression | undefined;
  const object = new CodeObject(
    type,
    authenticator,
    baseClass(
      base,
      (seconds) => {
        expires = seconds;
      },
      (key) => {
        scope.findings.note(
          `The template of “${key}” is rendered: the Python code sends it as it is written, and fails.`,
        );
      },
    ),
    decide,
  );
  if (type.methods.has('__post_init__'))
    object.callMethod(
      '__post_init__',
      { positional: [parametersOf(authenticator)], named: new Map() },
      undefined,
    );
  object.now = 1;
  const headers = headersOf(object);
  const request = object.attributes.get(REQUEST);
  object.attributes.delete(REQUEST);
  object.now = 2;
  const later = headersOf(object);
  const isRepeated = object.attributes.has(REQUEST);
  const outs = outsOf(object, headers, position);
  if (JSON.stringify(outs) !== JSON.stringify(outsOf(object, later, position)))
    throw new CodeRefused(`${type.module.path}: ${type.name} makes other headers later`);
  if (request?.kind !== 'dict') {
    const [only, ...more] = Object.entries(outs);
    if (only === undefined || more.length > 0)
      throw new CodeRefused(`${type.module.path}: ${type.name} has several headers`);
    return { type: 'apiKey', name: only[0], in: 'header', '#key': only[1] };
  }
  const assertion = clientAssertion(object, request, outs, position, scope);
  if (assertion !== undefined) {
    if (isRepeated)
      scope.findings.note('A token is kept until it ends: the Python code asks for one before each request.');
    return assertion;
  }
  return {
    type: 'login',
    loginRequest: loginRequest(object, request, position, scope),
    apiRequest: { headers: outs },
    ...(isRepeated
      ? { expires: -1 }
      : expires === undefined
        ? {}
        : { expires: expiresOut(expires, position) }),
  };
}

function expiresOut(seconds: Expression, position: TemplatePosition): TranslatedJson {
  const { out } = valueOf(seconds, position);
  return isMap(out) && out['response'] !== undefined ? { ...out, relative: true } : out;
}

/** Returns the headers that the code gives a request. */
function headersOf(object: CodeObject): CodeMap {
  const { methods } = object.type;
  if (methods.has('__call__')) {
    const headers = dict();
    object.callMethod(
      '__call__',
      { positional: [{ kind: 'request', headers }], named: new Map() },
      undefined,
    );
    return headers;
  }
  if (methods.has('get_auth_header') || object.type.bases[0]?.endsWith(OAUTH_BASE) === true) {
    const headers = object.callMethod('get_auth_header', NO_ARGUMENTS, undefined);
    if (headers.kind === 'dict') return headers;
    throw object.refused(methods.get('get_auth_header')?.node);
  }
  const name = object.textOf(object.attribute('auth_header', undefined));
  if (name === undefined || name === '') throw object.refused(undefined, 'a header without a name');
  return dict([[name, object.attribute('token', undefined)]]);
}

function outsOf(
  object: CodeObject,
  headers: CodeMap,
  position: TemplatePosition,
): Record<string, TranslatedJson> {
  return Object.fromEntries(
    [...headers.entries].map(([name, value]) => [
      name,
      textOut(valueOf(fold(object.expressionOf(value, undefined), new Map()), position)),
    ]),
  );
}

/** Arguments of a request that change nothing in it. */
const OF_THE_WAY: ReadonlySet<string> = new Set(['url', 'method', 'timeout', 'verify']);

function loginRequest(
  object: CodeObject,
  { entries }: CodeMap,
  position: TemplatePosition,
  scope: TemplateScope,
): Authentication {
  const textOfKey = (key: string): TranslatedJson =>
    textOut(valueOf(object.expressionOf(entries.get(key) ?? constant(''), undefined), position));
  const mapOf = (key: string): Record<string, TranslatedJson> | undefined => {
    const value = entries.get(key);
    if (value === undefined || (value.kind === 'constant' && value.value === null)) return undefined;
    return outsOf(object, dict(object.entries(value, undefined)), position);
  };
  for (const key of entries.keys())
    if (!OF_THE_WAY.has(key) && !['headers', 'data', 'json', 'params', 'auth'].includes(key))
      throw object.refused(undefined, `the argument “${key}” of a request`);
  const headers = { ...mapOf('headers') };
  const auth = entries.get('auth');
  if (auth !== undefined) {
    const [user = constant(''), password = constant('')] = object.items(auth, undefined);
    const pair = joined([user, constant(':'), password].map((part) => object.expressionOf(part, undefined)));
    headers['Authorization'] = call(
      'concat',
      'Basic ',
      call('base64_encode', textOut(valueOf(pair, position))),
    );
  }
  const isGet = textOfKey('method') === 'GET';
  const data = entries.get('data');
  const isText = data !== undefined && isExpression(data) && !isConstant(data);
  const form = isText ? formOf(data, headers, position, scope) : mapOf('data');
  const json = mapOf('json');
  if (isGet && (form !== undefined || json !== undefined))
    throw new TemplateError('a login by GET with a body');
  const query = mapOf('params');
  return {
    endpoint: textOfKey('url'),
    // a form without fields is no body at all
    method: isGet ? 'GET' : json === undefined ? 'FORM' : 'POST',
    ...(query === undefined ? {} : { [isGet ? 'params' : 'query']: query }),
    ...(form === undefined && json === undefined ? {} : { params: form ?? json ?? {} }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

/** Reads a form that the code puts together as a text. */
function formOf(
  text: Expression,
  headers: Readonly<Record<string, TranslatedJson>>,
  position: TemplatePosition,
  scope: TemplateScope,
): Record<string, TranslatedJson> {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  if (text.kind !== 'join' || type !== 'application/x-www-form-urlencoded')
    throw new TemplateError('a login with a body of text');
  const form: Record<string, TranslatedJson> = {};
  let name: string | undefined;
  for (const part of text.parts) {
    if (!isConstant(part)) {
      if (name === undefined) throw new TemplateError('a login with a body of text');
      form[name] = textOut(valueOf(part, position));
      name = undefined;
      continue;
    }
    const pieces = (typeof part.value === 'string' ? part.value : '?').split('&');
    pieces.forEach((piece, index) => {
      if (piece === '') return;
      const [key = '', value = '', ...more] = piece.split('=');
      if (!/^[\w.-]+$/.test(key) || !/^[\w.-]*$/.test(value) || more.length > 0 || name !== undefined)
        throw new TemplateError('a login with a body of text');
      if (value === '' && index === pieces.length - 1) name = key;
      else form[key] = value;
    });
  }
  scope.findings.note('Signs such as “&” in the settings of the login are encoded in its form.');
  return form;
}

/** Returns what the classes of the other tool give to an authenticator. */
function baseClass(
  base: string,
  onExpiry: (seconds: Expression) => void,
  onTemplate: (key: string) => void,
): BaseClass {
  if (base.endsWith(OAUTH_BASE))
    return {
      ...oauthBase(onExpiry, onTemplate),
      compare: (left, operator, right) => compared(left, operator, right, onExpiry),
    };
  const isBasic = base.endsWith('.BasicHttpAuthenticator');
  return {
    method: (_, name) => (name === '__post_init__' ? constant(null) : undefined),
    attribute(object, name) {
      const { component } = object;
      if (isBasic && name === 'auth_header') return constant('Authorization');
      if (isBasic && (name === '_username' || name === '_password'))
        return { kind: 'template', node: component.get(name.slice(1)) ?? '' };
      return undefined;
    },
    compare: (left, operator, right) => compared(left, operator, right, onExpiry),
  };
}
