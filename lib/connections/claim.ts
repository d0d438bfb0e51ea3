// Resources that only one connection of a hub can have: a port, a file, a device. Two connections with the same claim are an error,
// reported when flow files are checked, or a conflict when a user starts one of them.

import { isEveryInterface } from './setting.ts';

/** `{ kind: 'tcp port', name: 'port 17011', scope: '127.0.0.1' }`. Two claims clash if kind and name are equal and the scopes overlap. */
export interface Claim {
  /** The kind of resource; TCP port 9000 and UDP port 9000 are of different kinds. */
  readonly kind: string;
  /** The name shown to operators: `expected exclusive use of port 17011, "api" uses it too`. */
  readonly name: string;
  /** The scope of the claim, such as the address of one interface; `*` is everywhere, and overlaps every scope. */
  readonly scope: string;
}

/** Whether the claims of two connections conflict. */
export function claimsClash(one: Claim, other: Claim): boolean {
  const doScopesMeet = one.scope === other.scope || one.scope === '*' || other.scope === '*';
  return one.kind === other.kind && one.name === other.name && doScopesMeet;
}

/** Returns the claim of a TCP port on a local address, or on all interfaces; none for port 0, which means any free port. */
export function claimTcpPort(port: number, bindIp: string): readonly Claim[] {
  return claimPort('tcp port', `port ${port}`, port, bindIp);
}

/** Returns the claim of a UDP port, like `claimTcpPort`. */
export function claimUdpPort(port: number, bindIp: string): readonly Claim[] {
  return claimPort('udp port', `UDP port ${port}`, port, bindIp);
}

/** Returns the claim of a file that is written, by its absolute path. */
export function claimFile(path: string): readonly Claim[] {
  return [{ kind: 'file', name: `file ${path}`, scope: '*' }];
}

function claimPort(kind: string, name: string, port: number, bindIp: string): readonly Claim[] {
  return port === 0 ? [] : [{ kind, name, scope: isEveryInterface(bindIp) ? '*' : bindIp }];
}
