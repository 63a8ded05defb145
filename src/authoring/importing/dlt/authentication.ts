import { Untaken } from './findings.ts';
import { plainText, scalarOut, textOut } from './out.ts';
import type { SourceSettings } from './dlt-settings.ts';
import { PythonCall, call, isList, type TranslatedValue, type Value, ValueMap } from './value.ts';

const CLASSES: Readonly<Record<string, string>> = {
  BearerTokenAuth: 'bearer',
  APIKeyAuth: 'api_key',
  HttpBasicAuth: 'http_basic',
  HTTPBasicAuth: 'http_basic',
  OAuth2ClientCredentials: 'oauth2_client_credentials',
  OAuthJWTAuth: 'oauth_jwt',
};

const POSITIONS: Readonly<Record<string, readonly string[]>> = {
  bearer: ['token'],
  api_key: ['name', 'api_key', 'location'],
  http_basic: ['username', 'password'],
  oauth2_client_credentials: [
    'access_token',
    'access_token_url',
    'client_id',
    'client_secret',
    'access_token_request_data',
    'default_token_expiration',
  ],
  oauth_jwt: [
    'client_id',
    'private_key',
    'auth_endpoint',
    'scopes',
    'headers',
    'private_key_passphrase',
    'default_token_expiration',
  ],
};

/** Converts an authentication; undefined for none. @throws {Untaken} for a custom one */
export function readAuth(
  value: Value | undefined,
  settings: SourceSettings,
): Readonly<Record<string, TranslatedValue>> | undefined {
  if (value === undefined || value === null) return undefined;
  const { type, options } = parsed(value);
  const known = [...(POSITIONS[type] ?? []), 'type', 'session'];
  const strange = [...options.entries.keys()].find((key) => !known.includes(key));
  if (strange !== undefined)
    throw new Untaken(`“${strange}” of the authentication “${type}”`, options.get(strange));
  const build = TYPES[type];
  if (build === undefined) throw new Untaken(`the authentication “${type}”`, value);
  if (options.get('session') !== undefined)
    throw new Untaken('an authentication with a session of its own', options.get('session'));
  return build(options, settings);
}

function parsed(value: Value): { readonly type: string; readonly options: ValueMap } {
  if (typeof value === 'string') return { type: value, options: new ValueMap([]) };
  if (value instanceof ValueMap) {
    const [open] = value.open;
    if (open !== undefined) throw new Untaken('an authentication that code makes', open);
    const type = value.get('type') ?? 'bearer';
    if (typeof type === 'string') return { type, options: value };
  }
  if (value instanceof PythonCall) {
    const type = CLASSES[value.name];
    if (type === undefined) throw new Untaken(`the class ${value.name}, which is Python code`, value);
    const names = POSITIONS[type] ?? [];
    const given = value.args.map((item, i) => [names[i] ?? '', item] as const);
    return { type, options: new ValueMap([...given, ...value.keywords.entries]) };
  }
  throw new Untaken('an authentication that is Python code', value);
}

type Build = (options: ValueMap, settings: SourceSettings) => Readonly<Record<string, TranslatedValue>>;

const TYPES: Readonly<Record<string, Build>> = {
  bearer: (options, settings) => ({ type: 'bearer', '#token': secret(options, 'token', settings) }),
  api_key: (options, settings) => {
    const location = options.get('location') ?? 'header';
    if (location === 'cookie') throw new Untaken('a key in a cookie, which the library does not send either');
    return {
      type: 'apiKey',
      name: textOut(options.get('name') ?? 'Authorization', settings),
      ...(location === 'header' ? {} : { in: 'query' }),
      '#key': secret(options, 'api_key', settings),
    };
  },
  http_basic: (options, settings) => ({
    type: 'apiKey',
    name: 'Authorization',
    prefix: 'Basic ',
    '#key': call(
      'base64_encode',
      call(
        'concat',
        optional(options, 'username', settings) ?? settings.secret(undefined, 'username'),
        ':',
        secret(options, 'password', settings),
      ),
    ),
  }),
  oauth2_client_credentials: (options, settings) => {
    if (options.get('access_token') !== undefined && options.get('access_token') !== null)
      throw new Untaken('an access token that is given beside the client', options.get('access_token'));
    const data = options.get('access_token_request_data');
    return {
      type: 'oauth20.clientCredentials',
      tokenUrl: required(options, 'access_token_url', settings),
      '#clientId': secret(options, 'client_id', settings),
      '#clientSecret': secret(options, 'client_secret', settings),
      authStyle: 'body',
      ...(data instanceof ValueMap && data.entries.size > 0
        ? {
            params: Object.fromEntries(
              [...data.entries].map(([key, item]) => [key, textOut(item, settings)]),
            ),
          }
        : {}),
    };
  },
  oauth_jwt: (options, settings) => {
    const client = secret(options, 'client_id', settings);
    const scopes = options.get('scopes');
    const scope = isList(scopes) ? scopes.map((each) => plainText(each, 'scopes')).join(' ') : scopes;
    if (options.get('headers') !== undefined && options.get('headers') !== null)
      throw new Untaken('headers of the token request', options.get('headers'));
    const passphrase = optional(options, 'private_key_passphrase', settings);
    return {
      type: 'jwt',
      '#privateKey': secret(options, 'private_key', settings),
      ...(passphrase === undefined ? {} : { '#passphrase': passphrase }),
      claims: {
        iss: client,
        sub: client,
        ...(scope === undefined || scope === null ? {} : { scope: textOut(scope, settings) }),
      },
      lifetime: 3600,
      tokenUrl: required(options, 'auth_endpoint', settings),
    };
  },
};

function optional(options: ValueMap, key: string, settings: SourceSettings): TranslatedValue | undefined {
  const value = options.get(key);
  return value === undefined || value === null ? undefined : scalarOut(value, settings);
}

/** Returns a secret; one that the source leaves out comes from its own secrets. */
function secret(options: ValueMap, key: string, settings: SourceSettings): TranslatedValue {
  return settings.secret(optional(options, key, settings), key);
}

function required(options: ValueMap, key: string, settings: SourceSettings): TranslatedValue {
  const value = optional(options, key, settings);
  if (typeof value === 'string') return value;
  throw new Untaken(`“${key}” that is not written in the source`, options.get(key));
}
