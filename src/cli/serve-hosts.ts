import { createReach, REACH_VARIABLE, type ReachRules } from '../engine/http/trust/reach.ts';
import { listed, type Args, type Option } from './command.ts';
import { trustedProxies } from './serve-care.ts';

/** The options of `gex serve` for where the requests of its runs may go. */
export const hostOptions = {
  'allow-host': listed(
    'HOST',
    'Lets runs and trials reach a host (api.example.com, *.example.com), an address (10.1.2.3), a range (10.0.0.0/8) or all (*), whatever is denied; may be repeated',
  ),
  'deny-host': listed(
    'HOST',
    'Keeps runs and trials from a host, an address, a range or all; may be repeated. Where others may reach the service, also by a trusted proxy, loopback, link-local and metadata addresses are denied by default',
  ),
} as const satisfies Record<string, Option>;

/**
 * Returns the environment that tells the processes of runs and trials which hosts they may reach.
 *
 * @throws {RunError} `command.invalid` for a rule that cannot be read
 */
export function reachEnvironment(
  args: Args,
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const listens = [args.text('host') ?? '127.0.0.1', hostIn(args.text('public-url'))];
  const rules: ReachRules = {
    allow: args.list('allow-host'),
    deny: args.list('deny-host'),
    // A proxy on this machine lets others in who come to a service that listens on loopback.
    isNearDenied:
      trustedProxies(args, environment).length > 0 ||
      listens.some((host) => host !== undefined && !LOOPBACK.test(host)),
  };
  createReach(rules);
  const isOpen = rules.allow.length + rules.deny.length === 0 && !rules.isNearDenied;
  return isOpen ? {} : { [REACH_VARIABLE]: JSON.stringify(rules) };
}

/** Addresses on which only this machine can connect, whose users reach the hosts near it anyway. */
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[?::1\]?|(?:.+\.)?localhost)$/i;

const hostIn = (address: string | undefined): string | undefined =>
  address === undefined ? undefined : URL.parse(address)?.hostname;
