// The clock of a model, and the steps that go on between values, by what the README of flow files says of them.

import type { GradualStep } from './rule.ts';

interface Timer {
  readonly atMs: number;
  readonly work: () => void;
}

export class ModelClock {
  nowMs = 0;
  /** In the order in which they were set. */
  #timers: Timer[] = [];

  /** Returns what takes it back. */
  set(inMs: number, work: () => void): () => void {
    const timer = { atMs: this.nowMs + inMs, work };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  pass(ms: number): void {
    const endMs = this.nowMs + ms;
    for (;;) {
      const atMs = Math.min(...this.#timers.map((one) => one.atMs));
      if (atMs > endMs) break;
      const next = this.#timers.find((one) => one.atMs === atMs)!;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.nowMs = atMs;
      next.work();
    }
    this.nowMs = endMs;
  }
}

/** A step of a rule that runs. */
export interface ModelStep {
  put(value: number): void;
  stop(): void;
}

export function createStep(step: GradualStep, clock: ModelClock, tell: (value: number) => void): ModelStep {
  return step.is === 'ramp' ? createRamp(step, clock, tell) : createAverage(step, clock, tell);
}

function createRamp({ overMs, everyMs = 50 }: GradualStep, clock: ModelClock, tell: (value: number) => void) {
  let present: number | undefined;
  let stop = () => {};
  const go = (value: number) => {
    present = value;
    tell(value);
  };
  return {
    stop: () => stop(),
    put(target: number) {
      stop();
      if (present === undefined) return go(target);
      if (present === target) return;
      const [start, startMs] = [present, clock.nowMs];
      let isOver = false;
      const wait = () => {
        const takeBack = clock.set(everyMs, tick);
        stop = () => {
          isOver = true;
          takeBack();
        };
      };
      const tick = () => {
        const share = Math.min(1, (clock.nowMs - startMs) / overMs);
        isOver = share === 1;
        go(share === 1 ? target : start + (target - start) * share);
        if (!isOver) wait();
      };
      wait();
    },
  };
}

function createAverage({ overMs, everyMs = overMs / 10 }: GradualStep, clock: ModelClock, tell: (v: number) => void) {
  const put: { readonly atMs: number; readonly value: number }[] = [];
  let told: number | undefined;
  /** Whether it tells a mean from time to time, since the last value has not lasted long enough to be the mean. */
  let isGoing = false;
  /** How often it could tell since the last value came. */
  let quiet = 0;
  let stop = () => {};
  const tellNew = (value: number) => {
    if (value === told) return;
    told = value;
    tell(value);
  };
  const mean = () => {
    const fromMs = Math.max(put[0]!.atMs, clock.nowMs - overMs);
    const areas = put.map(({ atMs, value }, index) => {
      const untilMs = put[index + 1]?.atMs ?? clock.nowMs;
      return value * Math.max(0, untilMs - Math.max(atMs, fromMs));
    });
    return Number((areas.reduce((all, area) => all + area, 0) / (clock.nowMs - fromMs)).toPrecision(12));
  };
  const tick = () => {
    const isReached = ++quiet > overMs / everyMs;
    isGoing = !isReached;
    tellNew(isReached ? put.at(-1)!.value : mean());
    if (!isReached && isGoing) wait();
  };
  const wait = () => {
    stop = clock.set(everyMs, tick);
  };
  return {
    stop() {
      isGoing = false;
      stop();
    },
    put(value: number) {
      put.push({ atMs: clock.nowMs, value });
      quiet = 0;
      if (told === undefined) tellNew(value);
      if (isGoing) return;
      isGoing = true;
      wait();
    },
  };
}
