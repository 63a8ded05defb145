import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Where requests come from, as far as the service may believe it. */
export interface Clients {
  /** The nearest address that is no trusted proxy's; of IPv6 the network, which one client has as a whole. */
  addressOf(request: Pick<IncomingMessage, 'headers' | 'socket'>): string;
  isTrusted(address: string | undefined): boolean;
}

/** @param proxies addresses and networks (`10.0.0.0/8`) whose `X-Forwarded-For` is believed */
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
      // Each proxy adds whom it was called by at the end; what stands before that may be written by anybody.
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

/** Without the port that some proxies add, and as IPv4 what is no more than that. */
function plainOf(address: string): string {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? address;
  return /^(?:::ffff:)?(\d+(?:\.\d+){3})(?::\d+)?$/i.exec(bare)?.[1] ?? bare;
}

/** The first half of an IPv6 address: everybody has so many with the other half that none of them tells anything. */
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
