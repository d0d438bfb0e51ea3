// Settings for places in a network: the host and port of a peer, the port to listen on, and the permitted senders.

import { BlockList, isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import type { Place } from '../device/ports.ts';
import { integerSetting } from './setting.ts';

const placePattern = /^(?:\[[\da-fA-F:.]+\]|[^\s:/[\]]+):\d{1,5}$/;

export const placeExpected = 'host:port, such as "10.0.0.40:10023"';

/** Returns the schema for a setting of the form `host:port`. */
export function placeSetting() {
  return z
    .string({ error: placeExpected })
    .refine((text) => placePattern.test(text) && readPlace(text).port <= 65_535, {
      error: ({ input }) => `expected ${placeExpected}, got ${JSON.stringify(input)}`,
    });
}

/** Returns the schema for a port to listen on, optionally with a local address. */
export function portSetting(about: string) {
  return z
    .union([integerSetting(0, 65_535), placeSetting()], { error: 'a port, or address:port' })
    .optional()
    .describe(about);
}

const networkExpected = 'an IP address, or a network such as "10.0.0.0/24"';

/** Returns the schema for a list of addresses and networks that are permitted to send. By default, the list is empty. */
export function networksSetting(about: string) {
  return z
    .array(
      z.string({ error: networkExpected }).refine((from) => isNetwork(from), {
        error: ({ input }) => `expected ${networkExpected}, got ${JSON.stringify(input)}`,
      }),
      { error: `a list of ${networkExpected}` },
    )
    .max(100)
    .default([])
    .describe(about);
}

/** Splits a place of the form `host:port`, which the schema has already checked. */
export function readPlace(text: string): Place {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}

/**
 * Returns the local address and port on which the hub receives. If the setting contains only a port, the address is the loopback address if
 * all peers are on this machine, and otherwise stands for all interfaces.
 */
export function listeningPlace(written: number | string, peers: readonly Place[]): Place {
  if (typeof written === 'string') return readPlace(written);
  const hosts = peers.map(({ host }) => host);
  if (hosts.every(isLoopback)) return { host: hosts.some((host) => isIPv6(host)) ? '::1' : '127.0.0.1', port: written };
  return { host: hosts.some((host) => isIPv6(host)) ? '::' : '0.0.0.0', port: written };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

/** Returns a function that checks whether a sender with a given IP address is permitted. Returns undefined if every sender is permitted. */
export function createGuard(networks: readonly string[]): ((address: string) => boolean) | undefined {
  if (networks.length === 0) return undefined;
  const list = new BlockList();
  for (const text of networks) {
    const [address = '', bits] = text.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}
