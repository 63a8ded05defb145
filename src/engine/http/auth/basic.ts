import { object, typeNamed } from '../kinds.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { getKey, isScalar, toText, type AnyObject } from '../../../lib/json/index.ts';
import { withHeader } from '../../shared/message.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import { signing, type AuthContext, type AuthType } from './auth.ts';

/**
 * HTTP Basic (RFC 7617).
 *
 * `config.username` and `config.#password` (each with or without `#`) give
 * `Authorization: Basic base64(username:password)`. An empty password is fine when it is written down: many APIs
 * take a key as the name and nothing else.
 */
export const basic: AuthType = {
  type: 'basic',
  options: object('HTTP Basic', 'Sends `config.username` and `config.#password` as an HTTP Basic header.', {
    required: ['type'],
    properties: {
      type: typeNamed('basic', 'HTTP Basic authentication.'),
    },
    examples: [{ type: 'basic' }],
  }),

  create(_node, context) {
    const username = credential('username', context);
    const password = credential('password', context);
    if (username === '' && password === '')
      throw new ConfigError(
        'config.invalid',
        'The user name and the password of the basic authentication are empty.',
        {
          where: { path: 'parameters.config' },
          hint: 'Set "username" and "#password" in "config".',
        },
      );
    const pair = `${username}:${password}`;
    // A server may quote the header in an error; its base64 holds the password where no other form of it is found.
    context.secrets?.add(pair);
    const authorization = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
    return signing((request) => ({
      ...request,
      headers: withHeader(request.headers, 'Authorization', authorization),
    }));
  },
};

/** Returns a credential: the plain key wins over the one with `#`, unless it is empty. */
function credential(name: string, { config }: AuthContext): string {
  const plain = textAt(config, name);
  const hidden = textAt(config, `#${name}`);
  const text = plain === undefined || plain === '' ? (hidden ?? plain) : plain;
  if (text !== undefined) return text;
  throw new ConfigError(
    'config.invalid',
    `The basic authentication needs “${name}” or “#${name}” in “config”.`,
    {
      where: { path: `parameters.config.#${name}` },
      hint: `Add "#${name}" to "config"; the # keeps it secret.`,
    },
  );
}

function textAt(config: AnyObject, key: string): string | undefined {
  const value = getKey(config, key);
  if (value === undefined || value === null) return undefined;
  if (isScalar(value)) return toText(value);
  throw new ConfigError('config.invalid', `“${key}” must be a text, but it is ${kindOf(value)}.`, {
    where: { path: `parameters.config.${key}` },
  });
}
