// The bytes that the process holds for others until it can go on: values that wait in a step, messages that wait for their slice, answers
// that nobody reads. Each place has a bound of its own. All of them together may hold a sixteenth of what the heap may grow to. When they
// would hold more, whoever holds most has to let go first, be it a rule, a connection or a user.

import { Heap } from './heap.ts';

/** What is held, as metrics name it. */
export const heldKinds = ['steps', 'writes', 'messages', 'requests', 'answers', 'sockets', 'mirrors'] as const;
export type HeldKind = (typeof heldKinds)[number];

/** Who holds something. */
export interface Holder {
  readonly kind: HeldKind;
  /** Whose it is: all that an owner holds counts together. `rule "lamp off" of a.json5`, `user desk2`, `10.0.0.3`. */
  readonly owner: string;
  /** Lets go of about so many bytes, or of all, and says what it holds then. */
  letGo(bytes: number): void;
}

const shareOfHeap = 1 / 16;
const leastBytes = 64 * 1024 * 1024;
/** When there is too much, so much of the bound stays: else the next byte would have somebody let go again. */
const staysShare = 7 / 8;

/** How much may be held where the heap may grow to so many bytes. */
export function mostHeldBytes(heapBytes: number): number {
  return Math.max(leastBytes, Math.floor(heapBytes * shareOfHeap));
}

interface Owner {
  bytes: number;
  readonly ofKind: Partial<Record<HeldKind, number>>;
  readonly accounts: Set<Account>;
}

/** An owner that has to let go, and its accounts that were not asked yet, the largest last. */
interface Candidate {
  readonly owner: Owner;
  readonly accounts: Account[];
}

/** Counts what is held, and has whoever holds most let go. */
export class Ledger {
  #mostBytes: number;
  /** Those that hold something. */
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

  /** From now on so much may be held. */
  allow(mostBytes: number): void {
    this.#mostBytes = mostBytes;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** How much is held of each kind. */
  get bytes(): Readonly<Record<HeldKind, number>> {
    return this.#bytes;
  }

  /** How often somebody had to let go of each kind. */
  get letGo(): Readonly<Record<HeldKind, number>> {
    return this.#letGo;
  }

  /** How much of a kind somebody holds. */
  bytesOf(owner: string, kind: HeldKind): number {
    return this.#owners.get(owner)?.ofKind[kind] ?? 0;
  }

  /** Opens an account for a place that holds something now and then. */
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

/** What one place holds. */
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

  /** Says how much is held from now on. Whoever holds most, which may be this one, may have to let go within the call. */
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

/** What a text takes, for texts with any characters. */
export function textBytes(text: string): number {
  return 2 * text.length;
}

/** What this process holds. A hub that starts allows it what the heap of the process has room for. */
export const held = new Ledger(leastBytes);
