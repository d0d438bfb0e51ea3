// What a driver module may do in its process, as far as Node.js's permission model does not enforce it: connections go only to the hosts
// that the settings allow, no port is opened, and no other process receives a signal. The guard is loaded before the module.

import dgram from 'node:dgram';
import dns from 'node:dns';
import inspector from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

export interface Guard {
  /** Allows connections to hosts: names, addresses, and networks such as `10.0.0.0/24`. Before this call, no connections are allowed. */
  open(hosts: readonly string[]): void;
}

// biome-ignore lint/suspicious/noExplicitAny: each method has its own `this`
type Method = (this: any, ...args: unknown[]) => unknown;

/**
 * Restricts what this process may do from now on. For each denied operation, `report` is called with a description such as
 * `connect to 10.0.0.1:80`.
 */
export function installGuard(report: (what: string) => void): Guard {
  const names = new Set<string>();
  const networks = new net.BlockList();
  const deny: Deny = (what, host) => {
    report(what);
    const reason = host === undefined ? '' : `: \`allowHosts\` does not contain ${host}`;
    return Object.assign(new Error(`the hub does not permit the module to ${what}${reason}`), { code: 'EACCES' });
  };
  const isAllowed = (host: string) => {
    const plain = host.toLowerCase().replace(/^\[|\]$/g, '');
    if (names.has(plain)) return true;
    const family = net.isIP(plain);
    return family !== 0 && networks.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  };
  guardNames(isAllowed, deny);
  const lookup = dns.lookup;
  guardSockets(isAllowed, deny, lookup);
  guardDatagrams(isAllowed, deny, lookup);
  guardProcess(deny);
  syncBuiltinESMExports();
  return {
    open(hosts) {
      for (const host of hosts) {
        const [address = '', bits] = host.split('/');
        const family = net.isIP(address);
        if (family === 0) names.add(host.toLowerCase());
        else if (bits === undefined) networks.addAddress(address, family === 6 ? 'ipv6' : 'ipv4');
        else networks.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
      }
    },
  };
}

type IsAllowed = (host: string) => boolean;
/** Returns the error for a denied operation, with its host if `allowHosts` could allow the operation. */
type Deny = (what: string, host?: string) => Error;

function guardNames(isAllowed: IsAllowed, deny: Deny): void {
  const lookup = dns.lookup as unknown as Method;
  const lookupPromise = dns.promises.lookup as unknown as Method;
  const mayLookUp = (host: unknown) => typeof host !== 'string' || net.isIP(host) !== 0 || isAllowed(host);
  const guarded = (host: unknown, ...args: unknown[]) => {
    if (mayLookUp(host)) return lookup(host, ...args);
    const error = deny(`look up ${host}`, String(host));
    const done = args.at(-1);
    process.nextTick(() => typeof done === 'function' && done(error));
    return {};
  };
  Object.assign(dns, { lookup: guarded });
  Object.assign(dns.promises, {
    lookup: async (host: unknown, ...args: unknown[]) => {
      if (!mayLookUp(host)) throw deny(`look up ${host}`, String(host));
      return lookupPromise(host, ...args);
    },
  });
  // these functions query name servers themselves
  for (const api of [dns, dns.promises] as unknown as Record<string, unknown>[])
    for (const name of Object.keys(api))
      if (/^(?:resolve|reverse|lookupService|Resolver)/.test(name))
        api[name] = function refuse() {
          throw deny(`ask a name server (dns.${name})`);
        };
}

function guardSockets(isAllowed: IsAllowed, deny: Deny, lookup: typeof dns.lookup): void {
  const normalize = (net as unknown as { _normalizeArgs(args: unknown[]): [Record<string, unknown>, unknown] })
    ._normalizeArgs;
  const connect = net.Socket.prototype.connect as unknown as Method;
  net.Socket.prototype.connect = function guarded(this: net.Socket, ...args: unknown[]) {
    const [options, done] = Array.isArray(args[0]) ? (args[0] as [Record<string, unknown>, unknown]) : normalize(args);
    const { path, host = 'localhost', port } = options;
    const what = path === undefined ? `connect to ${host}:${port}` : `connect to ${path}`;
    if (path !== undefined || !isAllowed(String(host))) {
      const error = deny(what, path === undefined ? String(host) : undefined);
      process.nextTick(() => this.destroy(error));
      return this;
    }
    // a lookup function of the module could return any address for an allowed name
    const checked = { ...options, lookup };
    return connect.call(this, checked, ...(typeof done === 'function' ? [done] : [])) as net.Socket;
  } as typeof net.Socket.prototype.connect;
  net.Server.prototype.listen = function refuse() {
    throw deny('listen on a port');
  };
}

function guardDatagrams(isAllowed: IsAllowed, deny: Deny, lookup: typeof dns.lookup): void {
  const { prototype } = dgram.Socket as unknown as { prototype: Record<string, Method> };
  const connected = new WeakSet<object>();
  const { send, connect, addMembership } = prototype as Record<'send' | 'connect' | 'addMembership', Method>;
  const fail = (socket: unknown, what: string, args: readonly unknown[], denied?: string) => {
    const error = deny(what, denied);
    const done = args.at(-1);
    process.nextTick(() =>
      typeof done === 'function' ? done(error) : (socket as NodeJS.EventEmitter).emit('error', error),
    );
  };
  /** Calls a method with the address of an allowed host instead of its name, because the module's own lookup could return any address. */
  const withAddress = (socket: unknown, method: Method, what: string, args: unknown[], at: number) => {
    const host = at < 0 ? 'localhost' : String(args[at]);
    if (!isAllowed(host)) fail(socket, `${what} ${host}`, args, host);
    else if (at < 0 || net.isIP(host) !== 0) method.call(socket, ...args);
    else
      lookup(host, (error, address) => {
        if (error !== null) fail(socket, `${what} ${host}: ${error.message}`, args);
        else method.call(socket, ...args.with(at, address));
      });
  };
  prototype.send = function guarded(this: object, ...args: unknown[]) {
    const at = args.findLastIndex((arg, index) => index > 1 && typeof arg === 'string');
    if (at < 0 && connected.has(this)) return send.call(this, ...args);
    withAddress(this, send, 'send a datagram to', args, at);
  };
  prototype.connect = function guarded(this: object, ...args: unknown[]) {
    connected.add(this);
    withAddress(this, connect, 'send datagrams to', args, typeof args[1] === 'string' ? 1 : -1);
  };
  prototype.addMembership = function guarded(this: object, ...args: unknown[]) {
    if (!isAllowed(String(args[0]))) throw deny(`join the group ${args[0]}`, String(args[0]));
    return addMembership.call(this, ...args);
  };
  prototype.addSourceSpecificMembership = function refuse() {
    throw deny('join a group');
  };
}

function guardProcess(deny: Deny): void {
  const kill = process.kill.bind(process);
  process.kill = (pid, signal) => {
    if (pid !== process.pid) throw deny(`send a signal to process ${pid}`);
    return kill(pid, signal);
  };
  for (const name of ['binding', '_linkedBinding', '_debugProcess', '_debugEnd', 'dlopen'])
    Object.assign(process, {
      [name]() {
        throw deny(`use process.${name}`);
      },
    });
  inspector.open = () => {
    throw deny('open the inspector');
  };
}
