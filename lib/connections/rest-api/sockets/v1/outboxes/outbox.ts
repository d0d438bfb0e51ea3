// What waits in a group to be sent at one rate. Of each parameter that is the newest value (`LatestOutbox`) or every change
// (`AllOutbox`). Triggers are never merged.

import type { Change } from '../../../../../model/parameter.ts';
import type { Delivery } from '../../../../../wire/v1/client-messages.ts';
import type { ChangeKeeper, GroupChannel } from './group-channel.ts';
import type { Packer } from './packer.ts';
import type { Flushable, Ticker } from './ticker.ts';

/** How many changes wait at most; with more they leave at once. A long text counts as several. */
const maxPending = 65_536;

/**
 * The revisions that the frames of a flush tell: everything up to `before` had been sent, and with the last frame of the outbox
 * everything up to `after` has been.
 */
export interface Span {
  readonly before: number;
  readonly after: number;
}

export abstract class Outbox implements ChangeKeeper, Flushable {
  abstract readonly delivery: Delivery;
  /** Whether something waits that must not be sent twice. */
  abstract readonly isExact: boolean;
  readonly rate: number;
  /** The revision of the oldest change that waits; undefined: none does. */
  oldest: number | undefined = undefined;
  readonly #ticker: Ticker;
  readonly #flush: (outbox: Outbox) => void;
  #isRequested = false;

  /** `flush` is called when it is time. */
  constructor(rate: number, ticker: Ticker, flush: (outbox: Outbox) => void) {
    this.rate = rate;
    this.#ticker = ticker;
    this.#flush = flush;
  }

  put(channel: GroupChannel, change: Change, isFirst: boolean): void {
    this.oldest ??= change.revision;
    if (!this.#isRequested) {
      this.#isRequested = true;
      this.#ticker.request(this);
    }
    if (this.add(channel, change, isFirst) >= maxPending) this.#flush(this);
  }

  flush(): void {
    this.#isRequested = false;
    this.#flush(this);
  }

  /** Encodes what waits of revisions after `from`; it goes on waiting. Without a span the frames tell no revision. */
  abstract encode(packer: Packer, span: Span | undefined, from: number, onlyFires?: boolean): void;

  /** Yields the channel of each change that waits, of revisions after `from`. */
  abstract waiting(from: number): Generator<GroupChannel, void, void>;

  /** Forgets what waits. */
  clear(): void {
    this.oldest = undefined;
    this.forget();
  }

  /** Keeps a change; returns how many are kept, where a long text counts as several. */
  protected abstract add(channel: GroupChannel, change: Change, isFirst: boolean): number;
  protected abstract forget(): void;
}
