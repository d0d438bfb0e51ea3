// The other side of the specs of snmp: Debian's snmpd with communities and users of every kind, and its commands.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { pathOf } from '../../support/programs.ts';

/** Where the objects of specs are: `${base}.1.0`. */
export const base = '1.3.6.1.4.1.99999';
const password = 'signing-password';
const privPassword = 'sealing-password';

/** The users of an agent. */
export const users = {
  plain: { name: 'plain' },
  signer: { name: 'signer', auth: 'sha256', password },
  sealer: { name: 'sealer', auth: 'sha512', password, priv: 'aes256', privPassword },
  des: { name: 'des', auth: 'md5', password, priv: 'des', privPassword },
  aes: { name: 'aes', auth: 'sha', password, priv: 'aes', privPassword },
  aes192: { name: 'aes192', auth: 'sha224', password, priv: 'aes192', privPassword },
  same: { name: 'same', auth: 'sha384', password, priv: 'aes' },
} as const;

const usersOfAgent = `
createUser plain
createUser signer SHA-256 ${password}
createUser sealer SHA-512 ${password} AES-256 ${privPassword}
createUser des MD5 ${password} DES ${privPassword}
createUser aes SHA ${password} AES ${privPassword}
createUser aes192 SHA-224 ${password} AES-192 ${privPassword}
createUser same SHA-384 ${password} AES ${password}
rwuser plain noauth
rwuser signer auth
rwuser sealer priv
rwuser des priv
rwuser aes priv
rwuser aes192 priv
rwuser same priv
`;

export interface Agent {
  readonly port: number;
  readonly child: ChildProcess;
  /** Changes an object: `set('1.0', 'i', 7)`. */
  set(object: string, type: string, value: number | string): Promise<unknown>;
  /** Changes the counter at `${base}.20.4`. */
  count(value: number): Promise<void>;
}

const run = promisify(execFile);

/** The environment of Debian's programs, which otherwise read the MIBs and files of the machine. */
export function environment(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, MIBS: '', SNMP_PERSISTENT_DIR: folder, SNMPCONFPATH: folder };
}

/** Runs a command of Debian's package snmp. */
export async function command(t: ExecutionContext, name: string, ...args: readonly string[]): Promise<string> {
  const folder = await createFolder(t);
  const { stdout, stderr } = await run(name, args, { env: environment(folder) });
  return stdout + stderr;
}

export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

/** Starts an agent on one port or several, which ends with the test. `more` is added to its configuration, which is in `folder`. */
export async function startAgent(
  t: Pick<ExecutionContext, 'teardown'>,
  options: { port?: number; furtherPorts?: readonly number[]; more?: string; folder?: string } = {},
): Promise<Agent> {
  const { port, furtherPorts = [], more = '', folder } = options;
  const at = port ?? (await freeUdpPort());
  const home = folder ?? (await createFolder(t as ExecutionContext));
  const file = join(home, 'agent.conf');
  const script = join(home, 'objects.sh');
  await mkdir(join(home, 'persistent'), { recursive: true });
  // Objects that only a program can offer: a counter of 64 bits, and one that changes.
  await writeFile(
    script,
    `#!/bin/sh
while read -r verb; do
  [ "$verb" = PING ] && echo PONG && continue
  read -r oid
  [ "$verb" = set ] && read -r value
  case "$verb $oid" in
  "get .${base}.20.1") printf '%s\\ncounter64\\n18446744073709551615\\n' "$oid" ;;
  "get .${base}.20.2") printf '%s\\ntimeticks\\n4200\\n' "$oid" ;;
  "get .${base}.20.3") printf '%s\\nipaddress\\n10.0.0.5\\n' "$oid" ;;
  "get .${base}.20.4") printf '%s\\ncounter\\n%s\\n' "$oid" "$(cat ${join(home, 'counter')})" ;;
  *) echo NONE ;;
  esac
done
`,
  );
  await writeFile(join(home, 'counter'), '7');
  await writeFile(
    file,
    `agentaddress ${[at, ...furtherPorts].map((one) => `udp:127.0.0.1:${one}`).join(',')}
sysname desk
rocommunity public
rwcommunity writer
${usersOfAgent}
override -rw ${base}.1.0 integer 5
override -rw ${base}.2.0 octet_str "text"
override -rw ${base}.3.0 uinteger 4000000000
override -rw ${base}.4.0 object_id 1.3.6.1.4
override -rw ${base}.5.0 counter 7
override -rw ${base}.6.0 integer 1
override -rw ${base}.7.0 octet_str "12.5"
override ${base}.8.0 integer 8
pass_persist ${base}.20 /bin/sh ${script}
${more}
`,
  );
  const child = spawn(pathOf('snmpd') ?? 'snmpd', ['-f', '-Lo', '-C', '-c', file], {
    env: environment(join(home, 'persistent')),
    stdio: 'ignore',
  });
  t.teardown(() => child.kill('SIGKILL'));
  await eventually(() => answers(at), 'the answer of snmpd');
  const writing = ['-v2c', '-c', 'writer', `127.0.0.1:${at}`];
  return {
    port: at,
    child,
    async count(value) {
      await writeFile(join(home, 'counter.new'), String(value));
      await rename(join(home, 'counter.new'), join(home, 'counter'));
    },
    set: (object, type, value) =>
      run('snmpset', [...writing, `${base}.${object}`, type, String(value)], { env: environment(home) }),
  };
}

async function answers(port: number): Promise<boolean> {
  try {
    await run('snmpget', ['-v2c', '-c', 'public', '-r', '0', '-t', '0.3', `127.0.0.1:${port}`, '1.3.6.1.2.1.1.5.0'], {
      env: { ...process.env, MIBS: '' },
    });
    return true;
  } catch {
    return false;
  }
}

/** A peer that answers each datagram as `answer` says, and ends with the test. */
export async function startLiar(
  t: ExecutionContext,
  answer: (bytes: Buffer, from: RemoteInfo, socket: Socket) => void,
  port = 0,
): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => answer(bytes, from, socket));
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.bind(port, '127.0.0.1', resolve));
  t.teardown(() => socket.close());
  return socket.address().port;
}
