// The measuring window of a load, which opens after the warm-up: how much was done in it, and how long the server was busy.

import { busyMsOfAll } from '../../spec/support/system/process-usage.ts';

export interface WindowTask {
  readonly serverPid: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface Measured {
  /** How much was done within the window, in the unit that the load counts. */
  readonly done: number;
  readonly elapsedMs: number;
  readonly serverBusyMs: number;
}

interface WindowClock {
  nowMs(): number;
  /** How long the server has been busy so far. */
  busyMs(): number;
}

/** Opens after the warm-up, and closes at the first `look` after its time is up. Create it when the load begins. */
export class MeasuringWindow {
  readonly #task: WindowTask;
  readonly #clock: WindowClock;
  readonly #createdMs: number;
  #start: { readonly nowMs: number; readonly busyMs: number; readonly done: number } | undefined;
  #measured: Measured | undefined;

  constructor(
    task: WindowTask,
    clock: WindowClock = { nowMs: () => performance.now(), busyMs: () => busyMsOfAll(task.serverPid) },
  ) {
    this.#task = task;
    this.#clock = clock;
    this.#createdMs = clock.nowMs();
  }

  /** Undefined until the window has closed. */
  get measured(): Measured | undefined {
    return this.#measured;
  }

  /** Checks the clock; `done` is the amount done since the load began. */
  look(done: number): void {
    if (this.#measured !== undefined) return;
    const nowMs = this.#clock.nowMs();
    if (this.#start === undefined) {
      if (nowMs - this.#createdMs < this.#task.warmUpMs) return;
      this.#start = { nowMs, busyMs: this.#clock.busyMs(), done };
    } else if (nowMs - this.#start.nowMs >= this.#task.measureMs)
      this.#measured = {
        done: done - this.#start.done,
        elapsedMs: nowMs - this.#start.nowMs,
        serverBusyMs: this.#clock.busyMs() - this.#start.busyMs,
      };
  }
}
