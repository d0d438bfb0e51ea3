// `patchbay get`, `set` and `watch`: read and write parameters of a running hub over its REST API.

import { setTimeout as pause } from 'node:timers/promises';
import { pathOf } from '../../model/address.ts';
import { counted } from '../../model/digits.ts';
import { printable } from '../../model/printable.ts';
import { decimalCommaHint, toText, type Value, type ValueType } from '../../model/value.ts';
import type { WireFrames } from '../../wire/http/operation.ts';
import type { ParameterInfo, Updated } from '../../wire/http/parameter-shapes.ts';
import type { Notification } from '../../wire/plain.ts';
import { type Cli, remoteCommand } from '../cli.ts';
import type { Console, PacedConsole } from '../console.ts';
import { credentials, type RemoteOptions, request, requestParameter } from './ask-hub.ts';
import { describeStaleness, localTime } from './phrases.ts';

/** The command-line argument that names a parameter. */
const operand = ['<address>', '<Connection ID>/<Parameter ID>'] as const;

export function register(cli: Cli): void {
  const { console, finish, untilStopped, host } = cli;
  remoteCommand(cli, 'get', 'print the value of a parameter on a running hub')
    .option('--json', 'print the value as JSON')
    .argument(...operand)
    .action((address: string, options: RemoteOptions & { json?: boolean }) => finish(get(address, options, console)));
  remoteCommand(cli, 'set', 'set a parameter on a running hub, or fire a trigger')
    .argument(...operand)
    .option('--confirm <duration>', 'wait up to this long, such as 2s, for the device to confirm the value')
    .argument('[value]', "the new value, converted to the parameter's type; omit it to fire a trigger")
    .allowUnknownOption() // a value may begin with a minus
    .action((address: string, value: string | undefined, options: RemoteOptions & { confirm?: string }) => {
      const setting = async () => {
        expectOperands([address, value], host.argv);
        return set(address, value, options, console);
      };
      return finish(setting());
    });
  remoteCommand(cli, 'watch', 'print the value of a parameter on a running hub, then every change, until interrupted')
    .argument(...operand)
    .action((address: string, options: RemoteOptions) => finish(watch(address, options, console, untilStopped)));
  remoteCommand(cli, 'wire', 'print the frames that a connection to a device sends and receives, until interrupted')
    .option('--hex', 'print bytes as hexadecimal digits')
    .option('--once', 'print the recent frames and exit')
    .argument('<connection>', 'the Connection ID')
    .action((connectionId: string, options: WireOptions) => finish(wire(connectionId, options, console, untilStopped)));
}

/**
 * Prints the value of a parameter. If the value is stale, also prints an error message. Errors: the hub's error message, or an error if no
 * hub responds at the URL.
 */
export async function get(
  address: string,
  options: RemoteOptions & { json?: boolean },
  console: Console,
): Promise<number> {
  const path = `/parameters/${pathOf(address)}`;
  const accept = options.json ? 'application/json' : 'text/plain';
  console.print(await requestParameter(address, options, path, { headers: { accept } }));
  const info = await infoOf(address, options);
  if (info?.staleSince !== undefined) console.printError(`${address}: ${describeStaleness(info.staleSince)}`);
  return 0;
}

/**
 * Sets a parameter and prints the written value. Without a value, fires a trigger, or writes 1 to any other parameter. Errors: the hub's
 * error message, no hub at the URL, or a value that does not have the parameter's type.
 */
export async function set(
  address: string,
  value: string | undefined,
  options: RemoteOptions & { confirm?: string },
  console: Console,
): Promise<number> {
  const written = readValue(address, value, (await infoOf(address, options))?.type);
  const body = JSON.stringify({ parameter: address, value: written });
  const query = options.confirm === undefined ? '' : `?${new URLSearchParams({ confirm: options.confirm })}`;
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const answer = await requestParameter(address, options, `/update${query}`, { method: 'POST', body, headers });
  const { p, v } = JSON.parse(answer) as Updated;
  console.print(printable(`${p} = ${toText(v)}`));
  return 0;
}

/**
 * Returns what the hub says about a parameter. Returns undefined if the hub has no such parameter, or if the user may only write the
 * parameter. Errors: the same as for `request`.
 */
async function infoOf(address: string, options: RemoteOptions): Promise<ParameterInfo | undefined> {
  const list = await request(options, `/hub/parameters?${new URLSearchParams({ address })}`, {});
  return (JSON.parse(list) as ParameterInfo[])[0];
}

/** Checks the operands of a command, and allows values that begin with a minus sign. Throws if an operand looks like a misspelt option. */
export function expectOperands(operands: readonly (string | undefined)[], argv: readonly string[]): void {
  const option = operands.find((operand) => operand !== undefined && /^-(?:-|[a-z]$)/i.test(operand));
  if (option === undefined || argv.includes('--')) return;
  const shown = option.replace(/=.*$/s, '=***'); // the operand may be a password
  throw new Error(
    `unknown option "${shown}"; put a value that looks like an option after --: patchbay set <address> -- ${shown}`,
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
 * Interprets a value typed on the command line strictly, because the hub would convert any string to a boolean, and most strings to false
 * (D-02). Throws if a boolean is expected and the string is neither true nor false, or if a number contains a comma.
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
 * Prints the value of a parameter as soon as it is known, and every change until the command is stopped. While the output is not being
 * read, only the newest value is kept. Errors: the same as for `get`, and a lost connection.
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

/**
 * Returns a function that prints every value while the reader keeps up. Otherwise, the function prints the newest value and the number of
 * skipped values.
 */
function createPrinter(console: PacedConsole): (value: string) => void {
  let waiting: string | undefined;
  let leftOut = 0;
  const resume = () => {
    console.print(waiting!);
    waiting = undefined;
    if (leftOut > 0)
      console.printError(`skipped ${counted(leftOut, 'change')} because the output was not read fast enough`);
    leftOut = 0;
  };
  return (value) => {
    if (waiting !== undefined) leftOut++;
    else if (!console.isBehind) return console.print(value);
    else void console.whenTaken().then(resume);
    waiting = value;
  };
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

interface WireOptions extends RemoteOptions {
  readonly hex?: boolean;
  readonly once?: boolean;
}

/** The pause between two requests for new frames, in milliseconds. */
const wireEveryMs = 250;

/** Prints the recent frames of a connection, and each further frame until the command is stopped. Errors: the hub's error message. */
async function wire(
  connectionId: string,
  options: WireOptions,
  console: Console,
  untilStopped: () => Promise<unknown>,
): Promise<number> {
  let isStopped = false;
  const stopped = untilStopped().then(() => {
    isStopped = true;
  });
  let after = 0;
  do {
    const path = `/hub/wire/${encodeURIComponent(connectionId)}?${new URLSearchParams({ after: String(after) })}`;
    const frames = JSON.parse(await request(options, path, {})) as WireFrames;
    for (const { number, time, direction, text, hex, fault } of frames) {
      after = number;
      const shown = options.hex ? (hex ?? text) : text;
      const refused = fault === undefined ? '' : `  refused: ${fault}`;
      console.print(printable(`${localTime(time)}  ${direction === 'in' ? '<' : '>'}  ${shown}${refused}`));
    }
    if (options.once) return 0;
    await Promise.race([pause(wireEveryMs), stopped]);
  } while (!isStopped);
  return 0;
}
