// Connects to the X server that DISPLAY names. This happens before the library that hears keys connects: without a server that
// library aborts the process, and now and then it hangs.

import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { describe, messageOf } from '../../../../model/error.ts';
import type { Party } from './authority.ts';

const deadlineMs = 3000;
const firstPort = 6000;

/** Families of addresses in a file of authority (Xauth.h). */
const family = { internet: 0, internet6: 6, local: 256 } as const;

/** A connected socket, and how a file of authority names the server at its other end. */
export interface Reached {
  readonly socket: Socket;
  readonly server: Party;
}

/**
 * Connects to the display: `:0`, `unix:0.1`, `desk:0`, `localhost:10.0`, `[::1]:0`, or the path of its socket. Errors: one
 * sentence.
 */
export async function reachDisplay(display: string): Promise<Reached> {
  const { places, number } = readDisplay(display);
  const reasons: string[] = [];
  for (const place of places)
    try {
      const socket = await reach(place);
      return { socket, server: partyOf(socket, number) };
    } catch (error) {
      reasons.push(messageOf(error));
    }
  throw new Error(`no X server answers at the display ${display} (${reasons[0]})`);
}

function readDisplay(display: string): { places: readonly NetConnectOpts[]; number: string } {
  const [, path] = /^(?:unix:)?(\/.+)$/.exec(display) ?? [];
  if (path !== undefined) return { places: [{ path }], number: /:(\d+)$/.exec(path)?.[1] ?? '' };
  const [, host, number] = /^(?:\w+\/)?(\[[\da-f:.]+\]|[\w.-]*|[\da-f:]+):(\d+)(?:\.\d+)?$/i.exec(display) ?? [];
  if (host === undefined || number === undefined)
    throw new Error(`DISPLAY: expected a display such as ":0" or "localhost:10.0", got ${describe(display)}`);
  const local = `/tmp/.X11-unix/X${number}`;
  if (host === '' || host === 'unix') return { places: [{ path: local }, { path: `\0${local}` }], number };
  return { places: [{ host: host.replace(/^\[|\]$/g, ''), port: firstPort + Number(number) }], number };
}

function reach(place: NetConnectOpts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...place, timeout: deadlineMs })
      .once('connect', () => resolve(socket.setTimeout(0)))
      .once('timeout', () => socket.destroy(new Error('no answer')))
      .once('error', reject);
  });
}

/** A server on this machine is named by the name of the machine, any other by its address. */
function partyOf({ remoteAddress, remoteFamily }: Socket, number: string): Party {
  const address = remoteAddress?.replace(/^::ffff:/, '');
  if (address === undefined || address === '::1' || address.startsWith('127.'))
    return { family: family.local, address: Buffer.from(hostname()), number };
  if (remoteFamily === 'IPv6' && address === remoteAddress)
    return { family: family.internet6, address: bytesOfIpv6(address), number };
  return { family: family.internet, address: Buffer.from(address.split('.').map(Number)), number };
}

function bytesOfIpv6(address: string): Buffer {
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const words = (part: string | undefined) => (part ? part.split(':') : []);
  const [left, right] = [words(head), words(tail)];
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return Buffer.from([...left, ...zeros, ...right].map((word) => word.padStart(4, '0')).join(''), 'hex');
}
