import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Addresses of clients, as far as the service may trust them. */
export interface Clients {
  /** Returns the nearest address that is no trusted proxy; for IPv6 its network, as one client has all of it. */
  addressOf(request: Pick<IncomingMessage, 'headers' | 'socket'>): string;
  isTrusted(address: string | undefined): boolean;
}

/**
 * Makes the lookup of clients. @param proxies addresses and networks (`10.0.0.0/8`) whose `X-Forwarded-For` is
 * trusted
 */
export function createClients(proxies: readonly string[] = []): Clients {
  const trusted = new BlockList();
  for (const proxy of proxies) trust(trusted, proxy);
  const isTrusted = (address = ''): boolean => {
    const plain = plainOf(address);
    return isIP(plain) !== 0 && trusted.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
  return {
    isTrusted,
    addressOf({ headers, socket }) {
      let address = socket.remoteAddress ?? '';
      // Each proxy appends the address of its caller; the addresses before that may be forged.
      const told = String(headers['x-forwarded-for'] ?? '').split(',');
      for (const next of told.toReversed()) {
        if (!isTrusted(address) || next.trim() === '') break;
        address = next.trim();
      }
      return networkOf(plainOf(address));
    },
  };
}

/** Tells whether a text is an address or a network that can be trusted. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  return (
    isIP(address) !== 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= most))
  );
}

function trust(list: BlockList, network: string): void {
  const [address = '', prefix] = network.split('/');
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

/** Returns the address without the port that some proxies add, and an IPv4 address that is mapped to IPv6 as IPv4. */
function plainOf(address: string): string {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? address;
  return /^(?:::ffff:)?(\d+(?:\.\d+){3})(?::\d+)?$/i.exec(bare)?.[1] ?? bare;
}

/**
 * Returns the first half of an IPv6 address: a client has so many with other second halves that these identify
 * nothing.
 */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length);
  const whole = [...groups, ...Array.from({ length: zeros }, () => '0'), ...after];
  const network = whole.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
