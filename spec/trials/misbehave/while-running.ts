// What a flow may do while it runs. The hub says whose fault it is, and goes on.

import type { Way } from './way.ts';

export const whileRunning: Readonly<Record<string, Way>> = {
  'throws-later': {
    about: 'throws in a timer',
    flow: { pipe: "tap(() => setTimeout(() => wrong('timer'), 10))" },
    told: /^flow flow\.ts failed: timer \(flow\.ts:5:\d+\)$/,
  },
  'throws-in-a-microtask': {
    about: 'throws in queueMicrotask',
    flow: { pipe: "tap(() => queueMicrotask(() => wrong('micro')))" },
    told: /^flow flow\.ts failed: micro \(flow\.ts:5:\d+\)$/,
  },
  'rejects-later': {
    about: 'rejects',
    flow: { pipe: "tap(async () => wrong('async'))" },
    told: /^flow flow\.ts failed: async \(flow\.ts:5:\d+\)$/,
  },
  'rejects-with-nothing': {
    about: 'rejects with nothing',
    flow: { pipe: 'tap(() => void Promise.reject())' },
    told: /^flow flow\.ts failed: a promise was rejected with undefined/,
  },
  'throws-null-later': {
    about: 'throws null in a timer',
    flow: { pipe: 'tap(() => setTimeout(() => { throw null; }))' },
    told: /^flow flow\.ts failed: null was thrown/,
  },
  'throws-in-the-stream': {
    about: 'throws in its stream',
    flow: { pipe: "tap(() => wrong('stream'))" },
    told: /^rule "sum" \(flow\.ts\) failed: stream \(flow\.ts:5:\d+\)$/,
  },
  'throws-null-in-the-stream': {
    about: 'throws null in its stream',
    flow: { pipe: 'tap(() => { throw null; })' },
    told: /^rule "sum" \(flow\.ts\) failed: null was thrown/,
  },
  'throws-hostile-in-the-stream': {
    about: 'throws what cannot be shown in its stream',
    flow: { pipe: "tap(() => { throw { toString() { throw new Error('no'); } }; })" },
    told: /^rule "sum" \(flow\.ts\) failed: something was thrown that cannot be shown$/,
  },
  'recurses-in-the-stream': {
    about: 'calls itself without end in its stream',
    flow: { pipe: 'tap(() => { const deep = (n: number): number => deep(n + 1) + 1; deep(0); })' },
    told: /^rule "sum" \(flow\.ts\) failed: Maximum call stack size exceeded \(flow\.ts:10:\d+\)$/,
  },
  'exits-in-the-stream': {
    about: 'ends the process in its stream',
    flow: { pipe: 'tap(() => process.exit())' },
    told: /^rule "sum" \(flow\.ts\) failed: process\.exit\(\): .*\(flow\.ts:10:\d+\)$/,
  },
  'exits-later': {
    about: 'ends the process in a timer',
    flow: { pipe: 'tap(() => setTimeout(process.exit, 10))' },
    told: /^flow flow\.ts failed: process\.exit\(\): a flow cannot/,
  },
  'kills-later': {
    about: 'kills the process in a timer',
    flow: { pipe: "tap(() => setTimeout(() => process.kill(process.pid, 'SIGKILL')))" },
    told: /^flow flow\.ts failed: process\.kill\(\d+, SIGKILL\): .*\(flow\.ts:10:\d+\)$/,
  },
  'emits-an-error': {
    about: 'emits an error that nobody listens to',
    flow: { pipe: "tap(() => setTimeout(() => new EventEmitter().emit('error', new Error('emitted'))))" },
    told: /^flow flow\.ts failed: emitted \(flow\.ts:10:\d+\)$/,
  },
  'is-refused': {
    about: 'a socket is refused, and nobody listens',
    flow: { pipe: "tap((v) => void (v % 20 === 0 && connect(1, '127.0.0.1')))" },
    told: /^flow flow\.ts failed: connect ECONNREFUSED/,
  },
  'starts-a-bad-worker': {
    about: 'starts a thread that throws',
    flow: { pipe: 'tap((v) => void (v % 200 === 0 && new Worker(\'throw new Error("worker")\', { eval: true })))' },
    told: /^flow flow\.ts failed: worker/,
  },
  'starts-a-thread-that-loops': {
    about: 'starts a thread that loops without end',
    flow: {
      rules: '',
      pipe: "tap((v) => void (v % 20_000 === 0 && new Worker('for (let end = Date.now() + 8000; Date.now() < end;);', { eval: true })))",
    },
  },
  'leaks-subscribers': {
    about: 'leaks subscribers that throw',
    flow: { pipe: "tap(() => range(1).subscribe(() => wrong('leak')))" },
    told: /^flow flow\.ts failed: leak \(flow\.ts:5:\d+\)$/,
  },
  'leaks-subscriptions': {
    about: 'subscribes to a parameter at each change and never lets go',
    flow: { pipe: "tap(() => { on.integer('desk/x').subscribe(); })" },
    told: /^rule "sum" \(flow\.ts\) is limited: its streams are subscribed to 1,000 times at most, the next was not \(flow\.ts:10:\d+\)$/,
  },
  'emits-far-too-much': {
    about: 'emits 200,000 values at once',
    flow: { pipe: 'concatMap((v) => (v % 200 === 0 ? range(v, 200_000) : [v]))' },
    told: /^rule "sum" wrote past 131,072 writes in one turn, /,
  },
  'emits-much': {
    about: 'emits 100,000 values at once, which is within the limit',
    flow: { pipe: 'concatMap((v) => (v % 200 === 0 ? range(v, 100_000) : [v]))' },
  },
  'emits-what-is-no-value': {
    about: 'emits a text where a number is written',
    flow: { pipe: "map(() => 'text' as never)" },
    told: /^rule "sum" \(flow\.ts\) failed: .*text/,
  },
  'changes-what-all-share-later': {
    about: 'changes JSON.parse in its stream',
    flow: { pipe: 'tap(() => { JSON.parse = (() => 0) as never; })' },
    told: /^rule "sum" \(flow\.ts\) failed: .*\(flow\.ts:10:\d+\)$/,
  },
  'timers-without-end': {
    about: 'timers of 0 ms without end',
    flow: {
      pipe: 'tap((v) => { if (v % 1000 === 0) { const end = Date.now() + 2000; const again = () => { if (Date.now() < end) setTimeout(again, 0); }; again(); } })',
    },
  },
  'sets-the-exit-status': {
    about: 'sets the status with which the process ends',
    flow: { pipe: 'tap(() => { process.exitCode = 7; })' },
  },
  'prints-much': {
    about: 'prints a thousand lines at each change',
    flow: { pipe: "tap((v) => { if (v % 50 === 0) for (let n = 0; n < 1000; n++) console.log('line', n); })" },
  },
};

/** The hub cannot go on: a thread says who it was, and ends the process. */
export const endless: Readonly<Record<string, Way>> = {
  'loops-in-the-stream': {
    about: 'loops without end in its stream',
    flow: { pipe: 'tap(() => { for (;;); })' },
    told: /^flow flow\.ts has stopped the hub: it ran for 4 s without letting go, at flow\.ts:10:\d+\./,
    ends: true,
  },
  'microtasks-in-the-stream': {
    about: 'a chain of promises without end, started in its stream',
    flow: { pipe: 'tap(() => { const again = (): Promise<void> => Promise.resolve().then(again); void again(); })' },
    told: /^flow flow\.ts has stopped the hub: it ran for 4 s without letting go, at flow\.ts/,
    ends: true,
  },
  'ticks-in-the-stream': {
    about: 'process.nextTick without end',
    flow: { pipe: 'tap(() => { const again = () => process.nextTick(again); again(); })' },
    told: /^flow flow\.ts has stopped the hub: it ran for 4 s without letting go, at flow\.ts/,
    ends: true,
  },
  'blocks-in-the-stream': {
    about: 'waits for another program in its stream',
    flow: { pipe: "tap(() => { execSync('sleep 3600'); })" },
    told: /^flow flow\.ts has stopped the hub: it has kept the hub waiting for 30 s\./,
    ends: true,
  },
  'blocks-beside-a-busy-thread': {
    about: 'waits for another program in its stream, while a thread of its own works',
    flow: { pipe: "tap(() => { new Worker('for (;;);', { eval: true }); execSync('sleep 3600'); })" },
    told: /^flow flow\.ts has stopped the hub: it has kept the hub waiting for 30 s\./,
    ends: true,
  },
  'takes-memory-in-the-stream': {
    about: 'takes memory without end in its stream',
    flow: { pipe: 'tap(() => { const all: number[][] = []; for (;;) all.push(new Array(10_000).fill(1.5)); })' },
    told: /^flow flow\.ts has stopped the hub: /,
    ends: true,
  },
};
