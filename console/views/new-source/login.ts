/** How one logs in to the API. It lives in the page alone, until it is sent to be encrypted. */
export interface Login {
  readonly kind: 'basic' | 'bearer' | 'header' | 'none' | 'query';
  /** User, or name of the header or parameter. */
  readonly name: string;
  readonly secret: string;
}

export const NO_LOGIN: Login = { kind: 'none', name: '', secret: '' };

/** Returns the login in the form of the API. */
export function authOf({ kind, name, secret }: Login): string | undefined {
  if (kind === 'none') return undefined;
  if (kind === 'bearer') return `bearer:${secret}`;
  return kind === 'basic' ? `basic:${name}:${secret}` : `${kind}:${name}=${secret}`;
}

/** Returns a message about the first missing input; undefined when nothing is missing. */
export function missingIn({ kind, name, secret }: Login): string | undefined {
  if (kind === 'none') return undefined;
  if (kind !== 'bearer' && name.trim() === '')
    return kind === 'basic'
      ? 'Give the user name.'
      : kind === 'header'
        ? 'Name the header.'
        : 'Name the parameter.';
  return secret === '' ? 'Give the secret, too.' : undefined;
}
