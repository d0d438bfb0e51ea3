// `patchbay get`, `set` and `watch`: talk to a running hub over its REST API.

import { printable } from '../../model/printable.ts';
import { decimalCommaHint, toText, type Value, type ValueType } from '../../model/value.ts';
import { pathOf } from '../../wire/http/parameter-path.ts';
import type { ParameterInfo, Updated } from '../../wire/http/parameter-shapes.ts';
import type { Notification } from '../../wire/plain.ts';
import { type Cli, remoteCommand } from '../cli.ts';
import type { Console, PacedConsole } from '../console.ts';
import { credentials, type RemoteOptions, request, requestParameter } from './ask-hub.ts';

/** What stands for a parameter on the command line. */
const operand = ['<address>', '<Connection ID>/<Parameter ID>'] as const;

export function register(cli: Cli): void {
  const { console, finish, untilStopped, host } = cli;
  remoteCommand(cli, 'get', 'print the value of a parameter of a running hub')
    .option('--json', 'print the JSON value')
    .argument(...operand)
    .action((address: string, options: RemoteOptions & { json?: boolean }) => finish(get(address, options, console)));
  remoteCommand(cli, 'set', 'set a parameter of a running hub, or fire a trigger')
    .argument(...operand)
    .argument('[value]', 'the new value, converted to the type of the parameter; left out: fire')
    .allowUnknownOption() // a value may begin with a minus
    .action((address: string, value: string | undefined, options: RemoteOptions) => {
      const setting = async () => {
        expectOperands([address, value], host.argv);
        return set(address, value, options, console);
      };
      return finish(setting());
    });
  remoteCommand(cli, 'watch', 'print the value of a parameter of a running hub and every change, until interrupted')
    .argument(...operand)
    .action((address: string, options: RemoteOptions) => finish(watch(address, options, console, untilStopped)));
}

/** Prints the value. Errors: the sentence of the hub, or that there is none at the URL. */
export async function get(
  address: string,
  options: RemoteOptions & { json?: boolean },
  console: Console,
): Promise<number> {
  const path = `/parameters/${pathOf(address)}`;
  const accept = options.json ? 'application/json' : 'text/plain';
  console.print(await requestParameter(address, options, path, { headers: { accept } }));
  return 0;
}

/**
 * Sets a parameter and prints what was written; without a value it fires a trigger, or writes what a trigger would. Errors: the
 * sentence of the hub, or that there is none at the URL; a value that is not meant for the type of the parameter.
 */
export async function set(
  address: string,
  value: string | undefined,
  options: RemoteOptions,
  console: Console,
): Promise<number> {
  const written = readValue(address, value, await typeOf(address, options));
  const body = JSON.stringify({ parameter: address, value: written });
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const answer = await requestParameter(address, options, '/update', { method: 'POST', body, headers });
  const { p, v } = JSON.parse(answer) as Updated;
  console.print(printable(`${p} = ${toText(v)}`));
  return 0;
}

/** undefined: the hub has no such parameter, or one that may only be written. Errors: as `request`. */
async function typeOf(address: string, options: RemoteOptions): Promise<ValueType | undefined> {
  const list = await request(options, `/hub/parameters?${new URLSearchParams({ address })}`, {});
  return (JSON.parse(list) as ParameterInfo[])[0]?.type;
}

/** A value may begin with a minus. Errors: what stands in its place, or in that of the address, is rather an option that is misspelt. */
export function expectOperands(operands: readonly (string | undefined)[], argv: readonly string[]): void {
  const option = operands.find((operand) => operand !== undefined && /^-(?:-|[a-z]$)/i.test(operand));
  if (option === undefined || argv.includes('--')) return;
  const shown = option.replace(/=.*$/s, '=***'); // it may be a password
  throw new Error(
    `unknown option "${shown}"; a value that begins so comes after --: patchbay set <address> -- ${shown}`,
  );
}

const words: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
const likeTrue = ['on', 'yes', 'y', 't'];
const likeFalse = ['off', 'no', 'n', 'f'];

/**
 * What a person means by a text. The hub takes every text for a boolean, and most of them for false (D-02): who types one is asked.
 * Errors: it is neither true nor false, or a number with a comma.
 */
function readValue(address: string, text: string | undefined, type: ValueType | undefined): Value {
  if (text === undefined) return type === 'S' ? '1' : true;
  if (type === 'B') {
    const word = text.trim().toLowerCase();
    const value = words.get(word);
    if (value !== undefined) return value;
    const meant = likeTrue.includes(word) ? true : likeFalse.includes(word) ? false : undefined;
    const hint = meant === undefined ? '' : `, did you mean ${meant}?`;
    throw new Error(`${address}: expected true or false, got "${text}"${hint}`);
  }
  const hint = type === 'I' || type === 'F' ? decimalCommaHint(text) : undefined;
  if (hint !== undefined) throw new Error(`${address}: expected a number, got "${text}"${hint}`);
  return text;
}

/**
 * Prints the value once it is known, and every change until it is stopped. While nobody reads what it prints, it keeps only the
 * newest value. Errors: as `get`, and when the connection is lost.
 */
export async function watch(
  address: string,
  options: RemoteOptions,
  console: PacedConsole,
  untilStopped: () => Promise<unknown>,
): Promise<number> {
  await requestParameter(address, options, `/parameters/${pathOf(address)}`, {}, [503]);
  const url = new URL('/ws', options.url);
  url.protocol = url.protocol.replace('http', 'ws');
  url.search = new URLSearchParams({ snapshot: 'true', filter: `^${escapeRegex(address)}$` }).toString();
  const socket = new WebSocket(url, { headers: credentials(options) });
  const print = createPrinter(console);
  socket.addEventListener('message', ({ data }) => print((JSON.parse(String(data)) as Notification).v));
  const lost = new Promise<never>((_, reject) => {
    socket.addEventListener('close', ({ code, reason }) =>
      reject(new Error(`${options.url}: the connection was closed (${code}${reason && `, ${reason}`})`)),
    );
  });
  await Promise.race([untilStopped(), lost]);
  return 0;
}

/** Prints values while the reader keeps up, and later the newest one, with how many were left out. */
function createPrinter(console: PacedConsole): (value: string) => void {
  let waiting: string | undefined;
  let leftOut = 0;
  const goOn = () => {
    console.print(waiting!);
    waiting = undefined;
    if (leftOut > 0) console.printError(`${leftOut} changes were left out: nobody read them`);
    leftOut = 0;
  };
  return (value) => {
    if (waiting !== undefined) leftOut++;
    else if (!console.isBehind) return console.print(value);
    else void console.whenTaken().then(goOn);
    waiting = value;
  };
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
