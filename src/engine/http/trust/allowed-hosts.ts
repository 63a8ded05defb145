import { ConfigError, HttpError } from '../../../lib/errors.ts';
import {
  getKey,
  isEmpty,
  isObject,
  isScalar,
  numberOf,
  isNumber,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { Secrets } from '../../../lib/secrets.ts';
import { asItems } from '../../../lib/read-settings.ts';
import type { SendWrapper } from '../../shared/message.ts';
import { targetOf } from '../send/target.ts';
import { trimBoth } from '../../../lib/trim.ts';

/** One entry of `image_parameters.allowed_hosts`. */
export interface AllowedHost {
  readonly host: string;
  readonly scheme?: string;
  readonly port?: number;
  /** The path must begin with its segments. */
  readonly endpoint?: string;
}

export interface AllowedHostsOptions {
  /** Takes secrets out of an address before it is shown. */
  readonly redactUrl?: (url: string) => string;
}

/**
 * Lets requests go only to allowed hosts. The final URL of every request is checked: jobs,
 * children, links, logins and each hop of a redirect. A request elsewhere throws {@link HttpError}
 * http.forbiddenHost.
 *
 * @param allowed an empty list allows everything
 */
export function allowedHosts(
  allowed: readonly AllowedHost[] = [],
  options: AllowedHostsOptions = {},
): SendWrapper {
  if (allowed.length === 0) return (next) => next;
  const isAllowed = hostCheck(allowed);
  const { redactUrl = (url) => new Secrets().redactUrl(url) } = options;
  const hint = `The administrator of this component allows only ${allowed.map(show).join(', ')}.`;
  return (next) => async (request, sendOptions) => {
    if (isAllowed(request.url)) return next(request, sendOptions);
    throw new HttpError('http.forbiddenHost', `The request to ${redactUrl(request.url)} is not allowed.`, {
      hint,
    });
  };
}

/** Tells whether a URL is allowed: `host`, `scheme` and `port` are equal where given, `endpoint` begins the path. */
export function hostCheck(allowed: readonly AllowedHost[]): (url: string) => boolean {
  const entries = allowed.map(({ host, scheme, port, endpoint = '' }) => ({
    // Read as the address of a request is: without brackets, in ASCII, in lower case.
    hostname: targetOf(`http://${host}`).hostname,
    scheme: scheme?.toLowerCase(),
    port,
    segments: segmentsOf(endpoint),
  }));
  return (url) => {
    const { hostname, port, secure, path } = targetOf(url);
    // Servers differ on whether %2F and a backslash part segments: the path must be allowed either way.
    const readings = [segmentsOf(path), segmentsOf(path.replace(/%2f|%5c|\\/gi, '/'))];
    return entries.some(
      (entry) =>
        entry.hostname === hostname &&
        (entry.scheme === undefined || entry.scheme === (secure ? 'https' : 'http')) &&
        (entry.port === undefined || entry.port === port) &&
        readings.every((segments) => entry.segments.every((segment, index) => segment === segments[index])),
    );
  };
}

function show({ host, scheme, port, endpoint = '' }: AllowedHost): string {
  const path = endpoint === '' || endpoint.startsWith('/') ? endpoint : `/${endpoint}`;
  return `${scheme === undefined ? '' : `${scheme}://`}${host}${port === undefined ? '' : `:${port}`}${path}`;
}

/**
 * Reads `image_parameters.allowed_hosts`.
 *
 * @throws {ConfigError} for an entry without a host, or with a port that is no integer
 */
export function parseAllowedHosts(node: Json | undefined): readonly AllowedHost[] {
  if (isEmpty(node)) return [];
  const at = 'image_parameters.allowed_hosts';
  const entries = asItems(node) ?? [node ?? null];
  return entries.map((entry, index) => parseEntry(entry, `${at}.${index}`));
}

function parseEntry(entry: Json, at: string): AllowedHost {
  const host = isObject(entry) ? textAt(entry, 'host') : undefined;
  if (!isObject(entry) || host === undefined)
    throw new ConfigError('config.invalid', 'An allowed host needs “host”.', {
      where: { path: `${at}.host` },
      hint: 'Write for example {"scheme": "https", "host": "api.example.com", "endpoint": "/v1"}.',
    });
  const port = getKey(entry, 'port') ?? undefined;
  if (port !== undefined && !(isNumber(port) && Number.isInteger(numberOf(port))))
    throw new ConfigError(
      'config.invalid',
      'The “port” of an allowed host must be a whole number, not a text.',
      {
        where: { path: `${at}.port` },
        hint: 'Write for example "port": 443.',
      },
    );
  const scheme = textAt(entry, 'scheme');
  const endpoint = textAt(entry, 'endpoint');
  return {
    host,
    ...(scheme === undefined ? {} : { scheme }),
    ...(port === undefined ? {} : { port: numberOf(port) }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

function textAt(entry: AnyObject, key: string): string | undefined {
  const value = getKey(entry, key);
  return isScalar(value) && value !== '' ? toText(value) : undefined;
}

/**
 * Segments of a path, without its query and the slashes around it. Dots are resolved as a server would, also when
 * they are percent-encoded, so that `/v1/../admin` is not taken for a part of `/v1`.
 */
function segmentsOf(path: string): readonly string[] {
  const [clean = ''] = path.split(/[?#]/, 1);
  const out: string[] = [];
  for (const segment of trimBoth(clean, '/').split('/')) {
    const dots = segment.replace(/%2e/gi, '.');
    if (dots === '..') out.pop();
    else if (dots !== '.') out.push(segment);
  }
  return out[0] === '' && out.length === 1 ? [] : out;
}
