// What proxies say of a request that they pass on: `Forwarded` (RFC 7239), or `X-Forwarded-For` and `X-Forwarded-Proto`. Each proxy adds
// whom it was asked by at the right. So what stands further left is as true as those who wrote it, and all is read from the right: a quote
// that somebody has not closed takes nothing along that a proxy added behind it.

import { readAddress } from './address.ts';

export type Scheme = 'http' | 'https';

/** By whom a proxy was asked, and how; undefined: it does not say. */
export interface Hop {
  readonly address: string | undefined;
  readonly scheme: Scheme | undefined;
}

/** More proxies than that stand before no hub. */
const maxHops = 32;

const nowhere: Hop = { address: undefined, scheme: undefined };

/** The hops of `Forwarded`, that of the nearest proxy first: `for=192.0.2.43;proto=https, for="[2001:db8::1]:4711"`. */
export function hopsOfForwarded(forwarded: string): Hop[] {
  return fromTheRight(forwarded, ',').map(readElement);
}

/** The same of `X-Forwarded-For`, and of `X-Forwarded-Proto`, which may have one member for each hop, or one for all. */
export function hopsOfOlder(xForwardedFor: string, xForwardedProto: string): Hop[] {
  const schemes = fromTheRight(xForwardedProto, ',').map(readScheme);
  const schemeAt = (index: number) => schemes[Math.min(index, schemes.length - 1)];
  const addresses = fromTheRight(xForwardedFor, ',');
  if (addresses.length === 0) return [{ address: undefined, scheme: schemeAt(0) }];
  return addresses.map((text, index) => ({ address: readNode(text), scheme: schemeAt(index) }));
}

function readElement(element: string): Hop {
  const pairs = new Map<string, string>();
  for (const pair of fromTheRight(element, ';')) {
    const [, name = '', token, quoted = ''] = parameter.exec(pair) ?? [];
    const key = name.toLowerCase();
    if (key === '' || pairs.has(key)) return nowhere;
    pairs.set(key, token ?? quoted.replaceAll(/\\(.)/g, '$1'));
  }
  return { address: readNode(pairs.get('for') ?? ''), scheme: readScheme(pairs.get('proto') ?? '') };
}

/** A token, or a quoted text; IPv6 addresses without quotes are no tokens, but there is only one way to read them. */
const parameter = /^([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~:[\]-]+)|"((?:[^"\\]|\\.)*)")$/;

/** `192.0.2.43`, `192.0.2.43:4711`, `[2001:db8::1]:4711` → the address; undefined: `unknown`, a name, or nonsense. */
function readNode(text: string): string | undefined {
  const bare = /^"(.*)"$/.exec(text)?.[1] ?? text;
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/.exec(bare) ?? [];
  return readAddress(bracketed ?? plain ?? bare);
}

function readScheme(text: string): Scheme | undefined {
  const name = text.toLowerCase();
  if (name === 'https' || name === 'wss') return 'https';
  return name === 'http' || name === 'ws' ? 'http' : undefined;
}

/** The members of a list from the right, without empty ones. A separator within quotes is none. */
function fromTheRight(list: string, separator: ',' | ';'): string[] {
  const members: string[] = [];
  let end = list.length;
  let isQuoted = false;
  for (let index = list.length - 1; index >= -1 && members.length < maxHops; index--) {
    const character = list[index];
    if (character === '"' && !isEscaped(list, index)) isQuoted = !isQuoted;
    if (index >= 0 && (character !== separator || isQuoted)) continue;
    const member = list.slice(index + 1, end).trim();
    if (member !== '') members.push(member);
    end = index;
  }
  return members;
}

/** Whether an odd number of backslashes stands before a character. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text[first - 1] === '\\') first--;
  return (index - first) % 2 === 1;
}
