// Every parameter with a known state, ordered by the revision of its last change. A change moves its parameter to the tail in
// O(1). Whoever asks what changed since a revision walks back from the tail, and no further than to that revision.

import type { StateNode } from './parameter-node.ts';

export class RevisionList {
  #head: StateNode | undefined = undefined;
  #tail: StateNode | undefined = undefined;

  /** Moves the parameter to the tail, or adds it there. */
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

  /** Takes the parameter out, if it is in the list. */
  remove(node: StateNode): void {
    if (this.#head === node) this.#head = node.newer;
    else if (node.older !== undefined) node.older.newer = node.newer;
    if (this.#tail === node) this.#tail = node.older;
    else if (node.newer !== undefined) node.newer.older = node.older;
    node.older = undefined;
    node.newer = undefined;
  }

  /**
   * Yields each parameter that changed after the revision, oldest change first; 0 yields all. Parameters may change between
   * two steps: it goes on behind the place where it was.
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

  #firstAfter(revision: number): StateNode | undefined {
    let first: StateNode | undefined;
    for (let node = this.#tail; node !== undefined && revisionOf(node) > revision; node = node.older) first = node;
    return first;
  }
}

function revisionOf(node: StateNode): number {
  return node.lastChange?.revision ?? 0;
}
