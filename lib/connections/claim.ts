// Resources that only one connection in a hub can use, such as a port, a file or a device. Two connections with the same claim are an
// error, which is reported when flow files are checked, or a conflict when a user starts one of the connections.

import { isEveryInterface } from './setting.ts';

/**
 * `{ kind: 'tcp port', name: 'port 17011', scope: '127.0.0.1' }`. Two claims clash if they have the same kind and name, and overlapping
 * scopes.
 */
export interface Claim {
  /** The kind of resource. TCP port 9000 and UDP port 9000 are of different kinds. */
  readonly kind: string;
  /** The name as shown to operators: `expected exclusive use of port 17011, "api" uses it too`. */
  readonly name: string;
  /** The scope of the claim, such as the address of a network interface; `*` overlaps every scope. */
  readonly scope: string;
}

/** Returns whether the claims of two connections conflict. */
export function claimsClash(one: Claim, other: Claim): boolean {
  const doScopesMeet = one.scope === other.scope || one.scope === '*' || other.scope === '*';
  return one.kind === other.kind && one.name === other.name && doScopesMeet;
}

/** Returns the claim for a TCP port on a local address or on all interfaces. Port 0 needs no claim, because it stands for any free port. */
export function claimTcpPort(port: number, bindIp: string): readonly Claim[] {
  return claimPort('tcp port', `port ${port}`, port, bindIp);
}

/** Returns the claim for a UDP port, like `claimTcpPort`. */
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
