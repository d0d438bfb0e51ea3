// The desk of a flow that misbehaves, by a client: its neighbour is asked all the while, and what goes through the flow is set.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ExecutionContext } from 'ava';
import { filter, Subject } from 'rxjs';
import { step } from '../../trials/misbehave/flow.ts';
import { first } from '../deadline.ts';
import type { Client, Frame } from '../sockets/socket.ts';
import { slowness } from '../system/machine.ts';

/** The pace at which the neighbour is asked. */
const askEveryMs = 50;

export class AskedDesk {
  readonly #t: ExecutionContext;
  readonly #client: Client;
  readonly #values = new Map<string, number>();
  readonly #heard: number[] = [];
  /** The neighbour has answered. */
  readonly #beats$ = new Subject<void>();
  readonly #own = monitorEventLoopDelay();
  #sent = 0;
  #lastAt = performance.now();
  #longestGapMs = 0;

  constructor(t: ExecutionContext, client: Client) {
    this.#t = t;
    this.#client = client;
    this.#own.enable();
    client.frames.listen((frame) => this.#listen(frame));
    this.#askNeighbour();
  }

  /** Expects that the neighbour heard all it asked for, and waited for nothing much longer than this process, being as busy. */
  expectNeighbourWell(): void {
    const t = this.#t;
    t.true(this.#sent - this.#heard.length <= 1);
    t.true(this.#heard.every((value, index) => value === index + 1));
    const ownGapMs = this.#own.max / 1e6;
    const [gap, ownGap] = [Math.round(this.#longestGapMs), Math.round(ownGapMs)];
    t.log(`longest gap of ${this.#sent} changes ${gap} ms, of this process ${ownGap} ms`);
    t.true(this.#longestGapMs < 1500 * slowness() + 3 * ownGapMs);
  }

  /** Sets desk/x until something has happened: to less and less, in steps, as some flows look at round numbers alone. */
  async setUntil(happened: Promise<unknown>): Promise<void> {
    let x = 0;
    const set = () => {
      x -= 10;
      this.#client.send({ p: 'desk/x', v: x });
    };
    set();
    const setting = this.#beats$.subscribe(set);
    await happened.finally(() => setting.unsubscribe());
  }

  /** Sets desk/x until desk/y says that the flow adds so much, a multiple of `step`; returns how long that took. */
  async setUntilAdds(plus: number, after: string): Promise<number> {
    const start = performance.now();
    let x = 0;
    const setting = this.#beats$.subscribe(() => this.#client.send({ p: 'desk/x', v: ++x }));
    const isAdded = () => Math.floor((this.#values.get('desk/y') ?? 0) / step) * step === plus;
    try {
      await first(this.#beats$.pipe(filter(isAdded)), `the saved flow, after ${after}`);
    } finally {
      setting.unsubscribe();
    }
    return performance.now() - start;
  }

  /** What the flow and the neighbour have come to. */
  describe(): string {
    return `desk/y is ${this.#values.get('desk/y')}; the neighbour has answered ${this.#heard.length} of ${this.#sent}`;
  }

  #listen({ p = '', v }: Frame): void {
    this.#values.set(p, Number(v));
    if (p !== 'desk/out') return;
    this.#heard.push(Number(v));
    this.#longestGapMs = Math.max(this.#longestGapMs, performance.now() - this.#lastAt);
    this.#lastAt = performance.now();
    this.#beats$.next();
    setTimeout(() => this.#askNeighbour(), askEveryMs);
  }

  #askNeighbour(): void {
    this.#client.send({ p: 'desk/in', v: ++this.#sent });
  }
}
