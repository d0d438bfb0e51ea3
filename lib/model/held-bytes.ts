// The bytes that the process buffers: values waiting in a step, messages waiting for their slice, unread responses. Each buffer has its own
// limit. All buffers together may take a sixteenth of the maximum heap size. Beyond this limit, the rule, connection or user that holds the
// most bytes has to release memory first.

import { Heap } from './heap.ts';

/** The kinds of buffered data, under the names used in metrics. */
export const heldKinds = ['steps', 'writes', 'messages', 'requests', 'answers', 'sockets', 'mirrors'] as const;
export type HeldKind = (typeof heldKinds)[number];

/** Describes a buffer: the kind of its data, the owner, and how to release memory. */
export interface Holder {
  readonly kind: HeldKind;
  /** The name of the owner. All data held by one owner is counted together: `rule "lamp off" of a.json5`, `user desk2`, `10.0.0.3`. */
  readonly owner: string;
  /** Releases about this many bytes, or everything, and reports to the account how many bytes remain. */
  letGo(bytes: number): void;
}

const shareOfHeap = 1 / 16;
const leastBytes = 64 * 1024 * 1024;
/** The fraction of the limit that remains after a release. Without this margin, the next byte would cause another release. */
const staysShare = 7 / 8;

/** Returns the limit for all buffers together, in bytes, given the maximum heap size in bytes. */
export function mostHeldBytes(heapBytes: number): number {
  return Math.max(leastBytes, Math.floor(heapBytes * shareOfHeap));
}

interface Owner {
  bytes: number;
  readonly ofKind: Partial<Record<HeldKind, number>>;
  readonly accounts: Set<Account>;
}

/** An owner that may have to release memory, with the accounts that have not been asked yet. The account with the most bytes comes last. */
interface Candidate {
  readonly owner: Owner;
  readonly accounts: Account[];
}

/** Counts the bytes in all buffers. When the limit is exceeded, makes the owner that holds the most bytes release memory. */
export class Ledger {
  #mostBytes: number;
  /** The owners that hold data, keyed by name. */
  readonly #owners = new Map<string, Owner>();
  readonly #bytes = countKinds();
  readonly #letGo = countKinds();
  #totalBytes = 0;
  #isFreeing = false;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get mostBytes(): number {
    return this.#mostBytes;
  }

  /** Sets the limit for all buffers together, in bytes. */
  allow(mostBytes: number): void {
    this.#mostBytes = mostBytes;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** The number of buffered bytes, by kind. */
  get bytes(): Readonly<Record<HeldKind, number>> {
    return this.#bytes;
  }

  /** The number of times that memory had to be released, by kind. */
  get letGo(): Readonly<Record<HeldKind, number>> {
    return this.#letGo;
  }

  /** Returns the number of bytes of a kind that an owner holds. */
  bytesOf(owner: string, kind: HeldKind): number {
    return this.#owners.get(owner)?.ofKind[kind] ?? 0;
  }

  /** Opens an account for a buffer, which initially holds no bytes. */
  open(holder: Holder): Account {
    return new Account(holder, (account, bytes) => this.#change(account, bytes));
  }

  #change(account: Account, bytes: number): void {
    const { kind, owner: name } = account.holder;
    this.#bytes[kind] += bytes;
    this.#totalBytes += bytes;
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = { bytes: 0, ofKind: {}, accounts: new Set() };
      this.#owners.set(name, owner);
    }
    owner.bytes += bytes;
    owner.ofKind[kind] = (owner.ofKind[kind] ?? 0) + bytes;
    if (account.bytes > 0) owner.accounts.add(account);
    else owner.accounts.delete(account);
    if (owner.accounts.size === 0) this.#owners.delete(name);
    if (bytes > 0 && this.#totalBytes > this.#mostBytes && !this.#isFreeing) this.#free();
  }

  #free(): void {
    this.#isFreeing = true;
    const candidates = new Heap<Candidate>((one, other) => one.owner.bytes > other.owner.bytes);
    for (const owner of this.#owners.values())
      candidates.add({ owner, accounts: [...owner.accounts].sort((one, other) => one.bytes - other.bytes) });
    try {
      for (let surplus = this.#surplus; surplus > 0; surplus = this.#surplus) {
        const first = candidates.take();
        if (first === undefined) break;
        const account = first.accounts.pop();
        if (account === undefined) continue;
        this.#letGo[account.holder.kind]++;
        account.holder.letGo(surplus);
        candidates.add(first);
      }
    } finally {
      this.#isFreeing = false;
    }
  }

  get #surplus(): number {
    return this.#totalBytes - this.mostBytes * staysShare;
  }
}

function countKinds(): Record<HeldKind, number> {
  return Object.fromEntries(heldKinds.map((kind) => [kind, 0])) as Record<HeldKind, number>;
}

/** Counts the bytes in one buffer. */
export class Account {
  readonly holder: Holder;
  readonly #changed: (account: Account, bytes: number) => void;
  #bytes = 0;

  constructor(holder: Holder, changed: (account: Account, bytes: number) => void) {
    this.holder = holder;
    this.#changed = changed;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Sets the number of bytes in the buffer. During the call, the owner that holds the most bytes, which may be this account's owner, may
   * have to release memory.
   */
  set(bytes: number): void {
    const more = bytes - this.#bytes;
    if (more === 0) return;
    this.#bytes = bytes;
    this.#changed(this, more);
  }

  add(bytes: number): void {
    this.set(this.#bytes + bytes);
  }
}

/** Returns the maximum number of bytes that a string takes in memory, regardless of its characters. */
export function textBytes(text: string): number {
  return 2 * text.length;
}

/** The ledger for this process. When a hub starts, it sets the limit according to the maximum heap size. */
export const held = new Ledger(leastBytes);
