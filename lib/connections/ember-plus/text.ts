// Converts Ember+ messages to and from readable text, for `patchbay wire` and for tests: `get 1.2; 1.2.1 parameter "Gain" = -12.5; 1.3
// matrix "Router" 40x40; 1.3 connect 0 = 5`.

import { encodeCommand, encodeElements, encodeResult, encodeStreams, type Written } from './encode.ts';
import { type Command, type Contents, commands, decodeGlow, type ElementKind, type GlowValue } from './glow.ts';
import { command as frame } from './s101.ts';

const commandNames = new Map<number, string>([
  [commands.getDirectory, 'get'],
  [commands.subscribe, 'subscribe'],
  [commands.unsubscribe, 'unsubscribe'],
  [commands.invoke, 'invoke'],
]);
/** The maximum number of parts that are shown for one message. */
const shownParts = 200;

/** Returns the readable form of a message, or its bytes in hex if the message is invalid. Never throws. */
export function showMessage(bytes: Uint8Array): string {
  const packet = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (packet[0] === frame.keepAlive) return 'keep-alive';
  if (packet[0] === frame.keepAliveAnswer) return 'keep-alive answer';
  try {
    const { elements, commands: asked, streams, result } = decodeGlow(packet);
    const parts = asked.map(({ path, number }) => `${commandNames.get(number) ?? number} ${path}`.trimEnd());
    for (const { kind, path, contents = {}, connections = [] } of elements) {
      const shown = showElement(kind, contents);
      if (shown === '' && asked.length > 0) continue; // the element only contains the element that the command is sent to
      if (shown !== '' || connections.length === 0) parts.push(`${path} ${shown === '' ? kind : shown}`);
      for (const { target, sources } of connections)
        parts.push(`${path} connect ${target} = ${sources.join(',') || 'none'}`);
      if (parts.length > shownParts) break;
    }
    for (const [id, value] of streams) parts.push(`stream ${id} = ${showValue(value)}`);
    if (result !== undefined) parts.push(`result ${result.id} ${result.isSuccess ? 'ok' : 'failed'}`);
    const more = parts.length > shownParts ? '; …' : '';
    return parts.length === 0 ? 'empty' : parts.slice(0, shownParts).join('; ') + more;
  } catch {
    return packet.toString('hex');
  }
}

function showElement(kind: ElementKind, contents: Contents): string {
  const { identifier, value, isOnline, targetCount, sourceCount } = contents;
  const size = targetCount === undefined || sourceCount === undefined ? '' : ` ${targetCount}x${sourceCount}`;
  return [
    identifier === undefined ? '' : `${kind} ${JSON.stringify(identifier)}${size}`,
    value === undefined ? '' : `= ${showValue(value)}`,
    isOnline === undefined ? '' : isOnline ? 'online' : 'offline',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function showValue({ type, value }: GlowValue): string {
  if (Buffer.isBuffer(value)) return `x${value.toString('hex')}`;
  const isWhole = type === 'real' && Number.isInteger(value);
  return isWhole ? `${value}.0` : typeof value === 'number' ? String(value) : JSON.stringify(value);
}

/** Encodes a message from its readable form. Errors: `Error` with a readable message. */
export function readMessage(text: string): Uint8Array {
  if (text === 'keep-alive') return Buffer.of(frame.keepAlive);
  if (text === 'keep-alive answer') return Buffer.of(frame.keepAliveAnswer);
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*"|[^";])+/g)?.map((part) => part.trim()) ?? [];
  const [first = ''] = parts;
  const [, name, path = ''] = /^(get|subscribe|unsubscribe|invoke)(?: ([\d.]+))?$/.exec(first) ?? [];
  if (name !== undefined && parts.length === 1) return encodeCommand(commandFor(name, path), kindFor(name));
  const [, id, outcome] = /^result (\d+) (ok|failed)$/.exec(first) ?? [];
  if (id !== undefined) return encodeResult({ id: Number(id), isSuccess: outcome === 'ok' });
  if (first.startsWith('stream '))
    return encodeStreams(
      parts.map((part) => {
        const [, stream, value] = /^stream (\d+) = (.+)$/s.exec(part) ?? fail(part);
        return [Number(stream), readValue(value!)] as const;
      }),
    );
  if (first === 'empty') return encodeElements([]);
  return encodeElements(parts.map(readElement));
}

function commandFor(name: string, path: string): Command {
  const [number] = [...commandNames].find(([, one]) => one === name)!;
  return { path, number, ...(name === 'invoke' && { invocation: { id: 1, args: [] } }) };
}

function kindFor(name: string): ElementKind {
  return name === 'invoke' ? 'function' : name === 'get' ? 'node' : 'parameter';
}

const elementPattern =
  /^([\d.]+)(?: (node|parameter|matrix|function)(?: ("(?:[^"\\]|\\.)*"))?(?: (\d+)x(\d+))?)?(?: = (.+?))?(?: (online|offline))?$/s;

function readElement(part: string): Written {
  const [, at, target, sources] = /^([\d.]+) connect (\d+) = ([\d,]+|none)$/.exec(part) ?? [];
  if (at !== undefined) {
    const numbers = sources === 'none' ? [] : sources!.split(',').map(Number);
    return { kind: 'matrix', at, connections: [{ target: Number(target), sources: numbers }] };
  }
  const [, path, kind = 'parameter', name, targets, all, value, online] = elementPattern.exec(part) ?? fail(part);
  const typed = value === undefined ? undefined : readValue(value);
  const contents: Contents = {
    ...(name !== undefined && { identifier: JSON.parse(name) as string }),
    ...(name !== undefined && kind === 'parameter' && { access: 3 }),
    ...(targets !== undefined && { targetCount: Number(targets), sourceCount: Number(all) }),
    ...(typed !== undefined && { value: typed }),
    ...(online !== undefined && { isOnline: online === 'online' }),
  };
  return { kind: kind as ElementKind, at: path!, ...(Object.keys(contents).length > 0 && { contents }) };
}

function readValue(text: string): GlowValue {
  if (/^x[\da-f]*$/i.test(text)) return { type: 'octets', value: Buffer.from(text.slice(1), 'hex') };
  if (/^-?\d+$/.test(text)) return { type: 'integer', value: Number(text) };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'number') return { type: 'real', value };
    if (typeof value === 'string') return { type: 'text', value };
    if (typeof value === 'boolean') return { type: 'boolean', value };
    if (value === null) return { type: 'null', value };
  } catch {} // the error is thrown below
  throw new Error(`expected a value such as 5, 5.0, "text", true or x00ff, got ${text}`);
}

function fail(part: string): never {
  throw new Error(
    `expected a message such as get 1.2, 1.2.1 parameter "Gain" = -12.5, 1.3 connect 0 = 5 or keep-alive, got ${JSON.stringify(part)}`,
  );
}
