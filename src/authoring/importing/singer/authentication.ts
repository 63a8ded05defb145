import { get, isMap, type NodeMap } from '../airbyte/node.ts';
import type { ImportReason } from '../report.ts';
import type { RequestSecrets } from '../requests/assemble.ts';

type Node = Readonly<Record<string, unknown>>;

/** Reads how the tap logs in; undefined for a tap that does not. */
export function readTapAuth(
  config: NodeMap,
  at: string,
  secrets: RequestSecrets,
  reasons: ImportReason[],
): Node | undefined {
  const method = get(config, 'auth_method');
  const take = (key: string): Node => secrets.take(key, key.replaceAll('_', ' '), get(config, key));
  switch (method) {
    case undefined:
    case null:
    case '':
    case 'no_auth':
      return undefined;
    case 'bearer_token':
      return { type: 'bearer', '#token': take('bearer_token') };
    case 'basic':
      return {
        type: 'apiKey',
        name: 'Authorization',
        prefix: 'Basic ',
        '#key': {
          function: 'base64_encode',
          args: [{ function: 'concat', args: [take('username'), ':', take('password')] }],
        },
      };
    case 'api_key': {
      const keys = get(config, 'api_keys');
      // of several the tap sends the last
      const last = isMap(keys) ? Object.entries(keys).at(-1) : undefined;
      if (last === undefined) {
        reasons.push({ path: `${at}api_keys`, message: 'The key has no name: “api_keys” is empty' });
        return undefined;
      }
      return { type: 'apiKey', name: last[0], '#key': secrets.take('api_key', last[0], last[1]) };
    }
    case 'oauth':
      return oauthOf(config, at, take, reasons);
    default:
      reasons.push({
        path: `${at}auth_method`,
        message: 'This way to log in has no counterpart',
        template: JSON.stringify(method),
      });
      return undefined;
  }
}

function oauthOf(
  config: NodeMap,
  at: string,
  take: (key: string) => Node,
  reasons: ImportReason[],
): Node | undefined {
  const url = get(config, 'access_token_url');
  const grant = get(config, 'grant_type');
  const extras = get(config, 'oauth_extras');
  if (typeof url !== 'string' || typeof grant !== 'string') {
    reasons.push({ path: `${at}grant_type`, message: 'The login needs “grant_type” and “access_token_url”' });
    return undefined;
  }
  const sent = ['client_id', 'client_secret', 'username', 'password', 'refresh_token'].filter(
    (key) => get(config, key) !== undefined || key === 'client_id' || key === 'client_secret',
  );
  const plain = ['scope', 'redirect_uri'].flatMap((key) => {
    const value = get(config, key);
    return typeof value === 'string' && value !== '' ? [[key, value] as const] : [];
  });
  return {
    type: 'login',
    format: 'json',
    loginRequest: {
      endpoint: url,
      method: 'FORM',
      params: {
        grant_type: grant,
        ...Object.fromEntries(plain),
        ...Object.fromEntries(sent.map((key) => [key, take(key)])),
        ...(isMap(extras) ? extras : {}),
      },
    },
    apiRequest: {
      headers: {
        Authorization: { function: 'concat', args: ['Bearer ', { response: 'access_token' }] },
      },
    },
    expires: { response: 'expires_in', relative: true },
  };
}
