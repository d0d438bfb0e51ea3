// Claims to resources that only one connection in a hub can use, such as a port, a file or a device. Two connections with clashing claims
// are a mistake that is reported when flow files are checked, or a conflict when a user starts one of the connections.

import { isEveryInterface } from './setting.ts';

/**
 * A claim to a resource: `{ kind: 'tcp port', name: 'port 17011', scope: '127.0.0.1' }`. Two claims clash if they have the same kind and
 * name, and their scopes overlap.
 */
export interface Claim {
  /** The kind of resource. TCP port 9000 and UDP port 9000 have different kinds. */
  readonly kind: string;
  /** The name of the resource in messages to operators: `expected exclusive use of port 17011, "api" uses it too`. */
  readonly name: string;
  /** The scope of the claim, such as the address of a network interface. The scope `*` overlaps all scopes. */
  readonly scope: string;
}

/** Returns whether two claims clash. */
export function claimsClash(one: Claim, other: Claim): boolean {
  const doScopesMeet = one.scope === other.scope || one.scope === '*' || other.scope === '*';
  return one.kind === other.kind && one.name === other.name && doScopesMeet;
}

/**
 * Returns the claim for a TCP port on a local address or on all interfaces. Returns an empty list for port 0, which stands for any free
 * port.
 */
export function claimTcpPort(port: number, bindIp: string): readonly Claim[] {
  return claimPort('tcp port', `port ${port}`, port, bindIp);
}

/** Returns the claim for a UDP port; see `claimTcpPort`. */
export function claimUdpPort(port: number, bindIp: string): readonly Claim[] {
  return claimPort('udp port', `UDP port ${port}`, port, bindIp);
}

/** Returns the claim for an output file, identified by its absolute path. */
export function claimFile(path: string): readonly Claim[] {
  return [{ kind: 'file', name: `file ${path}`, scope: '*' }];
}

function claimPort(kind: string, name: string, port: number, bindIp: string): readonly Claim[] {
  return port === 0 ? [] : [{ kind, name, scope: isEveryInterface(bindIp) ? '*' : bindIp }];
}
