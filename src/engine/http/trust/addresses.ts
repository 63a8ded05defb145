import { BlockList, isIP } from 'node:net';

/** A set of addresses, each in any of its spellings. */
export interface AddressSet {
  has(address: string): boolean;
}

/** @param ranges addresses, or ranges of them in CIDR notation */
export function addressSet(ranges: readonly string[]): AddressSet {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return {
    has: (address) => formsOf(address).some((form) => list.check(form, isIP(form) === 4 ? 'ipv4' : 'ipv6')),
  };
}

/** Tells whether a text is an address, or a range of addresses in CIDR notation. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/**
 * Returns the address that a host is written as: the resolver of the system takes `2130706433`, `0x7f.1`, `0177.0.0.1`
 * and `127.1` for 127.0.0.1, as browsers do. Undefined for a name.
 */
export function addressIn(host: string): string | undefined {
  const [plain = ''] = host.split('%', 1);
  const shown = isIP(plain) === 6 ? `[${plain}]` : plain;
  const found = URL.parse(`http://${shown}/`)?.hostname.replace(/^\[|\]$/g, '');
  return found !== undefined && isIP(found) !== 0 ? found : undefined;
}

/** Returns an address, and the IPv4 address inside it if it carries one. */
function formsOf(address: string): readonly string[] {
  const [plain = ''] = address.split('%', 1);
  if (isIP(plain) !== 6) return [plain];
  const groups = groupsOf(plain);
  const carried = CARRIERS.find(({ prefix }) => prefix.every((group, at) => groups[at] === group));
  if (carried === undefined) return [plain];
  const [high = 0, low = 0] = groups.slice(carried.at);
  return [plain, [high >> 8, high & 255, low >> 8, low & 255].join('.')];
}

/** Beginnings of addresses of IPv6 that carry one of IPv4, and the group that it begins with. */
const CARRIERS: readonly { readonly prefix: readonly number[]; readonly at: number }[] = [
  // Mapped (RFC 4291), compatible (its predecessor), translated (RFC 2765).
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 },
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 },
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 },
  // NAT64, public (RFC 6052) and of a site (RFC 8215).
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 1], at: 6 },
  // 6to4 (RFC 3056).
  { prefix: [0x2002], at: 1 },
];

/** Returns the eight numbers of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // One form for all: hexadecimal, without an IPv4 address at the end.
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [front = '', back] = text.split('::');
  const [before, after] = [numbersIn(front), numbersIn(back ?? '')];
  const gap = back === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: gap }, () => 0), ...after];
}

const numbersIn = (part: string): number[] =>
  part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
