// The programs that specs use and npm does not bring, and Debian's packages that bring them. `npm run spec:install`
// installs what is missing, `npm run spec` leaves out the specs whose programs are not there: it finds them by their call of `needs`.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';

interface Program {
  /** Debian's packages. */
  readonly packages: readonly string[];
  readonly isThere: () => boolean;
}

const chromiumNames = ['chromium', 'chromium-browser', 'google-chrome'];
/** Chromium without windows takes half of the time. */
const headlessNames = ['chromium-headless-shell', ...chromiumNames];

export const programs = {
  chromium: { packages: ['chromium'], isThere: () => chromiumNames.some(pathOf) },
  'chromium-headless-shell': { packages: ['chromium-headless-shell'], isThere: () => headlessNames.some(pathOf) },
  curl: command('curl'),
  exim4: command('exim4', 'exim4-daemon-light'),
  firefox: { packages: ['firefox-esr'], isThere: () => ['firefox-esr', 'firefox'].some(pathOf) },
  faketime: { packages: ['libfaketime'], isThere: () => findLibfaketime() !== undefined },
  git: command('git'),
  haproxy: command('haproxy'),
  keyboard: { packages: ['libxtst6', 'libxt6', 'libxrandr2'], isThere: hasKeyboard },
  lighttpd: command('lighttpd'),
  mbpoll: command('mbpoll'),
  mosquitto: command('mosquitto'),
  mosquitto_pub: command('mosquitto_pub', 'mosquitto-clients'),
  'liblo-tools': { packages: ['liblo-tools'], isThere: () => ['oscsend', 'oscdump'].every(pathOf) },
  nats: command('nats-server', 'nats-server'),
  nghttpx: command('nghttpx', 'nghttp2-proxy'),
  nginx: command('nginx', 'nginx-light'),
  ola: command('olad', 'ola'),
  openssl: command('openssl'),
  rigctld: command('rigctld', 'libhamlib-utils'),
  ser2net: command('ser2net'),
  snmp: { packages: ['snmp'], isThere: () => ['snmpget', 'snmptrap'].every((name) => pathOf(name) !== undefined) },
  snmpd: command('snmpd'),
  sndio: { packages: ['sndiod', 'sndio-tools'], isThere: () => ['sndiod', 'midicat'].every(pathOf) },
  socat: command('socat'),
  'python3-websockets': {
    packages: ['python3-websockets'],
    isThere: () => succeeds('/usr/bin/python3', '-c', 'import websockets'),
  },
  prometheus: command('prometheus'),
  python3: command('python3'),
  script: command('script', 'bsdutils'),
  setxkbmap: command('setxkbmap', 'x11-xkb-utils'),
  sqlite3: command('sqlite3'),
  'systemd-analyze': command('systemd-analyze', 'systemd'),
  'systemd-notify': command('systemd-notify', 'systemd'),
  xdotool: command('xdotool'),
  xev: command('xev', 'x11-utils'),
  xmllint: command('xmllint', 'libxml2-utils'),
  xvfb: command('Xvfb', 'xvfb'),
} satisfies Readonly<Record<string, Program>>;

export type ProgramName = keyof typeof programs;

/** Says what the specs of a module need, `needs('xvfb', 'xdotool')`, on its top level. Errors: when it is not there. */
export function needs(...names: readonly ProgramName[]): void {
  const missing = names.filter((name) => !programs[name].isThere());
  const packages = missing.flatMap((name) => programs[name].packages);
  if (missing.length > 0)
    throw new Error(`needs ${missing.join(', ')}; on Debian: apt-get install ${packages.join(' ')}`);
}

/** The library that stands between a process and the clock of the machine. Errors: when it is not there. */
export function libfaketime(): string {
  needs('faketime');
  return findLibfaketime()!;
}

function findLibfaketime(): string | undefined {
  return globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0];
}

/** Where Chromium is, with all that people can set. Errors: when it is not there. */
export function chromiumPath(): string {
  needs('chromium');
  return firstOf(chromiumNames);
}

/** Where a Chromium is that shows pages to programs. Errors: when there is none. */
export function headlessPath(): string {
  needs('chromium-headless-shell');
  return firstOf(headlessNames);
}

function firstOf(names: readonly string[]): string {
  return names.map(pathOf).find((path) => path !== undefined)!;
}

/** Where a program is, in the folders of PATH and those of administrators; undefined: nowhere. */
export function pathOf(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function command(name: string, debianPackage = name): Program {
  return { packages: [debianPackage], isThere: () => pathOf(name) !== undefined };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Whether the native packages of keyboard connections load. It takes a process to find out: those that this one starts need not. */
function hasKeyboard(): boolean {
  process.env.PATCHBAY_SPEC_KEYBOARD ??= String(loadsKeyboard());
  return process.env.PATCHBAY_SPEC_KEYBOARD === 'true';
}

/** Their libraries of X are no packages of npm. */
function loadsKeyboard(): boolean {
  const require = createRequire(import.meta.url);
  try {
    const modules = ['uiohook-napi', '@nut-tree-fork/nut-js'].map((name) => require.resolve(name));
    const loads = modules.map((path) => `require(${JSON.stringify(path)});`).join('');
    // Not its exit code: without a display, a process that has loaded them does not exit well.
    return spawnSync(process.execPath, ['-e', `${loads}fs.writeSync(1, 'loaded')`]).stdout.toString() === 'loaded';
  } catch {
    return false; // an optional package that npm did not install
  }
}
