// Parses IP addresses from proxies and settings, and checks whether networks contain them. Each address has one form, regardless of its
// source: an IPv4 address, even if mapped to IPv6, has the form `192.168.0.7`; an IPv6 address is written in full, with eight groups of
// four digits (RFC 4291 sections 2.2 and 2.5.5.2).
import { BlockList, isIP, SocketAddress } from 'node:net';

/**
 * Returns an address in its canonical form: `::ffff:192.168.0.7` → `192.168.0.7`; `2001:db8::1` → `2001:0db8:0000:…:0001`. Returns
 * undefined if the string is not an IP address.
 */
export function readAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  const groups = groupsOf(text.split('%', 1)[0]!); // a zone names an interface of another machine
  const [high, low] = groups.slice(-2).map((group) => Number.parseInt(group, 16)) as [number, number];
  if (groups.slice(0, 6).join(':') === mappedPrefix) return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  return groups.join(':');
}

let lastAddress = '';
let lastShown = '';

/**
 * Formats an address or a network for people: `2001:0db8:0000:…:0001` → `2001:db8::1` (RFC 5952), `2001:0db8:0000:0000::/64` →
 * `2001:db8::/64`. `::1` becomes `localhost`, because browsers connect to `::1` for localhost.
 */
export function shownAddress(address: string): string {
  if (!address.includes(':')) return address;
  if (address !== lastAddress) {
    const [written = '', length] = address.split('/');
    const short = isIP(written) === 6 ? new URL(`http://[${written}]`).hostname.slice(1, -1) : written;
    lastShown = length !== undefined ? `${short}/${length}` : short === '::1' ? 'localhost' : short;
    lastAddress = address;
  }
  return lastShown;
}

const mappedPrefix = '0000:0000:0000:0000:0000:ffff';

/** Returns the eight groups of an IPv6 address, with four digits each. */
function groupsOf(text: string): string[] {
  const { address } = new SocketAddress({ address: text, family: 'ipv6' }); // in the short form, with `.` for a mapped IPv4 address
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a, b, c, d] = bytes.slice(0, 4).map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [before = '', after] = hex.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0'));
}

interface Network {
  readonly address: string;
  readonly prefix: number;
}

/**
 * Parses a network such as `10.0.0.0/8` or `2001:db8::/32`, or a single address; returns undefined for any other string. A network of
 * IPv4-mapped IPv6 addresses becomes an IPv4 network.
 */
export function readNetwork(text: string): Network | undefined {
  const [, written = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = readAddress(written);
  if (address === undefined || written.includes('%')) return undefined;
  const bits = isIP(written) === 4 ? 32 : 128;
  const given = length === undefined ? bits : Number(length);
  if (given > bits) return undefined;
  if (isIP(address) === isIP(written)) return { address, prefix: given };
  return given < 96 ? undefined : { address, prefix: given - 96 };
}

/** A set of IP networks that can be checked for an address. */
export class Networks {
  readonly #list = new BlockList();

  /** Creates the set from networks in the form of `readNetwork`; ignores all other strings. */
  constructor(texts: readonly string[]) {
    for (const network of texts.map(readNetwork))
      if (network !== undefined) this.#list.addSubnet(network.address, network.prefix, familyOf(network.address));
  }

  /** Returns whether one of the networks contains an address in the form of `readAddress`. */
  has(address: string): boolean {
    return this.#list.check(address, familyOf(address));
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
