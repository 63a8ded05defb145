import { ConfigError } from '../../../lib/errors.ts';
import { kind } from '../kinds.ts';
import { isEmpty, isList, type Json } from '../../../lib/json/index.ts';
import { targetOf } from '../send/target.ts';

/**
 * Reads `api.trustedHosts`: hosts that may have the credentials although the configuration names them nowhere else.
 *
 * @throws {ConfigError} for anything but a list of `host`, `host:port` or `*.domain`
 */
export function parseTrustedHosts(
  node: Json | undefined,
  at = 'parameters.api.trustedHosts',
): readonly string[] {
  if (isEmpty(node)) return [];
  const entries = isList(node) ? node : [node];
  return entries.map((entry, index) => {
    if (typeof entry === 'string' && HOST.test(entry)) return entry.toLowerCase();
    throw new ConfigError(
      'config.invalid',
      `A trusted host must be written as a host, a host with a port, or "*.domain".`,
      {
        where: { path: `${at}.${index}` },
        hint: 'Write for example "cdn.example.com", "cdn.example.com:8443" or "*.example.com", without http:// and path.',
      },
    );
  });
}

const HOST = /^(?:(?:\*\.)?[^\s/?#@*:[\]]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Tells whether an origin is one of the hosts. Without a port, the usual one of the scheme is meant; `*.example.com` is
 * every host below `example.com`, not `example.com` itself.
 */
export function hostRules(hosts: readonly string[]): (origin: string) => boolean {
  const rules = hosts.map((text) => {
    const [, domain = '', port] = /^(.*?)(?::(\d+))?$/.exec(text.toLowerCase()) ?? [];
    const isWild = domain.startsWith('*.');
    const name = targetOf(`http://${isWild ? domain.slice(2) : domain}`).hostname;
    return { isWild, name, port: port === undefined ? undefined : Number(port) };
  });
  return (origin) => {
    const { hostname, port, secure } = targetOf(origin);
    return rules.some(
      (rule) =>
        (rule.isWild ? hostname.endsWith(`.${rule.name}`) : hostname === rule.name) &&
        port === (rule.port ?? (secure ? 443 : 80)),
    );
  };
}

/** JSON Schema of `api.trustedHosts`. */
export const trustedHostsSchema = kind({
  type: 'array',
  items: { type: 'string', pattern: HOST.source },
  default: [],
})(
  'Trusted hosts',
  'Hosts that may have the credentials when a link, a redirect or a placeholder leads there. Hosts named in `baseUrl`, jobs, logins and scroll requests have them anyway. Each is a host, a host with a port, or `*.domain`.',
  [['cdn.example.com', '*.example.org', 'files.example.com:8443']],
);
