// What only one connection of a hub can have: a port, a file, a device. Two connections that claim the same are a mistake,
// told when flow files are checked, or a conflict when one of them is started by hand.

import { isEveryInterface } from './setting.ts';

/**
 * `{ kind: 'tcp port', name: 'port 17011', scope: '127.0.0.1' }`. Two claims clash when kind and name are equal and the scopes
 * meet.
 */
export interface Claim {
  /** What kind of thing it is; TCP port 9000 and UDP port 9000 are of two kinds. */
  readonly kind: string;
  /** What the operator reads: `expected exclusive use of port 17011, "api" uses it too`. */
  readonly name: string;
  /** Where it is claimed, such as the address of one interface; `*` is everywhere, and meets every scope. */
  readonly scope: string;
}

/** Whether two connections cannot both have what they claim. */
export function claimsClash(one: Claim, other: Claim): boolean {
  const doScopesMeet = one.scope === other.scope || one.scope === '*' || other.scope === '*';
  return one.kind === other.kind && one.name === other.name && doScopesMeet;
}

/** The claim of a TCP port on a local address, or on every interface; port 0 is any free one, and claims nothing. */
export function claimTcpPort(port: number, bindIp: string): readonly Claim[] {
  return claimPort('tcp port', `port ${port}`, port, bindIp);
}

/** The claim of a UDP port, as `claimTcpPort`. */
export function claimUdpPort(port: number, bindIp: string): readonly Claim[] {
  return claimPort('udp port', `UDP port ${port}`, port, bindIp);
}

/** The claim of a file that is written, by its absolute path. */
export function claimFile(path: string): readonly Claim[] {
  return [{ kind: 'file', name: `file ${path}`, scope: '*' }];
}

function claimPort(kind: string, name: string, port: number, bindIp: string): readonly Claim[] {
  return port === 0 ? [] : [{ kind, name, scope: isEveryInterface(bindIp) ? '*' : bindIp }];
}
