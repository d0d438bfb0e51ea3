// Encodes Glow messages: elements, commands, stream values and invocation results.

import { contextTag, universal, Writer } from '../../device/ber.ts';
import {
  type Command,
  type Connection,
  type Contents,
  type ElementKind,
  type GlowValue,
  type InvocationResult,
  parameterTypes,
  tags,
} from './glow.ts';
import { command as frame } from './s101.ts';

const qualifiedTags: Readonly<Record<ElementKind, number>> = {
  node: tags.qualifiedNode,
  parameter: tags.qualifiedParameter,
  matrix: tags.qualifiedMatrix,
  function: tags.qualifiedFunction,
};
const numberedTags: Readonly<Record<ElementKind, number>> = {
  node: tags.node,
  parameter: tags.parameter,
  matrix: tags.matrix,
  function: tags.function,
};

/**
 * An element to encode. If `at` is a path, the element is at the root of the message; if `at` is a number, the element is below its parent.
 */
export interface Written {
  readonly kind: ElementKind;
  readonly at: string | number;
  readonly contents?: Contents;
  readonly children?: readonly Written[];
  readonly targets?: readonly number[];
  readonly sources?: readonly number[];
  readonly connections?: readonly Connection[];
}

const writer = new Writer();

function message(write: () => void): Buffer {
  writer.constructed(tags.root, write);
  const bytes = writer.finish();
  return Buffer.concat([Buffer.of(frame.glow), bytes]);
}

/** Encodes a Glow message that contains elements. */
export function encodeElements(elements: readonly Written[]): Buffer {
  return message(() => list(tags.rootCollection, elements, writeElement));
}

/** Encodes a Glow message that contains a command to the element at `path`; '' stands for the root. */
export function encodeCommand({ path, number, invocation }: Command, kind: ElementKind = 'node'): Buffer {
  const write = () =>
    writer.constructed(tags.command, () => {
      if (invocation !== undefined)
        field(2, () =>
          writer.constructed(tags.invocation, () => {
            field(1, () => list(universal.sequence, invocation.args, writeValue));
            if (invocation.id !== undefined) field(0, () => writer.integer(invocation.id!));
          }),
        );
      field(0, () => writer.integer(number));
    });
  return message(() =>
    list(tags.rootCollection, [path], () => {
      if (path === '') write();
      else
        writer.constructed(qualifiedTags[kind], () => {
          field(2, () => list(tags.collection, [path], write));
          field(0, () => writer.relativeOid(numbersOf(path)));
        });
    }),
  );
}

/** Encodes a Glow message that contains the values of streams, keyed by stream identifier. */
export function encodeStreams(entries: readonly (readonly [id: number, value: GlowValue])[]): Buffer {
  return message(() =>
    list(tags.streams, entries, ([id, one]) =>
      writer.constructed(tags.streamEntry, () => {
        field(1, () => writeValue(one));
        field(0, () => writer.integer(id));
      }),
    ),
  );
}

export function encodeResult({ id, isSuccess }: InvocationResult): Buffer {
  return message(() =>
    writer.constructed(tags.result, () => {
      field(1, () => writer.boolean(isSuccess));
      field(0, () => writer.integer(id));
    }),
  );
}

function numbersOf(path: string): number[] {
  return path.split('.').map(Number);
}

function field(number: number, content: () => void): void {
  writer.constructed(contextTag(number), content);
}

function list<One>(tag: number, ones: readonly One[], write: (one: One) => void): void {
  writer.constructed(tag, () => {
    for (let index = ones.length - 1; index >= 0; index--) field(0, () => write(ones[index]!));
  });
}

function writeElement({ kind, at, contents, children, targets, sources, connections }: Written): void {
  const isQualified = typeof at === 'string';
  writer.constructed((isQualified ? qualifiedTags : numberedTags)[kind], () => {
    if (connections !== undefined) field(5, () => list(universal.sequence, connections, writeConnection));
    if (sources !== undefined)
      field(4, () => list(universal.sequence, sources, (one) => writeSignal(tags.source, one)));
    if (targets !== undefined)
      field(3, () => list(universal.sequence, targets, (one) => writeSignal(tags.target, one)));
    if (children !== undefined) field(2, () => list(tags.collection, children, writeElement));
    if (contents !== undefined) field(1, () => writer.constructed(universal.set, () => writeContents(kind, contents)));
    field(0, () => (isQualified ? writer.relativeOid(numbersOf(at)) : writer.integer(at)));
  });
}

function writeSignal(tag: number, number: number): void {
  writer.constructed(tag, () => field(0, () => writer.integer(number)));
}

function writeConnection({ target, sources, operation, disposition }: Connection): void {
  writer.constructed(tags.connection, () => {
    if (disposition !== undefined) field(3, () => writer.integer(disposition));
    if (operation !== undefined) field(2, () => writer.integer(operation));
    field(1, () => writer.relativeOid(sources));
    field(0, () => writer.integer(target));
  });
}

function writeContents(kind: ElementKind, contents: Contents): void {
  const { description, identifier, isOnline } = contents;
  const number = (at: number, one: number | undefined) => {
    if (one !== undefined) field(at, () => writer.integer(one));
  };
  const words = (at: number, one: string | undefined) => {
    if (one !== undefined) field(at, () => writer.text(one));
  };
  const flag = (at: number, one: boolean | undefined) => {
    if (one !== undefined) field(at, () => writer.boolean(one));
  };
  const any = (at: number, one: GlowValue | undefined) => {
    if (one !== undefined) field(at, () => writeValue(one));
  };
  if (kind === 'node') flag(3, isOnline);
  else if (kind === 'matrix') {
    number(5, contents.sourceCount);
    number(4, contents.targetCount);
    number(3, contents.addressing);
    number(2, contents.matrixType);
  } else if (kind === 'parameter') {
    const { enumMap, type, stream } = contents;
    if (stream !== undefined)
      field(16, () =>
        writer.constructed(tags.streamDescription, () => {
          number(1, stream.offset);
          number(0, stream.format);
        }),
      );
    if (enumMap !== undefined)
      field(15, () =>
        list(tags.pairs, enumMap, ([name, one]) =>
          writer.constructed(tags.pair, () => {
            field(1, () => writer.integer(one));
            field(0, () => writer.text(name));
          }),
        ),
      );
    number(14, contents.streamId);
    if (type !== undefined) number(13, parameterTypes.indexOf(type));
    number(11, contents.step);
    flag(9, isOnline);
    number(8, contents.factor);
    words(7, contents.enumeration);
    words(6, contents.format);
    number(5, contents.access);
    any(4, contents.maximum);
    any(3, contents.minimum);
    any(2, contents.value);
  }
  words(1, description);
  words(0, identifier);
}

function writeValue({ type, value: one }: GlowValue): void {
  if (type === 'integer') writer.integer(one as number);
  else if (type === 'real') writer.real(one as number);
  else if (type === 'text') writer.text(one as string);
  else if (type === 'boolean') writer.boolean(one as boolean);
  else if (type === 'octets') writer.octets(one as Buffer);
  else writer.null();
}
