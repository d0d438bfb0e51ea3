// Every known way in which a TypeScript flow can misbehave.

import type { Parts } from './flow.ts';

export interface Way {
  readonly about: string;
  readonly flow: Parts;
  /** What the log says; undefined: it does no harm, so that there is nothing to say. */
  readonly reported?: RegExp;
  /** The process ends, and the next start leaves the flow out. */
  readonly ends?: true;
}

/** On a slow machine the time limit is reached first. */
const tooMuch =
  /^flow\.ts(:6:\d+)?: cannot be loaded: expected a file that (uses at most 512 MB of memory|is read within 2 s), it /;

export const atImport: Readonly<Record<string, Way>> = {
  throws: {
    about: 'throws when it is imported',
    flow: { top: "wrong('no');" },
    reported: /^flow\.ts:5:\d+: cannot be loaded: no$/,
  },
  'throws-null': {
    about: 'throws null',
    flow: { top: 'throw null;' },
    reported: /^flow\.ts:6:1: cannot be loaded: null was thrown, which is not an Error$/,
  },
  'throws-hostile': {
    about: 'throws an object that cannot be converted to text',
    flow: { top: "throw { toString() { throw new Error('no'); }, get stack() { throw new Error('no'); } };" },
    reported: /^flow\.ts.*: cannot be loaded: something was thrown that cannot be shown$/,
  },
  rejects: {
    about: 'rejects with nothing',
    flow: { top: 'Promise.reject();' },
    reported: /^flow\.ts.*: a promise was rejected with undefined, which is not an Error$/,
  },
  'throws-in-a-timer': {
    about: 'throws in a timer immediately',
    flow: { top: 'setTimeout(() => wrong());' },
    reported: /^flow\.ts:5:\d+: failed as soon as it was loaded: wrong$/,
  },
  exits: {
    about: 'ends the process',
    flow: { top: 'process.exit(3);' },
    reported: /^flow\.ts:6:\d+: cannot be loaded: process\.exit\(3\): a flow cannot end the hub$/,
  },
  aborts: {
    about: 'aborts the process',
    flow: { top: 'process.abort();' },
    reported: /^flow\.ts:6:\d+: cannot be loaded: process\.abort\(\): a flow cannot end the hub$/,
  },
  kills: {
    about: 'kills the process',
    flow: { top: "process.kill(process.pid, 'SIGKILL');" },
    reported: /^flow\.ts:6:\d+: cannot be loaded: process\.kill\(\d+, SIGKILL\): a flow cannot end the hub$/,
  },
  'changes-folder': {
    about: 'changes the working directory of the process',
    flow: { top: "process.chdir('/');" },
    reported: /^flow\.ts:6:\d+: cannot be loaded: process\.chdir\(/,
  },
  'waits-for-ever': {
    about: 'its import never settles',
    flow: { top: 'await new Promise(() => {});' },
    reported: /^flow\.ts:6:1: cannot be loaded: expected a file that loads within 2 s: a top-level await/,
  },
  'waits-5-s': {
    about: 'waits for 5 s at its top level',
    flow: { top: 'await new Promise((done) => setTimeout(done, 5000));' },
    reported: /^flow\.ts:6:1: cannot be loaded: expected a file that loads within 2 s: a top-level await/,
  },
  loops: {
    about: 'loops endlessly',
    flow: { top: 'for (;;);' },
    reported: /^flow\.ts:6:\d+: cannot be loaded: expected a file that loads within 2 s: the file is still running/,
  },
  'microtask-loop': {
    about: 'creates an endless chain of promises',
    flow: { top: 'const again = (): Promise<void> => Promise.resolve().then(again); await again();' },
    reported: /^flow\.ts(:6:\d+)?: cannot be loaded: expected a file that loads within 2 s: the file is still running/,
  },
  recurses: {
    about: 'recurses endlessly',
    flow: { top: 'const deep = (n: number): number => deep(n + 1) + 1; deep(0);' },
    reported: /^flow\.ts:6:\d+: cannot be loaded: Maximum call stack size exceeded$/,
  },
  'takes-memory': {
    about: 'allocates memory endlessly',
    flow: { top: 'const all: number[][] = []; for (;;) all.push(new Array(10_000).fill(1.5));' },
    reported: tooMuch,
  },
  'lets-an-array-grow': {
    about: 'lets one array grow endlessly; V8 copies it each time to double its size',
    flow: { top: 'const all: number[] = []; for (;;) all.push(1);' },
    reported: tooMuch,
  },
  'lets-a-map-grow': {
    about: 'lets a map grow endlessly',
    flow: { top: 'const all = new Map<number, object>(); for (let i = 0; ; i++) all.set(i, [i]);' },
    reported: tooMuch,
  },
  'takes-large-pieces': {
    about: 'allocates memory endlessly, 200 MB at a time',
    flow: { top: 'const all: number[][] = []; for (;;) all.push(new Array(26_000_000).fill(1.5));' },
    reported: tooMuch,
  },
  'takes-buffers': {
    about: 'allocates buffers endlessly',
    flow: { top: 'const all: Uint8Array[] = []; for (;;) all.push(new Uint8Array(20_000_000).fill(1));' },
    reported: tooMuch,
  },
  'loops-in-rules': {
    about: 'loops in rules(on)',
    flow: { rules: 'for (;;);' },
    reported: /^flow\.ts:9:\d+: cannot be loaded: expected a file that loads within 2 s: the file is still running/,
  },
  'throws-in-rules': {
    about: 'throws in rules(on)',
    flow: { rules: 'wrong();' },
    reported: /^flow\.ts:5:\d+: rules: failed: wrong$/,
  },
  'rejects-in-rules': {
    about: 'rejects in rules(on)',
    flow: { rules: "(async () => wrong('late'))();" },
    reported: /^flow\.ts:5:\d+: failed as soon as it was loaded: late$/,
  },
  'imports-a-bad-file': {
    about: 'imports a file that throws',
    flow: { top: "import './_bad.ts';" },
    reported: /^flow\.ts: cannot be loaded: bad \(_bad\.ts:2:\d+\)$/,
  },
  'throws-in-a-getter': {
    about: 'exports an object with a getter that throws',
    flow: {
      text: "export default {\n  get connections() {\n    throw new Error('got');\n  },\n};\n",
    },
    reported: /^flow\.ts:3:\d+: .*got$/,
  },
  'bad-syntax': {
    about: 'has a syntax error',
    flow: { top: 'const x = = 1;' },
    reported: /^flow\.ts:6:\d+: cannot be loaded: /,
  },
  'imports-what-is-missing': {
    about: 'imports a package that does not exist',
    flow: { top: "import 'no-such-package';" },
    reported: /^flow\.ts(:6:\d+)?: cannot be loaded: .*no-such-package/,
  },
  'imports-in-a-circle': {
    about: 'imports a file that reads its exports before they are initialized',
    flow: { top: "import './_circle.ts'; export const mine = 1;" },
    reported: /^flow\.ts: cannot be loaded: .*mine.* \(_circle\.ts:2:\d+\)$/,
  },
  'changes-what-all-share': {
    about: 'changes JSON.parse',
    flow: { top: 'JSON.parse = null as never;' },
    reported: /^flow\.ts:6:\d+: cannot be loaded: Cannot assign to read only property 'parse' of /,
  },
  'changes-a-prototype': {
    about: 'changes Array.prototype.map',
    flow: { top: 'Array.prototype.map = (() => []) as never;' },
    reported: /^flow\.ts: .*: modifies Array\.prototype\.map, which the hub relies on$/,
  },
  'is-huge': {
    about: 'has 20 MB of source',
    flow: { top: `const much = '${'x'.repeat(20_000_000)}'; wrong('huge');` },
    reported: /^flow\.ts.*: cannot be loaded: huge$/,
  },
  'writes-itself': {
    about: 'writes to its own source whenever it is imported',
    flow: { top: 'appendFileSync(import.meta.filename, "\\n// again"); wrong("written");' },
    reported: /^flow\.ts.*: cannot be loaded: written$/,
  },
  'is-no-flow': {
    about: 'exports null',
    flow: { text: 'export default null;\n' },
    reported: /^flow\.ts:1:1: expected export default defineFlow/,
  },
};

export const whileRunning: Readonly<Record<string, Way>> = {
  'throws-later': {
    about: 'throws in a timer',
    flow: { pipe: "tap(() => setTimeout(() => wrong('timer'), 10))" },
    reported: /^flow flow\.ts failed: timer \(flow\.ts:5:\d+\)$/,
  },
  'throws-in-a-microtask': {
    about: 'throws in queueMicrotask',
    flow: { pipe: "tap(() => queueMicrotask(() => wrong('micro')))" },
    reported: /^flow flow\.ts failed: micro \(flow\.ts:5:\d+\)$/,
  },
  'rejects-later': {
    about: 'rejects',
    flow: { pipe: "tap(async () => wrong('async'))" },
    reported: /^flow flow\.ts failed: async \(flow\.ts:5:\d+\)$/,
  },
  'rejects-with-nothing': {
    about: 'rejects with nothing',
    flow: { pipe: 'tap(() => void Promise.reject())' },
    reported: /^flow flow\.ts failed: a promise was rejected with undefined/,
  },
  'throws-null-later': {
    about: 'throws null in a timer',
    flow: { pipe: 'tap(() => setTimeout(() => { throw null; }))' },
    reported: /^flow flow\.ts failed: null was thrown/,
  },
  'throws-in-the-stream': {
    about: 'throws in its stream',
    flow: { pipe: "tap(() => wrong('stream'))" },
    reported: /^rule "sum" \(flow\.ts\) failed: stream \(flow\.ts:5:\d+\)$/,
  },
  'throws-null-in-the-stream': {
    about: 'throws null in its stream',
    flow: { pipe: 'tap(() => { throw null; })' },
    reported: /^rule "sum" \(flow\.ts\) failed: null was thrown/,
  },
  'throws-hostile-in-the-stream': {
    about: 'throws an object that cannot be converted to text in its stream',
    flow: { pipe: "tap(() => { throw { toString() { throw new Error('no'); } }; })" },
    reported: /^rule "sum" \(flow\.ts\) failed: something was thrown that cannot be shown$/,
  },
  'recurses-in-the-stream': {
    about: 'recurses endlessly in its stream',
    flow: { pipe: 'tap(() => { const deep = (n: number): number => deep(n + 1) + 1; deep(0); })' },
    reported: /^rule "sum" \(flow\.ts\) failed: Maximum call stack size exceeded \(flow\.ts:10:\d+\)$/,
  },
  'exits-in-the-stream': {
    about: 'ends the process in its stream',
    flow: { pipe: 'tap(() => process.exit())' },
    reported: /^rule "sum" \(flow\.ts\) failed: process\.exit\(\): .*\(flow\.ts:10:\d+\)$/,
  },
  'exits-later': {
    about: 'ends the process in a timer',
    flow: { pipe: 'tap(() => setTimeout(process.exit, 10))' },
    reported: /^flow flow\.ts failed: process\.exit\(\): a flow cannot/,
  },
  'kills-later': {
    about: 'kills the process in a timer',
    flow: { pipe: "tap(() => setTimeout(() => process.kill(process.pid, 'SIGKILL')))" },
    reported: /^flow flow\.ts failed: process\.kill\(\d+, SIGKILL\): .*\(flow\.ts:10:\d+\)$/,
  },
  'emits-an-error': {
    about: 'emits an error event without a listener',
    flow: { pipe: "tap(() => setTimeout(() => new EventEmitter().emit('error', new Error('emitted'))))" },
    reported: /^flow flow\.ts failed: emitted \(flow\.ts:10:\d+\)$/,
  },
  'is-refused': {
    about: 'opens a socket that is refused, without an error listener',
    flow: { pipe: "tap((v) => void (v % 20 === 0 && connect(1, '127.0.0.1')))" },
    reported: /^flow flow\.ts failed: connect ECONNREFUSED/,
  },
  'starts-a-bad-worker': {
    about: 'starts a thread that throws',
    flow: { pipe: 'tap((v) => void (v % 200 === 0 && new Worker(\'throw new Error("worker")\', { eval: true })))' },
    reported: /^flow flow\.ts failed: worker/,
  },
  'starts-a-thread-that-loops': {
    about: 'starts a thread that loops endlessly',
    flow: {
      rules: '',
      pipe: "tap((v) => void (v % 20_000 === 0 && new Worker('for (let end = Date.now() + 8000; Date.now() < end;);', { eval: true })))",
    },
  },
  'leaks-subscribers': {
    about: 'leaks subscribers that throw',
    flow: { pipe: "tap(() => range(1).subscribe(() => wrong('leak')))" },
    reported: /^flow flow\.ts failed: leak \(flow\.ts:5:\d+\)$/,
  },
  'leaks-subscriptions': {
    about: 'subscribes to a parameter at each change and never unsubscribes',
    flow: { pipe: "tap(() => { on.integer('desk/x').subscribe(); })" },
    reported:
      /^rule "sum" \(flow\.ts\) is limited: its streams may have 1,000 subscriptions at most; the next one was refused \(flow\.ts:10:\d+\)$/,
  },
  'emits-far-too-much': {
    about: 'emits 200,000 values at once',
    flow: { pipe: 'concatMap((v) => (v % 200 === 0 ? range(v, 200_000) : [v]))' },
    reported: /^rule "sum" made more than 131,072 writes in one turn; /,
  },
  'emits-much': {
    about: 'emits 100,000 values at once, which is within the limit',
    flow: { pipe: 'concatMap((v) => (v % 200 === 0 ? range(v, 100_000) : [v]))' },
  },
  'emits-what-is-no-value': {
    about: 'emits text where a number is written',
    flow: { pipe: "map(() => 'text' as never)" },
    reported: /^rule "sum" \(flow\.ts\) failed: .*text/,
  },
  'changes-what-all-share-later': {
    about: 'changes JSON.parse in its stream',
    flow: { pipe: 'tap(() => { JSON.parse = (() => 0) as never; })' },
    reported: /^rule "sum" \(flow\.ts\) failed: .*\(flow\.ts:10:\d+\)$/,
  },
  'timers-without-end': {
    about: 'sets timers of 0 ms endlessly',
    flow: {
      pipe: 'tap((v) => { if (v % 1000 === 0) { const end = Date.now() + 2000; const again = () => { if (Date.now() < end) setTimeout(again, 0); }; again(); } })',
    },
  },
  'sets-the-exit-status': {
    about: 'sets the exit status of the process',
    flow: { pipe: 'tap(() => { process.exitCode = 7; })' },
  },
  'prints-much': {
    about: 'prints a thousand lines at each change',
    flow: { pipe: "tap((v) => { if (v % 50 === 0) for (let n = 0; n < 1000; n++) console.log('line', n); })" },
  },
};

/** The hub cannot go on: a thread says who it was, and ends the process. */
const endless: Readonly<Record<string, Way>> = {
  'loops-in-the-stream': {
    about: 'loops endlessly in its stream',
    flow: { pipe: 'tap(() => { for (;;); })' },
    reported: /^flow flow\.ts has stopped the hub: it ran for 4 s without yielding, at flow\.ts:10:\d+\./,
    ends: true,
  },
  'microtasks-in-the-stream': {
    about: 'creates an endless chain of promises in its stream',
    flow: { pipe: 'tap(() => { const again = (): Promise<void> => Promise.resolve().then(again); void again(); })' },
    reported: /^flow flow\.ts has stopped the hub: it ran for 4 s without yielding, at flow\.ts/,
    ends: true,
  },
  'ticks-in-the-stream': {
    about: 'calls process.nextTick endlessly',
    flow: { pipe: 'tap(() => { const again = () => process.nextTick(again); again(); })' },
    reported: /^flow flow\.ts has stopped the hub: it ran for 4 s without yielding, at flow\.ts/,
    ends: true,
  },
  'blocks-in-the-stream': {
    about: 'waits for another program in its stream',
    flow: { pipe: "tap(() => { execSync('sleep 3600'); })" },
    reported: /^flow flow\.ts has stopped the hub: it blocked the hub for 30 s\./,
    ends: true,
  },
  'blocks-beside-a-busy-thread': {
    about: 'waits for another program in its stream while its own thread works',
    flow: { pipe: "tap(() => { new Worker('for (;;);', { eval: true }); execSync('sleep 3600'); })" },
    reported: /^flow flow\.ts has stopped the hub: it blocked the hub for 30 s\./,
    ends: true,
  },
  'takes-memory-in-the-stream': {
    about: 'allocates memory endlessly in its stream',
    flow: { pipe: 'tap(() => { const all: number[][] = []; for (;;) all.push(new Array(10_000).fill(1.5)); })' },
    reported: /^flow flow\.ts has stopped the hub: /,
    ends: true,
  },
};

export const ways: Readonly<Record<string, Way>> = { ...atImport, ...whileRunning, ...endless };
