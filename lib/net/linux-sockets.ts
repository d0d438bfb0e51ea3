// Lists the clients that are connected to a port of this machine, as reported by Linux (proc(5), /proc/net/tcp). uWebSockets.js does not
// report the address of a closed connection.

import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/**
 * Resolves to the number of connections to a port for each client address, in the form that `remoteAddressOf` returns. Rejects if the
 * operating system has no table of connections.
 */
export async function peersOf(port: number): Promise<Map<string, number>> {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => ''));
  const [four = '', six = ''] = await Promise.all(tables);
  if (four === '') throw new Error('/proc/net/tcp: expected a table of connections');
  return peersIn(four + six, port);
}

/**
 * Counts the connections to a port in the system's tables, separately for each client address. A connection counts if it is established or
 * was closed only by the peer, and if this process has accepted it. Until a connection is accepted, it has no inode.
 */
export function peersIn(tables: string, port: number): Map<string, number> {
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  const line = new RegExp(
    `^ *\\d+: [0-9A-F]+:${local} ([0-9A-F]+):[0-9A-F]{4} 0[18] \\S+ \\S+ \\S+ +\\d+ +\\d+ [1-9]`,
    'gm',
  );
  const byRemote = new Map<string, number>();
  for (const [, remote] of tables.matchAll(line)) byRemote.set(remote!, (byRemote.get(remote!) ?? 0) + 1);
  return new Map([...byRemote].map(([remote, count]) => [addressOf(remote), count]));
}

/**
 * Converts an address from the system's tables: `0100007F` → `127.0.0.1`. The string consists of words of four bytes, each in the machine's
 * byte order.
 */
function addressOf(hex: string): string {
  const bytes = hex.match(/.{8}/g)!.flatMap((word) => word.match(/../g)!.reverse());
  const isMapped = bytes.length === 16 && /^0{20}FFFF$/.test(bytes.slice(0, 12).join(''));
  const decimal = () => bytes.slice(-4).map((byte) => Number.parseInt(byte, 16));
  if (bytes.length === 4 || isMapped) return decimal().join('.');
  return bytes.join('').toLowerCase().match(/.{4}/g)!.join(':');
}

// The number of files and sockets that this process may open, and the number that it has open; only Linux reports these numbers. A process
// at this limit cannot accept a client, and the system wakes its listener continuously.

/**
 * Returns the maximum number of descriptors that the process may open (`ulimit -n`); infinity if the operating system does not report the
 * number.
 */
export function descriptorLimit(): number {
  try {
    const soft = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Returns the number of descriptors that the process has open; 0 if the operating system does not report the number. */
export function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}
