// Links by which kiosks are let in, once. Of a code only the digest is kept. They end with the connection.

import { randomBytes } from 'node:crypto';
import { wallClock } from '../../../model/time/wall-clock.ts';
import { LimitError } from '../limits/limit-error.ts';
import { limits } from '../limits/limits.ts';
import { digestOf } from './accounts.ts';

const linkMs = 24 * 3_600_000;

export interface Invitation {
  readonly user: string;
  readonly name: string;
  readonly dashboard: string | undefined;
  readonly until: number;
}

/** An invitation that nobody has used: when it ends, by a clock that nobody can set, and what the clock of the machine shows then. */
interface Waiting extends Omit<Invitation, 'until'> {
  readonly endsAtMs: number;
  readonly untilOf: () => number;
}

export class KioskLinks {
  readonly #goodMs: number;
  /** By the digest of the code, at most so many as may wait to be opened. */
  readonly #byDigest = new Map<string, Waiting>();

  /** `goodMs` is how long a link is good. */
  constructor(goodMs = linkMs) {
    this.#goodMs = goodMs;
  }

  /** Those that nobody has opened yet, the oldest first. */
  list(): Invitation[] {
    const now = performance.now();
    for (const [digest, { endsAtMs }] of this.#byDigest) if (endsAtMs < now) this.#byDigest.delete(digest);
    return [...this.#byDigest.values()].map(asInvitation);
  }

  /** Makes the code of a link. Errors: `conflict`. */
  add(invitation: Omit<Invitation, 'until'>): string {
    const most = limits.kioskLinks.default;
    if (this.list().length >= most)
      throw new LimitError(
        'kioskLinks',
        'conflict',
        `invite: expected at most ${most} links that nobody has opened yet`,
      );
    const code = randomBytes(16).toString('base64url');
    this.#byDigest.set(digestOf(code), {
      ...invitation,
      endsAtMs: performance.now() + this.#goodMs,
      untilOf: wallClock.pin(Date.now() + this.#goodMs),
    });
    return code;
  }

  /** What a code is good for; it is good for nothing from then on. */
  exchange(code: string): Invitation | undefined {
    const digest = digestOf(code);
    const invitation = this.#byDigest.get(digest);
    this.#byDigest.delete(digest);
    return invitation !== undefined && invitation.endsAtMs >= performance.now() ? asInvitation(invitation) : undefined;
  }

  /** Ends some of them; returns these. */
  end(isOver: (invitation: Invitation) => boolean): Invitation[] {
    const over = [...this.#byDigest].filter(([, invitation]) => isOver(asInvitation(invitation)));
    for (const [digest] of over) this.#byDigest.delete(digest);
    return over.map(([, invitation]) => asInvitation(invitation));
  }
}

function asInvitation({ endsAtMs, untilOf, ...invitation }: Waiting): Invitation {
  return { ...invitation, until: untilOf() };
}
