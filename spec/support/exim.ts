// A real mail server on loopback: Exim, with STARTTLS, TLS from the beginning, passwords, greylisting and refusals, which can be killed,
// stopped and started again.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { eventually } from './deadline.ts';
import { createFolder } from './folder.ts';
import { pathOf } from './programs.ts';
import { freePort, isListening } from './system/port.ts';

export interface Exim {
  readonly folder: string;
  /** STARTTLS. */
  readonly port: number;
  /** TLS from the beginning. */
  readonly securePort: number;
  readonly caFile: string;
  readonly fingerprint: string;
  /** The mails that have arrived, oldest first. */
  mails(): Promise<readonly string[]>;
  has(count: number): Promise<void>;
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  start(): Promise<void>;
  /** Accepts mail to `busy@…`, which it greylists before. */
  endGreylisting(): Promise<void>;
}

/** Starts a server whose user `studio` has the password `right`. Mail to `nobody-here@…` is refused. */
export async function startExim(t: ExecutionContext): Promise<Exim> {
  const folder = await createFolder(t);
  await chmod(folder, 0o777);
  const [port, securePort] = [await freePort(), await freePort()];
  const [key, caFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', caFile];
  execFileSync('openssl', [...request, ...subject], { stdio: 'ignore' });
  await chmod(key, 0o644);
  const printed = execFileSync('openssl', ['x509', '-noout', '-fingerprint', '-sha256', '-in', caFile]).toString();
  const file = join(folder, 'exim.conf');
  await writeFile(file, configurationOf(folder, port, securePort));
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(pathOf('exim4')!, ['-C', file, '-bdf', '-q10m'], { stdio: 'ignore' });
    await eventually(async () => (await isListening(port)) && isListening(securePort), 'exim to listen');
  };
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const mails = async () => {
    const box = await readFile(join(folder, 'mbox'), 'utf8').catch(() => '');
    return box.split(/^From .*\n/m).slice(1);
  };
  await start();
  t.teardown(kill);
  return {
    ...{ folder, port, securePort, caFile, fingerprint: printed.split('=')[1]!.trim(), mails, kill, start },
    has: (count) => eventually(async () => (await mails()).length >= count, `${count} mails`),
    signal: (signal) => child!.kill(signal),
    async endGreylisting() {
      await writeFile(join(folder, 'known'), '');
      await rm(join(folder, 'spool/db'), { recursive: true, force: true });
    },
  };
}

function configurationOf(folder: string, port: number, securePort: number): string {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? 'nobody' : userInfo().username;
  const group = isRoot ? 'nogroup' : String(userInfo().gid);
  return `
exim_user = ${user}
exim_group = ${group}
never_users =
spool_directory = ${folder}/spool
log_file_path = ${folder}/log-%s
pid_file_path = ${folder}/pid
primary_hostname = localhost
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port} : ${securePort}
tls_on_connect_ports = ${securePort}
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
tls_advertise_hosts = *
auth_advertise_hosts = \${if eq{$tls_in_cipher}{}{}{*}}
keep_environment =
deliver_drop_privilege = true
acl_smtp_rcpt = recipient
acl_smtp_data = accept
begin acl
recipient:
  deny local_parts = nobody-here
       message = no such mailbox
  defer local_parts = busy
        condition = \${if !exists{${folder}/known}}
        message = greylisted, try again later
  deny condition = \${if and{{!eq{$tls_in_cipher}{}}{eq{$authenticated_id}{}}}}
       message = sign in first
  accept
begin routers
all:
  driver = accept
  transport = box
begin transports
box:
  driver = appendfile
  file = ${folder}/mbox
  user = ${user}
  group = ${group}
begin retry
* * F,1h,1m
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{studio}}{eq{$auth3}{right}}}}
  server_set_id = $auth2
`;
}
