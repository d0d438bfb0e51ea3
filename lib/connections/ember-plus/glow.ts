// Glow, the data in Ember+ messages. A provider has a tree of nodes, parameters, matrices and functions. A consumer requests directories,
// writes values, connects targets to sources and invokes functions. The path of an element consists of the numbers from the root: `1.4.2`.

import {
  applicationTag,
  contextTag,
  type Item,
  readInteger,
  readItems,
  readReal,
  readRelativeOid,
  universal,
} from '../../device/ber.ts';

/** The maximum length of a path, in numbers. */
export const maxPathNumbers = 32;
/** The maximum number of targets and the maximum number of sources of a matrix. */
export const maxSignals = 65_536;

export type ElementKind = 'node' | 'parameter' | 'matrix' | 'function';
export type GlowType = 'integer' | 'real' | 'text' | 'boolean' | 'octets' | 'null';
/** A value and its type in the message. */
export interface GlowValue {
  readonly type: GlowType;
  readonly value: number | string | boolean | Buffer | null;
}

/** The parameter types. The index of a type is its number in a message. */
export const parameterTypes = ['null', 'integer', 'real', 'text', 'boolean', 'trigger', 'enum', 'octets'] as const;
export type ParameterType = (typeof parameterTypes)[number];

/** The properties of an element. A message usually contains only some of these properties. */
export interface Contents {
  readonly identifier?: string;
  readonly description?: string;
  readonly isOnline?: boolean;
  readonly schema?: string;
  // of parameters
  readonly value?: GlowValue;
  readonly minimum?: GlowValue;
  readonly maximum?: GlowValue;
  /** 0: none; 1: read; 2: write; 3: read and write. */
  readonly access?: number;
  readonly format?: string;
  /** The names of the choices, separated by line feeds. */
  readonly enumeration?: string;
  readonly enumMap?: readonly (readonly [name: string, value: number])[];
  readonly factor?: number;
  readonly step?: number;
  readonly type?: ParameterType;
  readonly streamId?: number;
  readonly stream?: { readonly format: number; readonly offset: number };
  // of matrices
  /**
   * 0: a target has at most one source; 1: in addition, a source has at most one target; 2: targets and sources have any number of
   * connections.
   */
  readonly matrixType?: number;
  /** 0: the numbers from 0 to the count are used; 1: only the listed numbers are used. */
  readonly addressing?: number;
  readonly targetCount?: number;
  readonly sourceCount?: number;
  // of functions
  readonly argumentCount?: number;
}

export interface Connection {
  readonly target: number;
  readonly sources: readonly number[];
  /** 0: replace the sources; 1: add the sources; 2: remove the sources. */
  readonly operation?: number;
  /** 0: tally; 1: modified; 2: pending; 3: locked. */
  readonly disposition?: number;
}

/** An element in a received Glow message. */
export interface Element {
  readonly kind: ElementKind;
  readonly path: string;
  readonly contents: Contents | undefined;
  /** Whether the message contains a list of children, which may be empty. */
  readonly hasChildren: boolean;
  readonly targets: readonly number[] | undefined;
  readonly sources: readonly number[] | undefined;
  readonly connections: readonly Connection[] | undefined;
}

/** The command numbers in the Glow specification. */
export const commands = { subscribe: 30, unsubscribe: 31, getDirectory: 32, invoke: 33 } as const;

export interface Command {
  /** The path of the element that the command is sent to; '' is the root. */
  readonly path: string;
  readonly number: number;
  readonly invocation?: { readonly id: number | undefined; readonly args: readonly GlowValue[] };
}

export interface InvocationResult {
  readonly id: number;
  readonly isSuccess: boolean;
}

/** A Glow message: elements (parents before their children), commands, stream values, or the result of an invocation. */
export interface GlowMessage {
  readonly elements: readonly Element[];
  readonly commands: readonly Command[];
  readonly streams: readonly (readonly [id: number, value: GlowValue])[];
  readonly result: InvocationResult | undefined;
}

/** The BER tags of the Glow items. */
export const tags = {
  root: applicationTag(0),
  parameter: applicationTag(1),
  command: applicationTag(2),
  node: applicationTag(3),
  collection: applicationTag(4),
  streamEntry: applicationTag(5),
  streams: applicationTag(6),
  pair: applicationTag(7),
  pairs: applicationTag(8),
  qualifiedParameter: applicationTag(9),
  qualifiedNode: applicationTag(10),
  rootCollection: applicationTag(11),
  streamDescription: applicationTag(12),
  matrix: applicationTag(13),
  target: applicationTag(14),
  source: applicationTag(15),
  connection: applicationTag(16),
  qualifiedMatrix: applicationTag(17),
  function: applicationTag(19),
  qualifiedFunction: applicationTag(20),
  argument: applicationTag(21),
  invocation: applicationTag(22),
  result: applicationTag(23),
} as const;

const kinds = new Map<number, readonly [ElementKind, isQualified: boolean]>([
  [tags.node, ['node', false]],
  [tags.parameter, ['parameter', false]],
  [tags.matrix, ['matrix', false]],
  [tags.function, ['function', false]],
  [tags.qualifiedNode, ['node', true]],
  [tags.qualifiedParameter, ['parameter', true]],
  [tags.qualifiedMatrix, ['matrix', true]],
  [tags.qualifiedFunction, ['function', true]],
]);
/** Decodes a Glow message. Errors: `Error` with a readable message; the whole message is then invalid. */
export function decodeGlow(message: Buffer): GlowMessage {
  try {
    return decode(message);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw new Error('expected a complete Glow message');
    throw error;
  }
}

function decode(message: Buffer): GlowMessage {
  const [root, ...more] = readItems(message.subarray(1));
  if (root === undefined || root.tag !== tags.root || more.length > 0) throw new Error('expected a single Glow root');
  const found = new Decoder();
  for (const item of root.items)
    if (item.tag === tags.rootCollection) found.collection(item, '');
    else if (item.tag === tags.streams) found.addStreams(item);
    else if (item.tag === tags.result) found.setResult(item);
  return found;
}

class Decoder implements GlowMessage {
  readonly elements: Element[] = [];
  readonly commands: Command[] = [];
  readonly streams: (readonly [number, GlowValue])[] = [];
  result: InvocationResult | undefined;

  collection({ items }: Item, parent: string): void {
    for (const { tag, items: inside } of items)
      if (tag === contextTag(0) && inside.length > 0) this.#element(inside[0]!, parent);
  }

  addStreams({ items }: Item): void {
    for (const { items: inside } of items) {
      const [entry] = inside;
      if (entry?.tag !== tags.streamEntry) continue;
      const fields = fieldsOf(entry);
      const [id, value] = [fields[0], fields[1]];
      if (id !== undefined && value !== undefined) this.streams.push([readInteger(id), glowValueOf(value)]);
    }
  }

  setResult(item: Item): void {
    const fields = fieldsOf(item);
    const isSuccess = fields[1] === undefined || fields[1].bytes[0] !== 0;
    this.result = { id: fields[0] === undefined ? 0 : readInteger(fields[0]), isSuccess };
  }

  #element(item: Item, parent: string): void {
    if (item.tag === tags.command) {
      this.#command(item, parent);
      return;
    }
    const kind = kinds.get(item.tag);
    if (kind === undefined) return; // such as a template
    const fields = fieldsOf(item);
    if (fields[0] === undefined) throw new Error('expected an element with a number or a path');
    const path = kind[1]
      ? readRelativeOid(fields[0], maxPathNumbers).join('.')
      : parent === ''
        ? `${numberOf(fields[0])}`
        : `${parent}.${numberOf(fields[0])}`;
    const numbers = (list: Item | undefined) =>
      list?.items.slice(0, maxSignals).map(({ items: [signal] }) => numberOf(fieldsOf(signal!)[0]!));
    if (path.split('.').length > maxPathNumbers)
      throw new Error(`expected at most ${maxPathNumbers} numbers in a path`);
    const isMatrix = kind[0] === 'matrix';
    this.elements.push({
      kind: kind[0],
      path,
      contents: fields[1] === undefined ? undefined : contentsOf(kind[0], fields[1]),
      hasChildren: fields[2] !== undefined,
      targets: isMatrix ? numbers(fields[3]) : undefined,
      sources: isMatrix ? numbers(fields[4]) : undefined,
      connections: isMatrix ? fields[5]?.items.map(({ items: [one] }) => connectionOf(one!)) : undefined,
    });
    if (fields[2] !== undefined) this.collection(fields[2], path);
  }

  #command(item: Item, path: string): void {
    const fields = fieldsOf(item);
    if (fields[0] === undefined) throw new Error('expected a command with a number');
    const number = readInteger(fields[0]);
    if (fields[2] === undefined) this.commands.push({ path, number });
    else {
      const invocation = fieldsOf(fields[2]);
      const args = (invocation[1]?.items ?? []).map(({ items: [one] }) => glowValueOf(one!));
      const id = invocation[0] === undefined ? undefined : readInteger(invocation[0]);
      this.commands.push({ path, number, invocation: { id, args } });
    }
  }
}

/** Returns the content of each field in a constructed item, indexed by the field's tag number. Empty fields are omitted. */
function fieldsOf({ items }: Item): (Item | undefined)[] {
  const fields: (Item | undefined)[] = [];
  for (const { tag, items: inside } of items) if ((tag & 0xe0) === 0xa0) fields[tag & 0x1f] = inside[0];
  return fields;
}

function numberOf(item: Item): number {
  const number = readInteger(item);
  if (number < 0 || number > 0x7fff_ffff) throw new Error('expected a number from 0 to 2^31−1');
  return number;
}

function glowValueOf(item: Item): GlowValue {
  switch (item.tag) {
    case universal.integer:
      return { type: 'integer', value: readInteger(item) };
    case universal.real:
      return { type: 'real', value: readReal(item) };
    case universal.text:
      return { type: 'text', value: item.bytes.toString() };
    case universal.boolean:
      return { type: 'boolean', value: item.bytes.length > 0 && item.bytes[0] !== 0 };
    case universal.octets:
      return { type: 'octets', value: Buffer.from(item.bytes) };
    case universal.null:
      return { type: 'null', value: null };
    default:
      throw new Error(`expected a value, got an item with the tag ${item.tag.toString(16)}`);
  }
}

function connectionOf(item: Item): Connection {
  const fields = fieldsOf(item);
  if (fields[0] === undefined) throw new Error('expected a connection with a target');
  return {
    target: numberOf(fields[0]),
    sources: fields[1] === undefined ? [] : readRelativeOid(fields[1], maxSignals),
    ...(fields[2] !== undefined && { operation: readInteger(fields[2]) }),
    ...(fields[3] !== undefined && { disposition: readInteger(fields[3]) }),
  };
}

type Reading = (item: Item, add: (part: Partial<Contents>) => void) => void;

const text = (name: 'identifier' | 'description' | 'schema' | 'format' | 'enumeration'): Reading => {
  return (item, add) => add({ [name]: item.bytes.toString() });
};
const integer = (
  name: 'access' | 'factor' | 'streamId' | 'matrixType' | 'addressing' | 'targetCount' | 'sourceCount',
): Reading => {
  return (item, add) => add({ [name]: readInteger(item) });
};
const value = (name: 'value' | 'minimum' | 'maximum'): Reading => {
  return (item, add) => add({ [name]: glowValueOf(item) });
};
const online: Reading = (item, add) => add({ isOnline: item.bytes[0] !== 0 });

/** The functions that read the fields of an element's contents, by element kind and field number. */
const readings: Readonly<Record<ElementKind, Readonly<Record<number, Reading>>>> = {
  node: { 0: text('identifier'), 1: text('description'), 3: online, 4: text('schema') },
  parameter: {
    0: text('identifier'),
    1: text('description'),
    2: value('value'),
    3: value('minimum'),
    4: value('maximum'),
    5: integer('access'),
    6: text('format'),
    7: text('enumeration'),
    8: integer('factor'),
    9: online,
    11: (item, add) => add({ step: Number(glowValueOf(item).value) }),
    13: (item, add) => add({ type: parameterTypes[readInteger(item)] ?? 'null' }),
    14: integer('streamId'),
    15: (item, add) => add({ enumMap: item.items.map(({ items: [pair] }) => pairOf(pair!)) }),
    16: (item, add) => {
      const fields = fieldsOf(item);
      if (fields[0] !== undefined && fields[1] !== undefined)
        add({ stream: { format: readInteger(fields[0]), offset: readInteger(fields[1]) } });
    },
    17: text('schema'),
  },
  matrix: {
    0: text('identifier'),
    1: text('description'),
    2: integer('matrixType'),
    3: integer('addressing'),
    4: integer('targetCount'),
    5: integer('sourceCount'),
    11: text('schema'),
  },
  function: {
    0: text('identifier'),
    1: text('description'),
    2: (item, add) => add({ argumentCount: item.items.length }),
  },
};

function contentsOf(kind: ElementKind, { items }: Item): Contents {
  const contents: Contents = {};
  const add = (part: Partial<Contents>) => Object.assign(contents, part);
  for (const { tag, items: inside } of items) {
    const [item] = inside;
    if ((tag & 0xe0) === 0xa0 && item !== undefined) readings[kind][tag & 0x1f]?.(item, add);
  }
  return contents;
}

function pairOf(item: Item): readonly [string, number] {
  const fields = fieldsOf(item);
  return [fields[0]?.bytes.toString() ?? '', fields[1] === undefined ? 0 : readInteger(fields[1])];
}

/** The stream format of a little-endian 32-bit float. */
export const float32Format = 21;

/**
 * Reads a parameter's value from the bytes of a stream that several parameters share. Returns undefined if the bytes are too short or the
 * format is unknown.
 */
export function readStream(bytes: Buffer, { format, offset }: NonNullable<Contents['stream']>): number | undefined {
  const isLittle = (format & 1) === 1;
  const size = 2 ** ((format >> 1) & 3);
  if (offset < 0 || offset + size > bytes.length) return undefined;
  const part = Buffer.from(bytes.subarray(offset, offset + size));
  if (isLittle) part.reverse();
  if (format < 8) return size === 8 ? Number(part.readBigUInt64BE()) : part.readUIntBE(0, size);
  if (format < 16) return size === 8 ? Number(part.readBigInt64BE()) : part.readIntBE(0, size);
  if (size === 4) return part.readFloatBE();
  return size === 8 ? part.readDoubleBE() : undefined;
}
