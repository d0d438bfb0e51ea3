// The setting `onLoss`, which determines what happens to a peer's values while the peer is offline.

import type { SchedulerLike, Subscription } from 'rxjs';
import { z } from 'zod';
import { durationSetting } from './setting.ts';

/**
 * Returns the schema for a setting that determines what happens to the values while `peer` is offline: `'stale'`, `'unknown'`,
 * `{ hold: '5s' }`.
 */
export function lossSetting(peer: string) {
  const hold = durationSetting(1).describe('How long values are held before they are unknown');
  return z
    .union([z.enum(['stale', 'unknown']), z.strictObject({ hold })], { error: '"stale", "unknown" or { hold: "5s" }' })
    .default('stale')
    .describe(`The values while ${peer} is offline: stale, unknown, or stale for a time and then unknown`);
}

type OnLoss = z.output<ReturnType<typeof lossSetting>>;

/** Makes the values of an offline peer unknown, as specified in `onLoss`. */
export class Loss {
  readonly #onLoss: OnLoss;
  readonly #scheduler: SchedulerLike;
  readonly #forget: () => void;
  #isLost = false;
  #holding: Subscription | undefined;

  /** `forget` is called to make the values unknown. */
  constructor({ onLoss }: { readonly onLoss: OnLoss }, scheduler: SchedulerLike, forget: () => void) {
    this.#onLoss = onLoss;
    this.#scheduler = scheduler;
    this.#forget = forget;
  }

  /**
   * Must be called when the peer is offline. The time is counted from the first call, so that failed attempts to reach the peer do not
   * extend it.
   */
  begin(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    if (this.#onLoss === 'unknown') this.#forget();
    else if (typeof this.#onLoss === 'object')
      this.#holding = this.#scheduler.schedule(this.#forget, this.#onLoss.hold);
  }

  /** Must be called when the peer is online again or when the connection stops. */
  end(): void {
    this.#isLost = false;
    this.#holding?.unsubscribe();
  }
}
