// Passwords as strings that do not reveal them: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, in the PHC string format, with scrypt (RFC 7914).
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe } from '../../../model/error.ts';
import { limits } from '../limits/client-limits.ts';
import { LimitError } from '../limits/limit-hits.ts';

// Passwords that wait for comparison. The hub compares one password at a time, which leaves the other threads of the process free. Guessing
// does not delay users who sign in: clients that were recently wrong come after clients that were not, and networks take turns, the latest
// arrival first. In a network that was recently wrong, the newest password comes first, because a client that guesses sends its next
// password when a previous one is answered, and the next password to compare is chosen before that one arrives. So the client's oldest
// passwords may never be compared; no password waits for longer than 10 s.

const maxWaiting = limits.passwords.default;
/** The maximum waiting time, in milliseconds. Proxies give up after 30 s to a minute, and the client would then not see the reason. */
const longestWaitMs = 10_000;
/**
 * The delay before a password is refused due to lack of space, in milliseconds: a client that guesses sends the next password after the
 * refusal, and each password costs a scan of all waiting passwords.
 */
const refusalMs = 1000;
/** The highest suspicion of a trusted client. A higher suspicion means recent wrong credentials from the network or for the same user. */
const mostTrusted = 1;

/** The client that sent a password to compare. */
export interface Asker {
  readonly network: string;
  /** Returns how likely it is that the client is guessing. Passwords with lower values come first. */
  suspicion(): number;
  /** Returns whether the client has sent so many wrong passwords that it has to wait even if the comparison takes no time. */
  isSlowed(): boolean;
  /** Returns whether the client is no longer waiting for the answer. */
  isGone(): boolean;
}

interface Waiting {
  readonly asker: Asker;
  /** Compares the password; resolves to a function that reports the result to the client. */
  compare(): Promise<() => void>;
  refuse(): void;
  readonly timer: NodeJS.Timeout;
}

/** A network from which passwords are waiting. */
interface Network {
  waiting: number;
  /** The number of the network's last turn; 0 if the network has not had a turn. */
  turn: number;
}

export class PasswordQueue {
  /** The waiting passwords in the order of arrival, at most `maxWaiting`. */
  readonly #waiting = new Set<Waiting>();
  readonly #networks = new Map<string, Network>();
  /** The suspicions of the comparisons in progress: one comparison, and possibly a second, less suspicious comparison. */
  readonly #comparing: number[] = [];
  readonly #delays: { readonly longestWaitMs: number; readonly refusalMs: number };
  #turn = 0;

  constructor(delays = { longestWaitMs, refusalMs }) {
    this.#delays = delays;
  }

  /**
   * Compares a password when its turn comes, and resolves to whether the password is right. If too many passwords are waiting, one of the
   * most suspicious passwords is refused. Errors: `unavailable` if this password is refused, now or later, or is not compared in time; any
   * error from `compare`.
   */
  add(asker: Asker, compare: () => Promise<boolean>): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waiting: Waiting = {
      asker,
      compare: () =>
        compare().then(
          (isRight) => () => resolve(isRight),
          (error) => () => reject(error),
        ),
      refuse: () => reject(tooMany()),
      timer: setTimeout(() => this.#take(waiting).refuse(), this.#delays.longestWaitMs).unref(),
    };
    this.#waiting.add(waiting);
    const network = this.#networks.get(asker.network) ?? { waiting: 0, turn: 0 };
    network.waiting++;
    this.#networks.set(asker.network, network);
    if (this.#waiting.size > maxWaiting) this.#forgetGone();
    if (this.#waiting.size > maxWaiting) {
      const { refuse } = this.#take(this.#last());
      setTimeout(refuse, this.#delays.refusalMs).unref();
    }
    this.#advance();
    return promise;
  }

  /** Compares the next password, unless two comparisons are in progress, or one comparison of a password that is no more suspicious. */
  #advance(): void {
    if (this.#comparing.length > 1) return;
    this.#forgetGone();
    if (this.#waiting.size === 0) return;
    const next = this.#next();
    const suspicion = next.asker.suspicion();
    if (this.#comparing.length > 0 && suspicion >= this.#comparing[0]!) return;
    this.#networks.get(next.asker.network)!.turn = ++this.#turn;
    this.#take(next);
    this.#comparing.push(suspicion);
    void next.compare().then((answer) => {
      this.#comparing.splice(this.#comparing.indexOf(suspicion), 1);
      this.#advance();
      answer();
    });
  }

  /** Removes the passwords of clients that have disconnected: otherwise a client that guesses would not have to wait for answers. */
  #forgetGone(): void {
    for (const waiting of this.#waiting) if (waiting.asker.isGone()) this.#take(waiting).refuse();
  }

  #take(waiting: Waiting): Waiting {
    clearTimeout(waiting.timer);
    this.#waiting.delete(waiting);
    const network = this.#networks.get(waiting.asker.network)!;
    network.waiting--;
    if (network.waiting === 0) this.#networks.delete(waiting.asker.network);
    return waiting;
  }

  /**
   * Returns the password to compare next. Of the least suspicious passwords, it is from the network whose turn was longest ago or, among
   * networks with the same turn, from the network with the latest arrival. If the network was recently wrong, its newest password comes
   * next, otherwise its oldest.
   */
  #next(): Waiting {
    const least = leastOf([...this.#waiting], ({ asker }) => asker.suspicion());
    const longestAgo = leastOf(least, ({ asker }) => this.#networks.get(asker.network)!.turn);
    const { network } = longestAgo.at(-1)!.asker;
    const ofNetwork = longestAgo.filter(({ asker }) => asker.network === network);
    return ofNetwork.at(ofNetwork[0]!.asker.suspicion() > mostTrusted ? -1 : 0)!;
  }

  /** Returns the oldest of the most suspicious passwords from the network that has the most passwords in the queue. */
  #last(): Waiting {
    const most = leastOf([...this.#waiting], ({ asker }) => -asker.suspicion());
    return leastOf(most, ({ asker }) => -this.#networks.get(asker.network)!.waiting)[0]!;
  }
}

/** Returns the passwords with the lowest rank, in the order of arrival. */
function leastOf(all: readonly Waiting[], rankOf: (one: Waiting) => number): Waiting[] {
  const ranks = all.map(rankOf);
  const least = Math.min(...ranks);
  return all.filter((_, index) => ranks[index] === least);
}

function tooMany(): LimitError {
  return new LimitError(
    'passwords',
    'unavailable',
    `expected at most ${maxWaiting} passwords waiting to be checked, each for at most ${longestWaitMs / 1000} s, got more: try again later`,
  );
}

/** The scrypt parameters for new hashes. They determine the cost of each guess: about 0.2 s and 32 MB. */
const usual = { ln: 15, r: 8, p: 3 };
const saltBytes = 16;
const hashBytes = 32;
/** The minimum duration of a comparison for a client that has sent too many wrong passwords, in milliseconds. */
const slowedMs = 20;
/** The maximum pause after another wrong password from such a client, in milliseconds. The pause is as long as the comparison. */
const longestRestMs = 250;
/** The maximum amount of memory that a hash may require, in bytes. */
const mostMemoryBytes = 256 * 1024 * 1024;

const phc = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z\d+/]{11,86})\$([A-Za-z\d+/]{22,86})$/;

interface Scrypt {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const derive = promisify(
  (password: string, salt: Buffer, length: number, options: object, done: (error: Error | null, key: Buffer) => void) =>
    scrypt(password.normalize('NFC'), salt, length, options, done),
);

/** Hashes a password with a random salt; resolves to the hash in the PHC string format. */
export async function makePasswordText(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await hashOf(password, { ...usual, salt, hash: Buffer.alloc(hashBytes) });
  return `$scrypt$ln=${usual.ln},r=${usual.r},p=${usual.p}$${base64(salt)}$${base64(hash)}`;
}

/**
 * Parses the password in a setting: a scrypt hash, or an invalid hash, which is reported as `mistake`. A string in any other form is the
 * password itself.
 */
export function readPasswordText(text: string): { readonly scrypt?: Scrypt; readonly mistake?: string } {
  if (text === '') return { mistake: 'expected a password, or a hash from "patchbay password", got "" (string)' };
  if (!text.startsWith('$scrypt$')) return {};
  const expected = 'expected a hash from "patchbay password", $scrypt$ln=15,r=8,p=3$<salt>$<hash>';
  const [, ln, r, p, salt = '', hash = ''] = phc.exec(text) ?? [];
  if (ln === undefined) return { mistake: `${expected}, got ${describe(text.slice(0, '$scrypt$'.length))}` };
  const read = {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
  const isPossible = read.ln >= 1 && read.r >= 1 && read.p >= 1 && memoryOf(read) <= mostMemoryBytes;
  if (!isPossible)
    return { mistake: `${expected} of at most ${mostMemoryBytes / 1024 / 1024} MB, got ln=${ln},r=${r},p=${p}` };
  return { scrypt: read };
}

/** The queues of all REST API connections: one for comparisons that occupy a thread, and one for comparisons that take no time. */
const queue = new PasswordQueue();
const quickQueue = new PasswordQueue();

/** Compares passwords with the password in the settings. Errors of both methods: `unavailable` if too many comparisons are waiting. */
export interface PasswordCheck {
  /** Whether the setting contains a hash, in which case a comparison takes a long time. */
  readonly isHashed: boolean;
  /** Returns whether the password is right; returns a promise if the comparison has to wait. */
  isRight(password: string, asker: Asker): boolean | Promise<boolean>;
  /** Waits as long as a failed comparison takes; returns undefined if a comparison takes no time. */
  takeAsLong(password: string, asker: Asker): Promise<unknown> | undefined;
}

/** Creates the check for a password in the settings, given as its hash or as plain text. */
export function createPasswordCheck(setting: string): PasswordCheck {
  const { scrypt: wanted } = readPasswordText(setting);
  return wanted === undefined ? checkPlain(setting) : checkHashed(wanted);
}

/**
 * Creates the check for a hashed password. The check remembers a digest of the right password, so that guessing does not delay users who
 * have signed in before.
 */
function checkHashed(wanted: Scrypt): PasswordCheck {
  let known: Buffer | undefined;
  const compare = (password: string, asker: Asker) =>
    queue.add(asker, async () => {
      const beganMs = performance.now();
      const [hash] = await Promise.all([hashOf(password, wanted), asker.isSlowed() && after(slowedMs)]);
      const isRight = timingSafeEqual(hash, wanted.hash);
      if (!isRight && asker.isSlowed()) await after(Math.min(performance.now() - beganMs, longestRestMs));
      return isRight;
    });
  return {
    isHashed: true,
    isRight(password, asker) {
      const given = digestOf(password);
      if (known !== undefined && timingSafeEqual(given, known)) return true;
      return compare(password, asker).then((isRight) => {
        if (isRight) known = given;
        return isRight;
      });
    },
    takeAsLong: compare,
  };
}

function checkPlain(expected: string): PasswordCheck {
  const wanted = digestOf(expected);
  return {
    isHashed: false,
    isRight(password, asker) {
      const isRight = timingSafeEqual(digestOf(password), wanted);
      return whenItsTurn(asker)?.then(() => isRight) ?? isRight;
    },
    takeAsLong: (_, asker) => whenItsTurn(asker),
  };
}

/**
 * Makes a client that has sent too many wrong passwords wait for its turn. The client waits no matter whether its password is right or
 * wrong, even if the comparison takes no time. Otherwise, the number of attempts would be unlimited. Returns undefined if the client does
 * not have to wait. Errors: `unavailable` if too many comparisons are waiting.
 */
export function whenItsTurn(asker: Asker): Promise<unknown> | undefined {
  return asker.isSlowed() ? quickQueue.add(asker, () => after(slowedMs, true)) : undefined;
}

/**
 * Returns a digest of a password. All digests have the same length. The key is specific to this process, so the digests are useless
 * elsewhere.
 */
function digestOf(password: string): Buffer {
  return createHmac('sha256', processKey).update(password.normalize('NFC')).digest();
}

const processKey = randomBytes(32);

function hashOf(password: string, { ln, r, p, salt, hash }: Scrypt): Promise<Buffer> {
  const options = { N: 2 ** ln, r, p, maxmem: 2 * mostMemoryBytes };
  return derive(password, salt, hash.length, options);
}

function memoryOf({ ln, r, p }: Pick<Scrypt, 'ln' | 'r' | 'p'>): number {
  return 128 * r * (2 ** ln + p);
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
