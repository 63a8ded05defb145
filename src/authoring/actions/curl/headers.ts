import { entriesOf, isObject, toText, type AnyObject } from '../../../lib/json/index.ts';
import { isSecretName } from '../../../lib/secrets.ts';

/** Headers that a browser or curl adds by itself; a job does not need them. */
const NOISE =
  /^(?:sec-.*|accept-(?:encoding|language|charset)|connection|keep-alive|origin|referer|dnt|upgrade-insecure-requests|pragma|cache-control|priority|te|host|content-length|transfer-encoding|if-none-match|if-modified-since|cookie2?|:.*)$/i;

/**
 * Returns the headers that a job needs: neither those that the configuration sends with every request, nor the noise of
 * browsers, nor credentials, which are reported instead.
 *
 * @param common headers of every request: `api.http.headers` and `config.http.headers`, as written
 */
export function jobHeaders(
  given: readonly (readonly [name: string, value: string])[],
  common: AnyObject,
  warnings: string[],
): Map<string, string> {
  const kept = new Map<string, string>();
  for (const [name, value] of given) {
    const lower = name.toLowerCase();
    if (lower === 'cookie') warnings.push(COOKIES);
    if (lower === 'authorization' || lower === 'proxy-authorization') warnings.push(loginWarning(value));
    else if (!isNoise(lower, value) && !isCommon(lower, value, common)) {
      if (isSecretName(name)) warnings.push(`The header ${name} seems to hold a secret: ${KEEP_SECRET}`);
      const before = [...kept.keys()].find((known) => known.toLowerCase() === lower);
      kept.set(before ?? name, before === undefined ? value : `${kept.get(before) ?? ''}, ${value}`);
    }
  }
  return kept;
}

export const COOKIES = 'The cookies were left out: they end with the session of the browser.';

const KEEP_SECRET =
  'put it into `config` under a key with #, such as "#token", and write {"attr": "#token"} in its place.';

export function secretParameter(name: string): string {
  return `The parameter ${name} seems to hold a secret: ${KEEP_SECRET}`;
}

/** Returns a warning about the login of the command, without the credentials. */
export function loginWarning(authorization: string): string {
  const scheme = /^\S+/.exec(authorization)?.[0].toLowerCase();
  if (scheme === 'basic')
    return 'The user and password were left out: set "authentication": {"type": "basic"} in `api`, “username” and “#password” in `config`.';
  if (scheme === 'bearer')
    return 'The bearer token was left out: set "authentication": {"type": "bearer", …} in `api`, with the token under a key with # in `config`.';
  return `The header Authorization was left out: set \`api.authentication\`, or ${KEEP_SECRET}`;
}

function isNoise(lower: string, value: string): boolean {
  if (lower === 'user-agent') return /^(?:mozilla|curl)\//i.test(value);
  if (lower === 'accept') return value === '*/*' || value.startsWith('text/html');
  return NOISE.test(lower);
}

/** Tells whether a header is sent with every request anyway; of a function only the name can be compared. */
function isCommon(lower: string, value: string, common: AnyObject): boolean {
  return entriesOf(common).some(
    ([name, known]) => name.toLowerCase() === lower && (isObject(known) || toText(known).trim() === value),
  );
}
