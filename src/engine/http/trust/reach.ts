import { lookup as lookUp } from 'node:dns';
import { lookup as lookUpAll } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { HttpError, RunError } from '../../../lib/errors.ts';
import { targetOf } from '../send/target.ts';
import { addressIn, addressSet, isAddressRange, type AddressSet } from './addresses.ts';
import { trimEnd } from '../../../lib/trim.ts';

/** Rules of whoever starts a process on the hosts that requests may go to. No configuration can change them. */
export interface ReachRules {
  /** Hosts, `*.domain`, addresses, ranges of addresses, or `*`. What is allowed is so whatever else is denied. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** True when what is near the machine is denied: loopback, link-local and metadata addresses. */
  readonly isNearDenied: boolean;
  /** Hosts that requests may go to at all, as `allow` has them; every host by default. */
  readonly only?: readonly string[] | undefined;
  /** True when addresses of private networks are denied, unless they are allowed. */
  readonly isPrivateDenied?: boolean | undefined;
  /** Advice that a refusal has in place of that of a service. */
  readonly hint?: string | undefined;
}

/** The variable that gives a process its rules, as JSON: its parent sets it, and no configuration can. */
export const REACH_VARIABLE = 'GEX_REACH';

/** Returns the rules that the process was given; undefined when every host is allowed. */
export function reachOf(environment: Readonly<Record<string, string | undefined>>): Reach | undefined {
  const text = environment[REACH_VARIABLE];
  // Written by the service; what cannot be read stops the process, and lets nothing through.
  return text === undefined ? undefined : createReach(JSON.parse(text) as ReachRules);
}

/** Checks that run before a connection is made. Each method throws {@link HttpError} http.forbiddenHost. */
export interface Reach {
  /** Checks a host of a direct connection. A name is checked by {@link lookup}, when it is resolved. */
  requireHost(hostname: string): void;
  /** Looks names up for a connection, and judges every address that is found: the one that is used is one of them. */
  readonly lookup: LookupFunction;
  /** Checks a host that a proxy connects to: the name, and its local addresses if it has any. */
  requireThroughProxy(hostname: string): Promise<void>;
  /** Checks a host behind a tunnel, where names are resolved at the other end. */
  requireThroughTunnel(hostname: string): void;
  /** Returns the address to connect to in place of a name, which might resolve to another one a moment later. */
  addressOf(hostname: string): Promise<string>;
}

/** @throws {RunError} `command.invalid` for a rule that cannot be read */
export function createReach({ allow, deny, isNearDenied, only, isPrivateDenied, hint }: ReachRules): Reach {
  const allowed = readRules(allow);
  const denied = deny.map((rule) => ({ ...readRules([rule]), rule }));
  const named = only === undefined ? undefined : readRules(only);
  const near = [...(isNearDenied ? NEAR : []), ...(isPrivateDenied === true ? [PRIVATE] : [])].map(
    ({ ranges, what }) => ({ set: addressSet(ranges), what }),
  );

  function forbidden(hostname: string, why: string): HttpError {
    return new HttpError('http.forbiddenHost', `Requests to “${hostname}” are not allowed here: ${why}.`, {
      hint: hint ?? OPERATOR_HINT,
    });
  }

  /** Explains why an address is denied; undefined when it is allowed. */
  function whyDenied(address: string): string | undefined {
    if (allowed.addresses.has(address)) return undefined;
    const rule = denied.find(({ addresses }) => addresses.has(address))?.rule;
    if (rule !== undefined) return `--deny-host ${rule} denies it`;
    return near.find(({ set }) => set.has(address))?.what;
  }

  /** @returns false when nothing is left to judge */
  function requireName(hostname: string): boolean {
    const name = plainName(hostname);
    if (named !== undefined && !isNamed(name))
      throw forbidden(hostname, 'it is none of those that were named');
    if (allowed.takesName(name)) return false;
    const rule = denied.find(({ takesName }) => takesName(name))?.rule;
    if (rule !== undefined) throw forbidden(hostname, `--deny-host ${rule} denies it`);
    return true;
  }

  function isNamed(name: string): boolean {
    const address = addressIn(name);
    return (
      named?.takesName(name) === true || (address !== undefined && named?.addresses.has(address) === true)
    );
  }

  function requireAddresses(hostname: string, addresses: readonly string[]): void {
    for (const address of addresses) {
      const why = whyDenied(address);
      // The address itself is not told: names of a network are not for everybody to resolve.
      if (why !== undefined)
        throw forbidden(
          hostname,
          addressIn(hostname) === undefined ? `it leads to an address, and ${why}` : why,
        );
    }
  }

  function requireHost(hostname: string): void {
    if (!requireName(hostname)) return;
    const address = addressIn(hostname);
    if (address !== undefined) requireAddresses(hostname, [address]);
  }

  return {
    requireHost,
    lookup(hostname, options, callback) {
      lookUp(hostname, options, (error, found, family) => {
        if (error !== null) return callback(error, found, family);
        try {
          const all: readonly string[] =
            typeof found === 'string' ? [found] : found.map(({ address }) => address);
          if (requireName(hostname)) requireAddresses(hostname, all);
        } catch (refusal) {
          // Nothing else is thrown there.
          return callback(refusal as HttpError, '', 0);
        }
        callback(null, found, family);
      });
    },
    async requireThroughProxy(hostname) {
      requireHost(hostname);
      if (addressIn(hostname) !== undefined || !requireName(hostname)) return;
      // If only the proxy can resolve names, it has to keep requests away from its own network.
      const found = await lookUpAll(hostname, { all: true }).catch(() => []);
      if (found.length === 0) requireThroughTunnel(hostname);
      requireAddresses(
        hostname,
        found.map(({ address }) => address),
      );
    },
    requireThroughTunnel,
    async addressOf(hostname) {
      requireHost(hostname);
      if (addressIn(hostname) !== undefined || !requireName(hostname)) return hostname;
      const found = await lookUpAll(hostname, { all: true });
      requireAddresses(
        hostname,
        found.map(({ address }) => address),
      );
      return found[0]?.address ?? hostname;
    },
  };

  function requireThroughTunnel(hostname: string): void {
    requireHost(hostname);
    if (addressIn(hostname) !== undefined || !requireName(hostname)) return;
    const name = plainName(hostname);
    const all = denied.find(({ isAll }) => isAll)?.rule;
    if (all !== undefined) throw forbidden(hostname, `--deny-host ${all} denies it`);
    if (isNearDenied && NEAR_NAMES.test(name))
      throw forbidden(hostname, 'it is a name of what is near a machine');
  }
}

/** Linux takes the unspecified addresses for its own. */
const NEAR: readonly { readonly what: string; readonly ranges: readonly string[] }[] = [
  { what: 'loopback addresses are denied', ranges: ['127.0.0.0/8', '0.0.0.0/8', '::1', '::'] },
  {
    what: 'metadata addresses of clouds are denied',
    ranges: [
      '169.254.169.254',
      '169.254.170.2',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd20:ce::254',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
    ],
  },
  { what: 'link-local addresses are denied', ranges: ['169.254.0.0/16', 'fe80::/10'] },
];

const OPERATOR_HINT =
  'Whoever runs the service decides where its runs may go, and may start it with --allow-host and the host.';

const PRIVATE = {
  what: 'addresses of private networks are denied',
  ranges: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'],
};

const NEAR_NAMES =
  /^(?:(?:.+\.)?localhost(?:\.localdomain)?|(?:.+\.)?localhost[46]?|ip6-(?:localhost|loopback)|metadata(?:\.google\.internal)?)$/;

interface Rules {
  readonly takesName: (name: string) => boolean;
  readonly addresses: AddressSet;
  readonly isAll: boolean;
}

function readRules(texts: readonly string[]): Rules {
  const names: string[] = [];
  const ranges: string[] = [];
  let isAll = false;
  for (const text of texts) {
    const plain = text
      .trim()
      .toLowerCase()
      .replace(/^\[(.*)\]$/, '$1');
    if (plain === '*') {
      isAll = true;
      ranges.push('0.0.0.0/0', '::/0');
    } else if (isAddressRange(plain)) ranges.push(plain);
    else if (isHost(plain)) names.push(`${plain.startsWith('*.') ? '*.' : ''}${nameIn(plain)}`);
    else throw unreadable(text);
  }
  return {
    isAll,
    addresses: addressSet(ranges),
    takesName: (name) =>
      names.some((rule) => (rule.startsWith('*.') ? name.endsWith(rule.slice(1)) : name === rule)),
  };
}

const nameIn = (rule: string): string => plainName(targetOf(`http://${rule.replace(/^\*\./, '')}`).hostname);

/**
 * Tells whether a rule names a host, without port or path. An address in an unusual spelling is refused, since it would
 * never match.
 */
const isHost = (text: string): boolean =>
  /^(?:\*\.)?[^\s/?#@*:[\]%]+$/.test(text) && addressIn(text.replace(/^\*\./, '')) === undefined;

/** Returns a host name without the final dot: `localhost.` is `localhost`. */
const plainName = (hostname: string): string => trimEnd(hostname.toLowerCase(), '.');

function unreadable(rule: string): RunError {
  return new RunError('command.invalid', `“${rule}” is no rule for hosts.`, {
    hint: 'Write a host (api.example.com), all below one (*.example.com), an address (10.1.2.3), a range (10.0.0.0/8, fd00::/8), or *.',
  });
}
