import type { CurlCommand } from '../actions/curl/command.ts';
import { ActionError } from '../../lib/errors.ts';
import { objectOf, type AnyObject } from '../../lib/json/index.ts';
import type { SecretStore } from './secret-store.ts';

/**
 * Returns what signs the requests, and the headers that are not part of it. Region and service are those of the option,
 * else those of the host, as with curl.
 */
export function signatureOf(
  { signature, credentials, headers }: CurlCommand,
  address: string,
  vault: SecretStore,
): { readonly aws: AnyObject | undefined; readonly others: CurlCommand['headers'] } {
  if (signature === undefined) return { aws: undefined, others: headers };
  const [, key = '', secret = ''] = /^([^:]*):(.*)$/s.exec(credentials ?? '') ?? [];
  const [, , ofOption, service] = signature.split(':');
  const [ofHost, regionOfHost] = new URL(address).hostname.split('.');
  const [region, name] = [ofOption || regionOfHost, service || ofHost];
  if (key === '' || secret === '' || region === undefined || name === undefined)
    throw new ActionError('action.invalid', 'The command is to be signed, and does not say with what.', {
      hint: 'Write --aws-sigv4 aws:amz:REGION:SERVICE and -u KEY:SECRET.',
    });
  const token = headers.find(isToken)?.[1];
  const known = objectOf([
    ['accessKeyId', key.startsWith('$') ? vault.keep(key, 'AWS_ACCESS_KEY_ID') : key],
    ['#secretKey', vault.keep(secret, 'AWS_SECRET_ACCESS_KEY')],
    ...(token === undefined ? [] : [['#sessionToken', vault.keep(token, 'AWS_SESSION_TOKEN')] as const]),
    ['serviceName', name],
    ['regionName', region],
  ]);
  return {
    aws: { signature: { credentials: known } },
    others: headers.filter((header) => !isToken(header)),
  };
}

/** Tells whether a header has the token of temporary credentials. */
function isToken([name]: readonly [string, string]): boolean {
  return name.toLowerCase() === 'x-amz-security-token';
}
