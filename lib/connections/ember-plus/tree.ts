// The tree that a provider shows: the hub's parameters, arranged by the segments of their addresses, and matrices. An element keeps its
// number while the store contains the numbers.

import type { Sender } from '../../device/ports.ts';
import { lastPartOf } from '../../model/address.ts';
import { globToRegExp } from '../../model/glob.ts';
import { type Origin, type Parameter, staleSinceOf } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import { type Contents, float32Format, type GlowValue } from './glow.ts';
import { type EmberPlusSettings, type MatrixSettings, targetsOf } from './settings.ts';

/** The maximum number of parameters that a provider shows. */
export const maxShared = 100_000;

export interface Branch {
  readonly kind: 'node';
  readonly path: string;
  readonly number: number;
  readonly contents: Contents;
  readonly children: Map<number, Shown>;
  /** The child nodes, keyed by the segment of the address. */
  readonly nodes: Map<string, Branch>;
  readonly watchers: Set<Consumer>;
  /** The highest number that has been assigned to a child, including removed children. */
  last: number;
}

export interface Leaf {
  readonly kind: 'parameter' | 'function';
  readonly path: string;
  readonly number: number;
  readonly parent: Branch;
  readonly parameter: Parameter;
  readonly isWritable: boolean;
  /** The identifier of the parameter's stream; undefined if the parameter is not a meter. */
  readonly streamId: number | undefined;
  readonly watchers: Set<Consumer>;
  isOnline: boolean;
}

export interface Matrix {
  readonly kind: 'matrix';
  readonly path: string;
  readonly number: number;
  readonly parent: Branch;
  readonly contents: Contents;
  readonly settings: MatrixSettings;
  readonly addresses: readonly string[];
  readonly watchers: Set<Consumer>;
}

export type Shown = Branch | Leaf | Matrix;

/** The state of a connected consumer and of the data to send to it. */
export interface Consumer {
  readonly sender: Sender;
  readonly origin: Origin;
  /** The number of keep-alives sent since the last message from the consumer. */
  missed: number;
  /**
   * The start of the second in which the consumer's requests are being counted, in milliseconds; `taken` is the number of requests so far.
   */
  second: number;
  taken: number;
  /** The elements whose directories the consumer has requested but not received yet. */
  readonly directories: Set<Shown>;
  /** The parameters whose values are to be sent. */
  readonly values: Set<Leaf>;
  readonly streams: Set<Leaf>;
  readonly targets: Map<Matrix, Map<number, number>>;
  /** The sets of watchers that contain this consumer, from which it is removed when it disconnects. */
  readonly watched: Set<Set<Consumer>>;
}

export interface TreeOptions {
  readonly settings: EmberPlusSettings;
  readonly log: Log;
  /** The element numbers from an earlier run, keyed by parameter address. The tree adds new numbers. */
  readonly numbers: Map<string, number>;
}

export class Tree {
  readonly #options: TreeOptions;
  readonly #elements = new Map<string, Shown>();
  readonly #leaves = new Map<Parameter, Leaf>();
  readonly #matrices = new Map<string, (readonly [Matrix, target: number])[]>();
  readonly #readable: (address: string) => boolean;
  readonly #writable: (address: string) => boolean;
  readonly #root: Branch;
  #lastStream = 0;

  constructor(options: TreeOptions) {
    const { read, write, name, matrices } = options.settings;
    this.#options = options;
    this.#readable = matcherOf(read);
    this.#writable = matcherOf(write);
    const top = createBranch('', 0, {});
    this.#elements.set('', top);
    this.#root = createBranch('1', 1, { identifier: name, description: 'Patchbay', isOnline: true });
    this.#show(top, this.#root);
    for (const [identifier, settings] of Object.entries(matrices)) this.#addMatrix(identifier, settings);
  }

  /** Returns the element at a path, such as `1.4.2`; '' is the parent of the root. */
  find(path: string): Shown | undefined {
    return this.#elements.get(path);
  }

  leafOf(parameter: Parameter): Leaf | undefined {
    return this.#leaves.get(parameter);
  }

  leaves(): Iterable<Leaf> {
    return this.#leaves.values();
  }

  /** Returns the matrices in which the parameter at `address` is a target, each with the target number. */
  targetsAt(address: string): readonly (readonly [Matrix, target: number])[] {
    return this.#matrices.get(address) ?? [];
  }

  /** Removes a parameter of the hub. Its element stays in the tree, so that consumers can see that the parameter is offline. */
  remove(parameter: Parameter): Leaf | undefined {
    const leaf = this.#leaves.get(parameter);
    this.#leaves.delete(parameter);
    return leaf;
  }

  /** Returns the parent of a node, or undefined for the topmost node. */
  parentOf({ path }: Branch): Branch | undefined {
    const parent = path === '' ? undefined : this.#elements.get(path.slice(0, Math.max(0, path.lastIndexOf('.'))));
    return parent?.kind === 'node' ? parent : undefined;
  }

  #addMatrix(identifier: string, settings: MatrixSettings): void {
    const addresses = targetsOf(settings);
    if (typeof addresses === 'string') return;
    const number = this.#numberIn(this.#root, `//${identifier}`);
    const matrix: Matrix = {
      ...{ kind: 'matrix', path: `1.${number}`, number, parent: this.#root, settings, addresses, watchers: new Set() },
      contents: {
        ...{ identifier, ...(settings.label !== undefined && { description: settings.label }) },
        ...{ matrixType: 0, addressing: 0, targetCount: addresses.length, sourceCount: settings.sources },
      },
    };
    this.#show(this.#root, matrix);
    for (const [target, address] of addresses.entries()) {
      const all = this.#matrices.get(address) ?? [];
      all.push([matrix, target]);
      this.#matrices.set(address, all);
    }
  }

  /**
   * Adds a parameter and returns its leaf. Returns undefined if consumers may neither read nor write the parameter, or if the tree is full.
   */
  add(parameter: Parameter): Leaf | undefined {
    const { address, type, access, about } = parameter;
    const isWritable = access !== 'read-only' && this.#writable(address);
    if (!isWritable && !this.#readable(address)) return undefined;
    if (type === 'T' && !isWritable) return undefined; // an event that no consumer may fire
    if (this.#leaves.size >= maxShared) {
      this.#options.log.warn({}, `expected at most ${maxShared} parameters to show; further parameters are left out`);
      return undefined;
    }
    const parts = address.split('/');
    let parent = this.#root;
    for (const [index, part] of parts.slice(0, -1).entries())
      parent = this.#nodeIn(parent, part, parts.slice(0, index + 1));
    const number = this.#numberIn(parent, address);
    const before = parent.children.get(number); // the same parameter before it was removed
    const isMeter = about?.class === 'meter' && (type === 'I' || type === 'F');
    const leaf: Leaf = {
      ...{ kind: type === 'T' ? 'function' : 'parameter', path: `${parent.path}.${number}`, number, parent, parameter },
      ...{ isWritable, streamId: isMeter ? ++this.#lastStream : undefined, watchers: before?.watchers ?? new Set() },
      isOnline: staleSinceOf(parameter) === undefined,
    };
    this.#leaves.set(parameter, leaf);
    this.#show(parent, leaf);
    return leaf;
  }

  #nodeIn(parent: Branch, name: string, parts: readonly string[]): Branch {
    let node = parent.nodes.get(name);
    if (node === undefined) {
      const number = this.#numberIn(parent, `${parts.join('/')}/`);
      node = createBranch(`${parent.path}.${number}`, number, { identifier: name, isOnline: true });
      parent.nodes.set(name, node);
      this.#show(parent, node);
    }
    return node;
  }

  #show(parent: Branch, shown: Shown): void {
    parent.children.set(shown.number, shown);
    this.#elements.set(shown.path, shown);
  }

  /** Returns the number for an element below `parent`: the number from an earlier run if it is free, otherwise a new number. */
  #numberIn(parent: Branch, key: string): number {
    const { numbers } = this.#options;
    const known = numbers.get(key);
    const holder = known === undefined ? undefined : parent.children.get(known);
    const isFree = holder === undefined || ('parameter' in holder && !this.#leaves.has(holder.parameter));
    const number =
      known !== undefined && isFree ? known : Math.max(parent.last, lastNumberIn(numbers, parentOf(key))) + 1;
    parent.last = Math.max(parent.last, number);
    numbers.set(key, number);
    return number;
  }
}

function createBranch(path: string, number: number, contents: Contents): Branch {
  return { kind: 'node', path, number, contents, children: new Map(), nodes: new Map(), watchers: new Set(), last: 0 };
}

function matcherOf(globs: readonly string[]): (address: string) => boolean {
  const patterns = globs.map(globToRegExp);
  return (address) => patterns.some((pattern) => pattern.test(address));
}

/** Returns the key of the parent node: `desk/a/` for `desk/a/b` and for `desk/a/b/`. */
function parentOf(key: string): string {
  return key.slice(0, key.slice(0, -1).lastIndexOf('/') + 1);
}

const float32Stream = { format: float32Format, offset: 0 };

const lastNumbers = new WeakMap<ReadonlyMap<string, number>, Map<string, number>>();

/** Returns the highest number that a child of `parent` had in an earlier run, or 0. */
function lastNumberIn(numbers: ReadonlyMap<string, number>, parent: string): number {
  let last = lastNumbers.get(numbers);
  if (last === undefined) {
    last = new Map();
    for (const [key, number] of numbers) last.set(parentOf(key), Math.max(number, last.get(parentOf(key)) ?? 0));
    lastNumbers.set(numbers, last);
  }
  return last.get(parent) ?? 0;
}

/** Returns the Glow contents for a leaf; `streamFormat` is the setting of the same name. */
export function contentsOf(leaf: Leaf, streamFormat: EmberPlusSettings['streamFormat']): Contents {
  const { parameter, isWritable, isOnline, streamId, kind } = leaf;
  const { address, type, access, about = {} } = parameter;
  const identifier = lastPartOf(address);
  const named = { identifier, ...(about.label !== undefined && { description: about.label }) };
  if (kind === 'function') return named;
  const { min, max, step, unit, choices = {} } = about;
  const isNumber = type === 'I' || type === 'F';
  const names = Object.entries(choices).filter((pair): pair is [string, number] => Number.isSafeInteger(pair[1]));
  const isEnum = type === 'I' && names.length > 0;
  const value = glowValueOf(parameter);
  return {
    ...named,
    type: isEnum ? 'enum' : type === 'S' ? 'text' : type === 'B' ? 'boolean' : type === 'I' ? 'integer' : 'real',
    access: isWritable ? (access === 'write-only' ? 2 : 3) : 1,
    isOnline,
    ...(value !== undefined && { value }),
    ...(isNumber && min !== undefined && max !== undefined && { minimum: typed(type, min), maximum: typed(type, max) }),
    ...(type === 'I' && step !== undefined && Number.isSafeInteger(step) && { step }),
    ...(isNumber && unit !== undefined && { format: `${type === 'I' ? '%d' : '%.2f'} ${unit.replaceAll('%', '%%')}` }),
    ...(isEnum && { enumMap: names }),
    ...(streamId !== undefined && { streamId }),
    ...(streamId !== undefined && type === 'F' && streamFormat === 'float32' && { stream: float32Stream }),
  };
}

/** Converts a real value to the bytes of a little-endian 32-bit float for a stream. Values of other types are returned unchanged. */
export function asFloat32({ type, value }: GlowValue): GlowValue {
  if (type !== 'real') return { type, value };
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value as number);
  return { type: 'octets', value: bytes };
}

/** Returns a parameter's value as a Glow value. Returns undefined if the value is unknown. */
export function glowValueOf({ type, value }: Parameter): GlowValue | undefined {
  return value === undefined ? undefined : typed(type, value);
}

function typed(type: Parameter['type'], value: Value): GlowValue {
  if (typeof value === 'string') return { type: 'text', value };
  if (typeof value === 'boolean') return { type: 'boolean', value };
  return type === 'F' ? { type: 'real', value } : { type: 'integer', value: Math.round(value) };
}
