// The parameters of a hub by address, and the parameters with a known state in the order of their last changes.
import { type Observable, Subject } from 'rxjs';
import { noSuchParameter } from '../model/error.ts';
import type { Origin, Parameter, Remote } from '../model/parameter.ts';
import { createNode, type ParameterNode, type StateNode } from './parameter-node.ts';
import { TextRoom } from './text-room.ts';

/** The table of parameters on which the graph is based. The graph moves changed parameters to the end of `byRevision`. */
export abstract class ParameterTable {
  readonly #parameters = new Map<string, ParameterNode>();
  protected readonly byRevision = new RevisionList();
  readonly texts = new TextRoom();
  readonly #declared = new Subject<Parameter>();
  readonly #removed = new Subject<Parameter>();
  readonly #mirrored = new Subject<void>();
  readonly #marked = new Subject<readonly Parameter[]>();
  #structure = 0;

  /** Parameters that were added. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly declared$: Observable<Parameter> = this.#declared.asObservable();
  /** Parameters that were removed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly removed$: Observable<Parameter> = this.#removed.asObservable();
  /**
   * Emits parameters that have become stale or fresh, and parameters whose pending write or metadata has changed. Hot, replays nothing,
   * synchronous, never completes, never errors.
   */
  readonly marked$: Observable<readonly Parameter[]> = this.#marked.asObservable();
  /** Emits after parameters of other hubs were added or removed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly mirrored$: Observable<void> = this.#mirrored.asObservable();

  /** The number of additions and removals of parameters so far. */
  get structure(): number {
    return this.#structure;
  }

  get size(): number {
    return this.#parameters.size;
  }

  /** Removes parameters from the table. Call this between turns, when the parameters are no longer written. */
  remove(nodes: Iterable<ParameterNode>): void {
    for (const node of nodes) {
      this.#parameters.delete(node.address);
      this.#structure++;
      if (node.type !== 'T') this.byRevision.remove(node as StateNode);
      this.texts.forget(node);
      this.#removed.next(node);
    }
  }

  /** Reports parameters whose staleness, pending write or metadata has changed. */
  notifyMarked(nodes: readonly ParameterNode[]): void {
    this.#marked.next(nodes);
  }

  /** Adds a parameter of another hub, unless the address is taken. `owner` names the connection on that hub. */
  declareMirrored(
    remote: Remote,
    owner: Origin,
    { address, type, access }: Pick<Parameter, 'address' | 'type' | 'access'>,
  ): ParameterNode | undefined {
    if (this.#parameters.has(address)) return undefined;
    const node = createNode(owner, address, { id: '', type, access });
    node.remote = remote;
    this.add(node);
    return node;
  }

  /**
   * Reports that parameters of other hubs were added or removed, so that rules that are waiting for these parameters start. Call this
   * between turns.
   */
  notifyMirrored(): void {
    this.#mirrored.next();
  }

  find(address: string): ParameterNode | undefined {
    return this.#parameters.get(address);
  }

  /** Returns the parameter with this address. Errors: `unknown-parameter`. */
  get(address: string): ParameterNode {
    const node = this.#parameters.get(address);
    if (node === undefined) throw noSuchParameter(address);
    return node;
  }

  parameters(): IterableIterator<ParameterNode> {
    return this.#parameters.values();
  }

  /** Yields each parameter whose state is known and has changed after the revision, oldest change first; 0 yields all. */
  changedSince(revision: number): Generator<Parameter, void, void> {
    return this.byRevision.since(revision);
  }

  /**
   * Yields each parameter whose state is known, newest change first. Read the whole result at once, because each change moves its
   * parameter.
   */
  newestFirst(): Generator<Parameter, void, void> {
    return this.byRevision.newestFirst();
  }

  /** Adds a parameter to the table. Its address must be free. */
  protected add(node: ParameterNode): void {
    this.#parameters.set(node.address, node);
    this.#structure++;
    this.#declared.next(node);
  }
}

// All parameters with a known state, in the order of the revisions of their last changes. A change moves its parameter to the tail in O(1).
// A query for the changes since a revision walks back from the tail only to that revision.

class RevisionList {
  #head: StateNode | undefined = undefined;
  #tail: StateNode | undefined = undefined;

  /** Moves the parameter to the tail of the list, or adds the parameter there. */
  touch(node: StateNode): void {
    if (this.#tail === node) return;
    const { older, newer } = node;
    if (newer !== undefined) {
      newer.older = older;
      if (older === undefined) this.#head = newer;
      else older.newer = newer;
      node.newer = undefined;
    }
    node.older = this.#tail;
    if (this.#tail === undefined) this.#head = node;
    else this.#tail.newer = node;
    this.#tail = node;
  }

  /** Removes the parameter if the list contains it. */
  remove(node: StateNode): void {
    if (this.#head === node) this.#head = node.newer;
    else if (node.older !== undefined) node.older.newer = node.newer;
    if (this.#tail === node) this.#tail = node.older;
    else if (node.newer !== undefined) node.newer.older = node.older;
    node.older = undefined;
    node.newer = undefined;
  }

  /**
   * Yields each parameter that changed after the revision, oldest change first; 0 yields all parameters. Parameters may change between two
   * steps; iteration continues after its last position.
   */
  *since(revision: number): Generator<StateNode, void, void> {
    let node = revision === 0 ? this.#head : this.#firstAfter(revision);
    while (node !== undefined) {
      const place = revisionOf(node);
      yield node;
      const isInPlace = revisionOf(node) === place && (node.newer !== undefined || node === this.#tail);
      node = isInPlace ? node.newer : this.#firstAfter(place);
    }
  }

  *newestFirst(): Generator<StateNode, void, void> {
    for (let node = this.#tail; node !== undefined; node = node.older) yield node;
  }

  #firstAfter(revision: number): StateNode | undefined {
    let first: StateNode | undefined;
    for (let node = this.#tail; node !== undefined && revisionOf(node) > revision; node = node.older) first = node;
    return first;
  }
}

function revisionOf(node: StateNode): number {
  return node.lastChange?.revision ?? 0;
}
