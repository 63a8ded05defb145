import { constant, TemplateError, type Expression } from './jinja/ast.ts';
import { partsOf } from './address.ts';
import { codeAuthentication } from './code/authenticator.ts';
import { readCode } from './code/read-code.ts';
import type { ManifestComponent } from './component.ts';
import type { Authentication } from './draft.ts';
import { ManifestFindings } from './findings.ts';
import { fold } from './jinja/fold.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { readRequest, type RequestDraft } from './request.ts';
import { pythonText } from '../../../lib/python-literal.ts';
import { known, readAsText, requestPosition, translated, type TemplateScope } from './scope.ts';
import { durationWords } from './time-format.ts';
import { accessOf, pathText, type TranslatedJson } from './translate/position.ts';
import { call, textOut } from './translate/out.ts';

/** Reads an authenticator; undefined for none, and for one that is among the findings. */
export function readAuthentication(
  authenticator: ManifestComponent | undefined,
  scope: TemplateScope,
): Authentication | undefined {
  if (authenticator === undefined || authenticator.type === 'NoAuth') return undefined;
  const { findings } = scope;
  const reader = Object.hasOwn(READERS, authenticator.type) ? READERS[authenticator.type] : undefined;
  if (reader !== undefined && authenticator.className === undefined)
    return findings.attempt(authenticator.at, authenticator.type, () => {
      const made = reader(authenticator, scope);
      if (JSON.stringify(made ?? {}).includes('"function":"urlencode"'))
        throw new TemplateError('a login with a value that is encoded for an address');
      return made;
    });
  if (authenticator.className !== undefined)
    return readCode(authenticator, scope, (type) =>
      codeAuthentication(type, authenticator, scope, (inner) => readAuthentication(inner, scope)),
    );
  findings.not(authenticator.at, `No counterpart: the authenticator ${authenticator.type}`);
  return undefined;
}

/** Returns the format of the body that a key is put into; undefined for a login that is sent elsewhere. */
export function bodyOfKey(
  authenticator: ManifestComponent | undefined,
  scope: TemplateScope,
): 'json' | 'form' | undefined {
  if (authenticator?.type === 'SelectiveAuthenticator') {
    const chosen = chosenOf(authenticator, scope);
    return chosen === undefined
      ? undefined
      : bodyOfKey(authenticator.childOf('authenticators', chosen), scope);
  }
  if (authenticator?.type !== 'ApiKeyAuthenticator') return undefined;
  const into = authenticator.child('inject_into')?.text('inject_into');
  return into === 'body_json' ? 'json' : into === 'body_data' ? 'form' : undefined;
}

type Reader = (authenticator: ManifestComponent, scope: TemplateScope) => Authentication | undefined;

const READERS: Readonly<Record<string, Reader>> = {
  ApiKeyAuthenticator: apiKey,
  BearerAuthenticator: (authenticator, scope) => {
    const token = required(authenticator, 'api_token', scope);
    return ifGiven(token, { type: 'bearer', '#token': token }, scope);
  },
  BasicHttpAuthenticator: (authenticator, scope) => ({
    type: 'apiKey',
    name: 'Authorization',
    prefix: 'Basic ',
    '#key': basic(authenticator, scope),
  }),
  OAuthAuthenticator: oauth,
  SessionTokenAuthenticator: session,
  LegacySessionTokenAuthenticator: legacySession,
  SelectiveAuthenticator: choice,
  JwtAuthenticator: jwt,
  RateLimitedMultipleTokenAuthenticator: firstToken,
};

function required(component: ManifestComponent, key: string, scope: TemplateScope): TranslatedJson {
  const value = component.get(key);
  const out = written(component, key, scope);
  if (value === undefined || out === undefined) throw new TemplateError(`“${key}” is missing`);
  const expression = component.expression(value);
  const access = accessOf(expression);
  // `get` has None for a setting that is not given
  const isNone = expression.kind === 'call' && access?.name === 'config' && access.fallback === undefined;
  const isOptional = isMap(out) && typeof out['attr'] === 'string' && scope.settings.mayBeEmpty(out['attr']);
  return isNone && isOptional ? call('if', call('is', out, 'notEmpty'), out, 'None') : out;
}

function written(
  component: ManifestComponent,
  key: string,
  scope: TemplateScope,
): TranslatedJson | undefined {
  const value = component.get(key);
  if (value === undefined) return undefined;
  return loginText(value, component, scope);
}

function loginText(value: ManifestNode, component: ManifestComponent, scope: TemplateScope): TranslatedJson {
  const typed = translated(value, component, scope, requestPosition(scope, 'a login'));
  return textOut(readAsText(component.expression(value), typed, scope));
}

function optionalText(
  component: ManifestComponent,
  key: string,
  scope: TemplateScope,
): TranslatedJson | undefined {
  return component.get(key) === undefined ? undefined : required(component, key, scope);
}

function basic(authenticator: ManifestComponent, scope: TemplateScope): TranslatedJson {
  const password = optionalText(authenticator, 'password', scope) ?? '';
  return call('base64_encode', call('concat', required(authenticator, 'username', scope), ':', password));
}

const PLACES: Readonly<Record<string, string>> = {
  header: 'header',
  request_parameter: 'query',
  body_json: 'body',
  body_data: 'body',
};

/** Returns the place of an API key: a `RequestOption`, or the header of older manifests. */
function placeOf(
  component: ManifestComponent,
  key: string,
  scope: TemplateScope,
): { readonly in: string; readonly name: TranslatedJson } {
  const option = component.child(key);
  if (option === undefined) return { in: 'header', name: required(component, 'header', scope) };
  const place = PLACES[option.text('inject_into') ?? ''];
  if (place === undefined) throw new TemplateError(`a key in “${option.text('inject_into') ?? ''}”`);
  const path = option.keys('field_path');
  if (path.length > 0) return { in: place, name: path.join('.') };
  const name = required(option, 'field_name', scope);
  if (typeof name !== 'string') throw new TemplateError('a name that is known only while it runs');
  return { in: place, name };
}

function apiKey(authenticator: ManifestComponent, scope: TemplateScope): Authentication {
  const place = placeOf(authenticator, 'inject_into', scope);
  const key = required(authenticator, 'api_token', scope);
  return ifGiven(key, { type: 'apiKey', ...place, '#key': key }, scope);
}

/** Returns a login that is left out while its key, which nobody has to give, is empty, as it is in the settings now. */
function ifGiven(key: TranslatedJson, login: Authentication, scope: TemplateScope): Authentication {
  const attribute = isMap(key) ? key['attr'] : undefined;
  const isEmpty =
    typeof attribute === 'string' && scope.settings.isGiven && scope.settings.isEmptyNow(attribute);
  if (!isEmpty) return login;
  scope.findings.note('Without a login while its key is not given; the other tool sends an empty one.');
  return {
    type: 'choice',
    choose: call('if', call('is', key, 'notEmpty'), 'given', 'none'),
    from: { given: login, none: {} },
  };
}

/** Converts a token that is fetched by a refresh token, or by id and secret, and kept until it expires. */
function oauth(authenticator: ManifestComponent, scope: TemplateScope): Authentication {
  const endpoint = optionalText(authenticator, 'token_refresh_endpoint', scope);
  if (authenticator.flag('use_profile_assertion')) return byAssertion(authenticator, endpoint, scope);
  if (endpoint === undefined)
    return { type: 'bearer', '#token': required(authenticator, 'access_token_value', scope) };
  const grantType = optionalText(authenticator, 'grant_type', scope) ?? 'refresh_token';
  const name = (key: string, fallback: string): string => {
    const out = optionalText(authenticator, key, scope) ?? fallback;
    if (typeof out !== 'string') throw new TemplateError('a name that is known only while it runs');
    return out;
  };
  const refreshToken = optionalText(authenticator, 'refresh_token', scope);
  const more = mapOf(authenticator, 'refresh_request_body', scope);
  const scopes = authenticator.get('scopes');
  const several = isSequence(scopes) && scopes.length > 1;
  const onlyScope = isSequence(scopes) ? scopes[0] : scopes;
  if (several) more['scopes'] = scopes.map(shown);
  else if (onlyScope !== undefined) more['scopes'] = shown(onlyScope);
  if (several && scope.sent !== undefined) scope.sent.lists = true;
  const headers = mapOf(authenticator, 'refresh_request_headers', scope);
  const updater = authenticator.child('refresh_token_updater');
  // what is None is left out of the request for a token
  const [clientId = '', clientSecret = ''] = ['client_id', 'client_secret'].map((key) =>
    written(authenticator, key, scope),
  );
  // credentials are sent once: in a header where there is one
  const { Authorization: inHeader, ...otherHeaders } = headers;
  if (updater !== undefined) {
    const isBasic = inHeader !== undefined && isBasicOf(inHeader, clientId, clientSecret);
    // the setting that the other tool reads and writes
    const setting = (key: string): TranslatedJson => {
      const given = updater.keys(`${key}_config_path`);
      const path = given.length === 0 ? ['credentials', key] : given;
      const lookUp = path.map((name) => `[${JSON.stringify(name)}]`).join('');
      return textOut(
        translated(`{{ config${lookUp} }}`, authenticator, scope, requestPosition(scope, 'a login')),
      );
    };
    checkUsual(name, isBasic ? otherHeaders : headers);
    if (isBasic)
      scope.findings.note(
        'The id and the secret of the client are form-encoded in the header, as OAuth wants it.',
      );
    return {
      type: 'oauth20.refreshToken',
      tokenUrl:
        typeof endpoint === 'string'
          ? endpoint
          : pythonText(known(authenticator.get('token_refresh_endpoint') ?? '', authenticator, scope).value),
      '#clientId': clientId,
      '#clientSecret': clientSecret,
      '#refreshToken': setting('refresh_token'),
      '#accessToken': setting('access_token'),
      accessTokenExpires: setting('token_expiry_date'),
      ...(isBasic ? {} : { authStyle: 'body' }),
      ...(Object.keys(more).length === 0 ? {} : { params: more }),
      answer: {
        accessToken: name('access_token_name', 'access_token'),
        refreshToken: updater.text('refresh_token_name') ?? 'refresh_token',
        expiresIn: name('expires_in_name', 'expires_in'),
      },
    };
  }
  const params: Record<string, TranslatedJson> = {
    ...more,
    [name('grant_type_name', 'grant_type')]: grantType,
    ...(inHeader === undefined
      ? {
          ...(isEmptyNow(clientId, scope) ? {} : { [name('client_id_name', 'client_id')]: clientId }),
          ...(isEmptyNow(clientSecret, scope)
            ? {}
            : { [name('client_secret_name', 'client_secret')]: clientSecret }),
        }
      : {}),
    ...(refreshToken === undefined ? {} : { [name('refresh_token_name', 'refresh_token')]: refreshToken }),
  };
  const isQuery = authenticator.flag('send_refresh_request_as_query_params');
  return {
    type: 'login',
    loginRequest: {
      endpoint: isQuery ? withQuery(endpoint, params) : endpoint,
      // a form whatever type its header tells
      method: isQuery ? 'POST' : 'FORM',
      ...(isQuery ? {} : { params }),
      ...withHeaders(headers),
    },
    apiRequest: {
      headers: {
        Authorization: call('concat', 'Bearer ', { response: name('access_token_name', 'access_token') }),
      },
    },
    expires: { response: name('expires_in_name', 'expires_in'), relative: true },
  };
}

/** Tells if a header is that of HTTP Basic with the id and the secret of the client. */
function isBasicOf(header: TranslatedJson, clientId: TranslatedJson, clientSecret: TranslatedJson): boolean {
  const pairs = [call('concat', clientId, ':', clientSecret), call('implode', ':', [clientId, clientSecret])];
  return pairs.some(
    (pair) =>
      JSON.stringify(header) === JSON.stringify(call('concat', 'Basic ', call('base64_encode', pair))),
  );
}

/** Converts a token that is fetched by a signed one. */
function byAssertion(
  authenticator: ManifestComponent,
  endpoint: TranslatedJson | undefined,
  scope: TemplateScope,
): Authentication {
  const assertion = authenticator.child('profile_assertion');
  const headers = mapOf(authenticator, 'refresh_request_headers', scope);
  const isUsual = [
    optionalText(authenticator, 'grant_type_name', scope) ?? 'grant_type',
    optionalText(authenticator, 'access_token_name', scope) ?? 'access_token',
    optionalText(authenticator, 'expires_in_name', scope) ?? 'expires_in',
  ].every((name, index) => name === ['grant_type', 'access_token', 'expires_in'][index]);
  const isForm = Object.entries(headers).every(
    ([name, value]) => name.toLowerCase() === 'content-type' && value === 'application/x-www-form-urlencoded',
  );
  if (assertion?.type !== 'JwtAuthenticator' || assertion.className !== undefined || endpoint === undefined)
    throw new TemplateError('OAuth by a signed assertion');
  if (!isUsual || !isForm)
    throw new TemplateError('OAuth by a signed assertion, with names or headers of its own');
  const { claims, name: _name, in: _in, prefix: _prefix, ...signed } = jwt(assertion, scope);
  return {
    ...signed,
    // nobody is addressed unless the manifest says so
    claims: { aud: null, ...(isMap(claims) ? claims : {}) },
    tokenUrl: plainText(endpoint),
  };
}

/** Checks that a request for a single-use token has the usual names only. */
function checkUsual(
  name: (key: string, fallback: string) => string,
  headers: Readonly<Record<string, TranslatedJson>>,
): void {
  const names = ['client_id', 'client_secret', 'refresh_token', 'grant_type'];
  const isUsual = names.every((usual) => name(`${usual}_name`, usual) === usual);
  const others = Object.keys(headers).filter((header) => header.toLowerCase() !== 'content-type');
  if (!isUsual || others.length > 0)
    throw new TemplateError('refresh tokens for one use, with names or headers of their own');
}

function withQuery(
  endpoint: TranslatedJson,
  params: Readonly<Record<string, TranslatedJson>>,
): TranslatedJson {
  if (typeof endpoint !== 'string' || Object.values(params).some((value) => typeof value !== 'string'))
    throw new TemplateError('a token that is asked for by parameters of the address');
  const query = new URLSearchParams(
    Object.entries(params).map(([key, value]): [string, string] => [key, shown(value)]),
  );
  return `${endpoint}${endpoint.includes('?') ? '&' : '?'}${query.toString()}`;
}

function mapOf(
  component: ManifestComponent,
  key: string,
  scope: TemplateScope,
): Record<string, TranslatedJson> {
  const value = component.get(key);
  if (!isMap(value)) return {};
  const texts = Object.entries(value).map(([name, item]): [string, TranslatedJson] => [
    name,
    loginText(item, component, scope),
  ]);
  return Object.fromEntries(texts.filter(([, text]) => !isEmptyNow(text, scope)));
}

/** Converts a login request whose answer has a token. */
function session(authenticator: ManifestComponent, scope: TemplateScope): Authentication {
  const requester = authenticator.child('login_requester');
  const use = authenticator.child('request_authentication');
  if (requester === undefined || use === undefined) throw new TemplateError('a login without its request');
  if (authenticator.child('decoder')?.type === 'XmlDecoder')
    throw new TemplateError('a login that answers in XML');
  const request = readRequest(requester, scope);
  const own = requester.child('authenticator');
  const token: TranslatedJson = { response: pathText(authenticator.keys('session_token_path')) };
  const expiration = authenticator.text('expiration_duration');
  return {
    type: 'login',
    loginRequest: {
      endpoint: loginAddress(request.address.baseUrl, request.address.endpoint),
      method: request.bodyFormat === 'form' ? 'FORM' : request.method,
      ...(request.bodyFormat === 'text' ? unsaid('a login with a body of text') : {}),
      ...loginParams(request, scope),
      ...withHeaders({ ...textsOf(request.headers, scope), ...ownHeaders(own, scope) }),
    },
    apiRequest: tokenUse(use, token, scope),
    ...(expiration === undefined ? { expires: -1 } : { expires: secondsOf(expiration) }),
  };
}

function loginAddress(base: TranslatedJson, endpoint: TranslatedJson): TranslatedJson {
  if (typeof endpoint === 'string' && /^https?:/.test(endpoint)) return endpoint;
  if (typeof base === 'string' && typeof endpoint === 'string') return base + endpoint;
  return shown(base) === shown(endpoint) ? endpoint : call('concat', ...partsOf(base), ...partsOf(endpoint));
}

/** Returns what is sent in the address and in the body. */
function loginParams({ method, query, body }: RequestDraft, scope: TemplateScope): Authentication {
  const isGet = method === 'GET';
  if (body !== undefined && !isMap(body)) throw new TemplateError('a login with a body that is no object');
  if (isGet && body !== undefined) throw new TemplateError('a login by GET with a body');
  const texts = textsOf(query, scope);
  const params = isGet ? texts : textsOf(isMap(body) ? body : {}, scope);
  return {
    ...(isGet || (body !== undefined && Object.keys(texts).length === 0) ? {} : { query: texts }),
    ...(Object.keys(params).length === 0 ? {} : { params }),
  };
}

/** Returns values of a login as texts: nothing is left out of it while it runs. */
function textsOf(
  values: Readonly<Record<string, TranslatedJson>>,
  scope: TemplateScope,
): Record<string, TranslatedJson> {
  const texts = Object.entries(values).map(([name, value]): [string, TranslatedJson] => {
    const { function: called, args } = isMap(value) ? value : {};
    return [name, called === 'optional' && isSequence(args) ? (args[0] ?? '') : value];
  });
  return Object.fromEntries(texts.filter(([, value]) => !isEmptyNow(value, scope)));
}

/** Tells if a value is a setting that is not given as the settings are now: nothing is sent for it. */
function isEmptyNow(value: TranslatedJson, scope: TemplateScope): boolean {
  const { function: called, args, attr: attribute } = isMap(value) ? value : {};
  if (called === 'literal' && isSequence(args)) return isEmptyNow(args[0] ?? null, scope);
  if (typeof attribute !== 'string' || !scope.settings.isEmptyNow(attribute)) return false;
  scope.findings.note(`The login is without “${attribute.replace(/^settings\./, '')}”, which is not given.`);
  return true;
}

function unsaid(what: string): never {
  throw new TemplateError(what);
}

function withHeaders(headers: Readonly<Record<string, TranslatedJson>>): Authentication {
  return Object.keys(headers).length === 0 ? {} : { headers };
}

/** Returns the headers that authenticate the login request itself. */
function ownHeaders(
  own: ManifestComponent | undefined,
  scope: TemplateScope,
): Record<string, TranslatedJson> {
  if (own === undefined || own.type === 'NoAuth') return {};
  if (own.type === 'BasicHttpAuthenticator')
    return { Authorization: call('concat', 'Basic ', basic(own, scope)) };
  if (own.type === 'BearerAuthenticator')
    return { Authorization: call('concat', 'Bearer ', required(own, 'api_token', scope)) };
  if (own.type === 'ApiKeyAuthenticator') {
    const place = placeOf(own, 'inject_into', scope);
    if (place.in === 'header') return { [shown(place.name)]: required(own, 'api_token', scope) };
  }
  throw new TemplateError(`a login that is itself authenticated by ${own.type}`);
}

function tokenUse(use: ManifestComponent, token: TranslatedJson, scope: TemplateScope): Authentication {
  if (use.type === 'Bearer' || use.type === 'SessionTokenRequestBearerAuthenticator')
    return { headers: { Authorization: call('concat', 'Bearer ', token) } };
  const place = placeOf(use, 'inject_into', scope);
  const template = use.get('api_token') ?? '{{ session_token }}';
  const value = textOut(
    translated(template, use, scope, {
      text: 'a login',
      reference: (name, keys) =>
        name === 'session_token' && keys.length === 0
          ? { out: token, type: 'text' }
          : requestPosition(scope).reference(name, keys),
    }),
  );
  if (place.in === 'header') return { headers: { [shown(place.name)]: value } };
  if (place.in === 'query') return { query: { [shown(place.name)]: value } };
  throw new TemplateError('a token of a login in the body');
}

function secondsOf(duration: string): number {
  const words = durationWords(duration)?.split(' ') ?? [];
  let seconds = 0;
  for (let at = 0; at + 1 < words.length; at += 2)
    seconds += Number(words[at]) * (SECONDS[(words[at + 1] ?? '').replace(/s$/, '')] ?? Number.NaN);
  if (words.length === 0 || Number.isNaN(seconds)) throw new TemplateError(`the duration “${duration}”`);
  return seconds;
}

const SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
  month: 2_592_000,
  year: 31_536_000,
};

function legacySession(authenticator: ManifestComponent, scope: TemplateScope): Authentication {
  const base =
    optionalText(authenticator, 'api_url', scope) ?? optionalText(authenticator, 'url_base', scope) ?? '';
  const login = required(authenticator, 'login_url', scope);
  scope.findings.note('Logs in by user name and password; a session token of the settings is not used.');
  return {
    type: 'login',
    loginRequest: {
      endpoint:
        typeof base === 'string' && typeof login === 'string'
          ? base + login
          : call('concat', ...partsOf(base), ...partsOf(login)),
      method: 'POST',
      params: {
        username: required(authenticator, 'username', scope),
        password: required(authenticator, 'password', scope),
      },
    },
    apiRequest: {
      headers: {
        [shown(required(authenticator, 'header', scope))]: {
          response: shown(required(authenticator, 'session_token_response_key', scope)),
        },
      },
    },
  };
}

/** Converts tokens that take turns to the first of them. */
function firstToken(authenticator: ManifestComponent, scope: TemplateScope): Authentication {
  const tokens = authenticator.get('tokens');
  const isList = isSequence(tokens);
  const [first] = isList ? tokens : [tokens];
  if (first === undefined) throw new TemplateError('“tokens” are missing');
  const token = textOut(translated(first, authenticator, scope, requestPosition(scope, 'a login')));
  const method = authenticator.text('auth_method') ?? 'Bearer';
  scope.findings.note(
    'Of several tokens the first one is used, at the pace that the API allows: its quotas are not asked for before.',
  );
  return {
    type: 'apiKey',
    name: authenticator.text('header') ?? 'Authorization',
    ...(method === '' ? {} : { prefix: `${method} ` }),
    '#key': isList
      ? token
      : call('trim', call('split', token, authenticator.text('token_delimiter') ?? ',', 0)),
  };
}

/** Converts a choice of authentications by a setting. */
function choice(authenticator: ManifestComponent, scope: TemplateScope): Authentication {
  const path = authenticator.keys('authenticator_selection_path').map(String);
  const options = authenticator.namesIn('authenticators');
  if (options === undefined || path.length === 0)
    throw new TemplateError('a choice without anything to choose from');
  const from: Record<string, TranslatedJson> = {};
  const chosen = chosenOf(authenticator, scope);
  const left: ManifestFindings[] = [];
  for (const name of options) {
    const option = authenticator.childOf('authenticators', name);
    const findings = chosen === name ? scope.findings : new ManifestFindings();
    const made = option === undefined ? {} : (readAuthentication(option, { ...scope, findings }) ?? {});
    if (chosen === name) {
      from[name] = made;
      continue;
    }
    for (const note of findings.notes) scope.findings.note(note);
    const [reason] = findings.reasons;
    // settings that choose it later stop the run, which does not find it
    if (reason === undefined) from[name] = made;
    else {
      left.push(findings);
      scope.findings.note(
        chosen === undefined
          ? `The login “${name}” is left out: the settings are to choose another one. ${reason.message}`
          : `The login “${name}”, which the settings do not choose, is left out. ${reason.message}`,
      );
    }
  }
  if (Object.keys(from).length === 0) {
    for (const { reasons } of left)
      for (const { path: at, message, template } of reasons) scope.findings.not(at, message, template);
    throw new TemplateError('a choice of logins none of which is understood');
  }
  if (left.length > 0 && chosen === undefined) scope.settings.prefer(path, Object.keys(from));
  return { type: 'choice', choose: scope.settings.reference(path).out, from };
}

/** Returns the name of the authentication that the settings choose, where they are given. */
function chosenOf(authenticator: ManifestComponent, scope: TemplateScope): string | undefined {
  const path = authenticator.keys('authenticator_selection_path').map(String);
  const setting = path.reduce<Expression>((of, key) => ({ kind: 'item', of, key: constant(key) }), {
    kind: 'name',
    name: 'config',
  });
  const now = fold(scope.settings.substituted(setting), new Map());
  // without settings the first kind of login is only the first one that the specification tells of
  const isChosen = scope.settings.isGiven && now.kind === 'constant' && typeof now.value === 'string';
  return isChosen ? now.value : undefined;
}

/** Converts a token that is signed by the extractor. */
function jwt(authenticator: ManifestComponent, scope: TemplateScope): Authentication {
  const algorithm = authenticator.text('algorithm') ?? '';
  const isShared = algorithm.startsWith('HS');
  if (authenticator.flag('base64_encode_secret_key'))
    throw new TemplateError('a secret that is encoded before it signs');
  const headers = {
    ...fields(authenticator, 'jwt_headers', scope),
    ...fields(authenticator, 'additional_jwt_headers', scope),
  };
  const claims = {
    ...fields(authenticator, 'jwt_payload', scope),
    ...fields(authenticator, 'additional_jwt_payload', scope),
  };
  const prefix = optionalText(authenticator, 'header_prefix', scope);
  const place: Authentication =
    authenticator.child('request_option') === undefined
      ? { name: 'Authorization', in: 'header' }
      : placeOf(authenticator, 'request_option', scope);
  const duration = authenticator.get('token_duration');
  return {
    type: 'jwt',
    algorithm,
    [isShared ? '#secret' : '#privateKey']: required(authenticator, 'secret_key', scope),
    ...(authenticator.get('passphrase') === undefined
      ? {}
      : { '#passphrase': required(authenticator, 'passphrase', scope) }),
    claims: { nbf: { jwt: 'issuedAt' }, ...claims },
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    lifetime: typeof duration === 'number' ? duration : 1200,
    ...place,
    prefix: prefix === undefined || prefix === '' ? '' : `${plainText(prefix)} `,
  };
}

function plainText(out: TranslatedJson): string {
  if (typeof out === 'string') return out;
  throw new TemplateError('a prefix that is known only while it runs');
}

function fields(
  authenticator: ManifestComponent,
  key: string,
  scope: TemplateScope,
): Record<string, TranslatedJson> {
  const map = authenticator.child(key);
  if (map === undefined) return {};
  const entries = map
    .entries()
    .filter(([name, value]) => name !== 'type' && name !== '$parameters' && value !== null);
  return Object.fromEntries(
    entries.map(([name, value]): [string, ManifestNode] => [
      name,
      typeof value === 'string'
        ? translated(value, authenticator, scope, requestPosition(scope, 'a login')).out
        : value,
    ]),
  );
}
