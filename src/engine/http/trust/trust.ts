import { HttpError } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import { isSecretName } from '../../../lib/secrets.ts';
import type { ApiRequest, Headers, Send, SendWrapper } from '../../shared/message.ts';
import { targetOf } from '../send/target.ts';
import { hostRules } from './trusted-hosts.ts';

export interface TrustOptions {
  /** Origins that the configuration names: {@link trustedOriginsOf}. */
  readonly origins: Iterable<string>;
  /** `api.trustedHosts`: hosts that the user allows besides. */
  readonly hosts?: readonly string[] | undefined;
  /** Names of configured headers that carry a secret, in lower case: {@link secretHeadersOf}. */
  readonly secretHeaders?: ReadonlySet<string> | undefined;
  /** True for a text that has a known secret in it, in whatever encoding. */
  readonly holdsSecret?: ((text: string) => boolean) | undefined;
  readonly log: Log;
}

/**
 * Credentials go only to origins that the configuration itself names. A link, a redirect or a
 * placeholder may lead anywhere: such a request goes out, but without anything secret.
 */
export interface Trust {
  /** Tells whether credentials may go to this URL. The path does not matter. */
  trusts(url: string): boolean;
  /**
   * Puts a wrapper that adds credentials (authentication, signing) to work for trusted URLs only. Others pass by
   * it and lose secret headers and query values. A warning for each origin names the option to allow it.
   *
   * The wrapper's place is inside of redirects, so that every hop is judged. Without a wrapper it only takes away.
   *
   * @throws {HttpError} http.untrustedHost when the body or the path holds a secret: they cannot be sent without it
   */
  guard(wrapper?: SendWrapper): SendWrapper;
}

export function createTrust(options: TrustOptions): Trust {
  const { holdsSecret = () => false, log } = options;
  const secretHeaders = options.secretHeaders ?? new Set<string>();
  const origins = new Set(Array.from(options.origins, (url) => targetOf(url).origin));
  const allows = hostRules(options.hosts ?? []);
  const known = new Map<string, boolean>();
  const warned = new Set<string>();

  function trustsOrigin(origin: string): boolean {
    return origins.has(origin) || isUpgrade(origin) || allows(origin);
  }

  /** Tells whether an address only changes from http to https on the same host, with the same port or the usual one. */
  function isUpgrade(origin: string): boolean {
    if (!origin.startsWith('https://')) return false;
    const { host, hostname } = targetOf(origin);
    const isUsualPort = !/:\d+$/.test(host);
    return Array.from(origins).some((named) => {
      if (!named.startsWith('http://')) return false;
      const other = targetOf(named);
      return other.host === host || (isUsualPort && other.hostname === hostname);
    });
  }

  function trusts(url: string): boolean {
    const { origin } = targetOf(url);
    const before = known.get(origin);
    if (before !== undefined) return before;
    if (known.size > 10_000) known.clear();
    const answer = trustsOrigin(origin);
    known.set(origin, answer);
    return answer;
  }

  function guard(wrapper?: SendWrapper): SendWrapper {
    return (next) => {
      const inside: Send = wrapper === undefined ? next : wrapper(next);
      return async (request, sendOptions) => {
        if (trusts(request.url)) return await inside(request, sendOptions);
        const { origin, host } = targetOf(request.url);
        refuseSecretBody(request, origin, host);
        refuseSecretPath(request.url, origin, host);
        const bare = withoutSecrets(request);
        if ((wrapper !== undefined || bare !== request) && request.isDownload !== true) warn(origin, host);
        return next(bare, sendOptions);
      };
    };
  }

  function refuseSecretBody({ body, isLogin }: ApiRequest, origin: string, host: string): void {
    if (body === undefined || body.length === 0) return;
    const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
    if (isLogin === true || holdsSecret(text)) throw untrusted('body', origin, host);
  }

  /** Refuses a link with a secret in its path, even one that an answer echoes: a path cannot be sent without it. */
  function refuseSecretPath(url: string, origin: string, host: string): void {
    const [path = ''] = url.slice(url.indexOf('://') + 3).split('?', 1);
    if (holdsInAddress(path)) throw untrusted('address', origin, host);
  }

  /** Tells whether an address holds a secret, even one that is encoded more than necessary. */
  function holdsInAddress(text: string): boolean {
    const once = decoded(text);
    return holdsSecret(text) || holdsSecret(once) || holdsSecret(decoded(once));
  }

  /** Removes secrets from a request; returns the same object when there are none. */
  function withoutSecrets(request: ApiRequest): ApiRequest {
    const headers = openHeaders(request);
    const url = openUrl(request.url);
    return headers === request.headers && url === request.url ? request : { ...request, headers, url };
  }

  function openHeaders({ headers, isLogin }: ApiRequest): Headers {
    const kept = Object.entries(headers).filter(([name, value]) => {
      if (isLogin === true) return HARMLESS.has(name.toLowerCase());
      return !isSecretHeader(name) && !holdsSecret(value);
    });
    return kept.length === Object.keys(headers).length ? headers : Object.fromEntries(kept);
  }

  function isSecretHeader(name: string): boolean {
    return secretHeaders.has(name.toLowerCase()) || SECRET_HEADER.test(name) || isSecretName(name);
  }

  /** Takes parameters with a known secret out of the query; the rest stays byte for byte. */
  function openUrl(url: string): string {
    const mark = url.indexOf('?');
    if (mark < 0 || !holdsInAddress(url.slice(mark + 1))) return url;
    const kept = url
      .slice(mark + 1)
      .split('&')
      .filter((part) => !holdsInAddress(part));
    return kept.length === 0 ? url.slice(0, mark) : `${url.slice(0, mark)}?${kept.join('&')}`;
  }

  function warn(origin: string, host: string): void {
    if (warned.has(origin)) return;
    warned.add(origin);
    log.warn(
      `Requests to ${origin} are sent without credentials, because the configuration does not name this host. If it may have them, add "${host}" to "api.trustedHosts".`,
      { origin },
    );
  }

  return { trusts, guard };
}

function untrusted(part: string, origin: string, host: string): HttpError {
  return new HttpError(
    'http.untrustedHost',
    `A request with a secret in its ${part} would go to ${origin}, which the configuration does not name.`,
    {
      hint: `If that host may have the secret, add "${host}" to "api.trustedHosts".`,
      where: { url: origin },
    },
  );
}

/** Decodes each group of percent codes by itself: one that cannot be decoded does not affect the others. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (codes) =>
    Buffer.from(codes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

/** Names that carry credentials whoever set them; more are known by `isSecretName`. */
const SECRET_HEADER =
  /auth(?!or)|token|secret|api[-_]?key|signature|passw|credential|cookie|session|user-?name|login/i;

/** All that is left of the headers of a login, where any other may be a password. */
const HARMLESS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'host',
  'user-agent',
]);
