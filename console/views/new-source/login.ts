/** How one logs in to the API. It lives in the page alone, until it is sent to be encrypted. */
export interface Login {
  readonly kind: 'basic' | 'bearer' | 'client' | 'header' | 'none' | 'query';
  /** User, id of the client, or name of the header or parameter. */
  readonly name: string;
  readonly secret: string;
  /** Address that a client fetches its tokens from. */
  readonly tokenUrl: string;
}

export const NO_LOGIN: Login = { kind: 'none', name: '', secret: '', tokenUrl: '' };

/** Texts of the name and the secret, as their labels have them. */
export const LABELS = {
  basic: { name: 'User', secret: 'Password', missing: 'Give the user name.' },
  client: { name: 'Client id', secret: 'Client secret', missing: 'Give the id of the client.' },
  header: { name: 'Header', secret: 'Key', missing: 'Name the header.' },
  query: { name: 'Parameter', secret: 'Key', missing: 'Name the parameter.' },
} as const;

/** Returns the login in the form of the API. */
export function authOf({ kind, name, secret, tokenUrl }: Login): string | undefined {
  if (kind === 'none') return undefined;
  if (kind === 'bearer') return `bearer:${secret}`;
  if (kind === 'client') return `client:${name.trim()}:${secret}@${tokenUrl.trim()}`;
  return kind === 'basic' ? `basic:${name}:${secret}` : `${kind}:${name}=${secret}`;
}

/** Returns a message about the first missing input; undefined when nothing is missing. */
export function missingIn({ kind, name, secret, tokenUrl }: Login): string | undefined {
  if (kind === 'none') return undefined;
  if (kind !== 'bearer' && name.trim() === '') return LABELS[kind].missing;
  if (secret === '') return 'Give the secret, too.';
  if (kind === 'client' && !/^https?:\/\/[^\s@]+$/.test(tokenUrl.trim()))
    return 'Give the address of the tokens: it begins with https://.';
  return undefined;
}
