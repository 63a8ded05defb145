import { objectOf, type Json } from '../../../src/lib/json/value.ts';

/** How one logs in to the API. It lives in the page alone, until it is sent to be encrypted. */
export interface Login {
  readonly kind: 'basic' | 'bearer' | 'client' | 'header' | 'none' | 'person' | 'query';
  /** User, id of the client, or name of the header or parameter. */
  readonly name: string;
  readonly secret: string;
  /** Address at which a person logs in. */
  readonly authorizationUrl: string;
  /** Address that a client fetches its tokens from. */
  readonly tokenUrl: string;
  /** Scopes, with blanks between. */
  readonly scope: string;
}

export const NO_LOGIN: Login = {
  kind: 'none',
  name: '',
  secret: '',
  authorizationUrl: '',
  tokenUrl: '',
  scope: '',
};

/** Texts of the name and the secret, as their labels have them. */
export const LABELS = {
  basic: { name: 'User', secret: 'Password', missing: 'Give the user name.' },
  client: { name: 'Client id', secret: 'Client secret', missing: 'Give the id of the client.' },
  header: { name: 'Header', secret: 'Key', missing: 'Name the header.' },
  person: {
    name: 'Client id',
    secret: 'Client secret, if it has one',
    missing: 'Give the id of the client.',
  },
  query: { name: 'Parameter', secret: 'Key', missing: 'Name the parameter.' },
} as const;

/** Returns the login in the form of the API. */
export function authOf({ kind, name, secret, authorizationUrl, tokenUrl, scope }: Login): string | undefined {
  if (kind === 'none') return undefined;
  if (kind === 'bearer') return `bearer:${secret}`;
  if (kind === 'client') return `client:${name.trim()}:${secret}@${tokenUrl.trim()}`;
  if (kind === 'person') {
    const scopes = scope.trim() === '' ? '' : `,${scope.trim()}`;
    return `person:${name.trim()}:${secret}@${authorizationUrl.trim()},${tokenUrl.trim()}${scopes}`;
  }
  return kind === 'basic' ? `basic:${name}:${secret}` : `${kind}:${name}=${secret}`;
}

/** Returns a configuration with this login of a person and nothing else: there is none of the API yet. */
export function documentOf({ name, secret, authorizationUrl, tokenUrl, scope }: Login): Json {
  const authentication = objectOf([
    ['type', 'oauth20.refreshToken'],
    ['authorizationUrl', authorizationUrl.trim()],
    ['tokenUrl', tokenUrl.trim()],
    ['clientId', name.trim()],
    ...(secret === '' ? [] : [['#clientSecret', secret] as const]),
    ...(scope.trim() === '' ? [] : [['scope', scope.trim()] as const]),
  ]);
  return {
    parameters: { api: { baseUrl: tokenUrl.trim(), authentication }, config: { jobs: [{ endpoint: '/' }] } },
  };
}

/** Returns a message about the first missing input; undefined when nothing is missing. */
export function missingIn({ kind, name, secret, authorizationUrl, tokenUrl }: Login): string | undefined {
  if (kind === 'none') return undefined;
  if (kind !== 'bearer' && name.trim() === '') return LABELS[kind].missing;
  if (kind === 'person' && !isAddress(authorizationUrl))
    return 'Give the address of the login page: it begins with https://.';
  if (secret === '' && kind !== 'person') return 'Give the secret, too.';
  if ((kind === 'client' || kind === 'person') && !isAddress(tokenUrl))
    return 'Give the address of the tokens: it begins with https://.';
  return undefined;
}

/** The form of the API has commas between addresses, and an at sign before them. */
const isAddress = (text: string): boolean => /^https?:\/\/[^\s@,]+$/.test(text.trim());
