// What a flow may do when it is imported or makes its rules. The hub finds it before it imports the file.

import type { Way } from './way.ts';

/** On a slow machine the time is up first. */
const tooMuch =
  /^flow\.ts(:6:\d+)?: cannot be loaded: expected a file that (takes at most 512 MB of memory|is read within 2 s), it /;

export const atImport: Readonly<Record<string, Way>> = {
  throws: {
    about: 'throws when it is imported',
    flow: { top: "wrong('no');" },
    told: /^flow\.ts:5:\d+: cannot be loaded: no$/,
  },
  'throws-null': {
    about: 'throws null',
    flow: { top: 'throw null;' },
    told: /^flow\.ts:6:1: cannot be loaded: null was thrown, which is no error$/,
  },
  'throws-hostile': {
    about: 'throws an object that cannot be shown',
    flow: { top: "throw { toString() { throw new Error('no'); }, get stack() { throw new Error('no'); } };" },
    told: /^flow\.ts.*: cannot be loaded: something was thrown that cannot be shown$/,
  },
  rejects: {
    about: 'rejects with nothing',
    flow: { top: 'Promise.reject();' },
    told: /^flow\.ts.*: a promise was rejected with undefined, which is no error$/,
  },
  'throws-in-a-timer': {
    about: 'throws in a timer at once',
    flow: { top: 'setTimeout(() => wrong());' },
    told: /^flow\.ts:5:\d+: failed as soon as it was loaded: wrong$/,
  },
  exits: {
    about: 'ends the process',
    flow: { top: 'process.exit(3);' },
    told: /^flow\.ts:6:\d+: cannot be loaded: process\.exit\(3\): a flow cannot end the hub$/,
  },
  aborts: {
    about: 'aborts the process',
    flow: { top: 'process.abort();' },
    told: /^flow\.ts:6:\d+: cannot be loaded: process\.abort\(\): a flow cannot end the hub$/,
  },
  kills: {
    about: 'kills the process',
    flow: { top: "process.kill(process.pid, 'SIGKILL');" },
    told: /^flow\.ts:6:\d+: cannot be loaded: process\.kill\(\d+, SIGKILL\): a flow cannot end the hub$/,
  },
  'changes-folder': {
    about: 'changes the folder of the process',
    flow: { top: "process.chdir('/');" },
    told: /^flow\.ts:6:\d+: cannot be loaded: process\.chdir\(/,
  },
  'waits-for-ever': {
    about: 'its import never settles',
    flow: { top: 'await new Promise(() => {});' },
    told: /^flow\.ts: cannot be loaded: expected a file that is read within 2 s, it still waits/,
  },
  'waits-5-s': {
    about: 'waits for 5 s at its top level',
    flow: { top: 'await new Promise((done) => setTimeout(done, 5000));' },
    told: /^flow\.ts: cannot be loaded: expected a file that is read within 2 s, it still waits/,
  },
  loops: {
    about: 'loops without end',
    flow: { top: 'for (;;);' },
    told: /^flow\.ts:6:\d+: cannot be loaded: expected a file that is read within 2 s, it still runs/,
  },
  'microtask-loop': {
    about: 'a chain of promises without end',
    flow: { top: 'const again = (): Promise<void> => Promise.resolve().then(again); await again();' },
    told: /^flow\.ts(:6:\d+)?: cannot be loaded: expected a file that is read within 2 s, it still runs/,
  },
  recurses: {
    about: 'calls itself without end',
    flow: { top: 'const deep = (n: number): number => deep(n + 1) + 1; deep(0);' },
    told: /^flow\.ts:6:\d+: cannot be loaded: Maximum call stack size exceeded$/,
  },
  'takes-memory': {
    about: 'takes memory without end',
    flow: { top: 'const all: number[][] = []; for (;;) all.push(new Array(10_000).fill(1.5));' },
    told: tooMuch,
  },
  'lets-an-array-grow': {
    about: 'lets one array grow without end, which V8 copies to twice its size',
    flow: { top: 'const all: number[] = []; for (;;) all.push(1);' },
    told: tooMuch,
  },
  'lets-a-map-grow': {
    about: 'lets a map grow without end',
    flow: { top: 'const all = new Map<number, object>(); for (let i = 0; ; i++) all.set(i, [i]);' },
    told: tooMuch,
  },
  'takes-large-pieces': {
    about: 'takes memory without end, 200 MB at a time',
    flow: { top: 'const all: number[][] = []; for (;;) all.push(new Array(26_000_000).fill(1.5));' },
    told: tooMuch,
  },
  'takes-buffers': {
    about: 'takes buffers without end',
    flow: { top: 'const all: Uint8Array[] = []; for (;;) all.push(new Uint8Array(20_000_000).fill(1));' },
    told: tooMuch,
  },
  'loops-in-rules': {
    about: 'loops in rules(on)',
    flow: { rules: 'for (;;);' },
    told: /^flow\.ts:9:\d+: cannot be loaded: expected a file that is read within 2 s, it still runs/,
  },
  'throws-in-rules': {
    about: 'throws in rules(on)',
    flow: { rules: 'wrong();' },
    told: /^flow\.ts:5:\d+: rules: failed: wrong$/,
  },
  'rejects-in-rules': {
    about: 'rejects in rules(on)',
    flow: { rules: "(async () => wrong('late'))();" },
    told: /^flow\.ts:5:\d+: failed as soon as it was loaded: late$/,
  },
  'imports-a-bad-file': {
    about: 'imports a file that throws',
    flow: { top: "import './_bad.ts';" },
    told: /^flow\.ts: cannot be loaded: bad \(_bad\.ts:2:\d+\)$/,
  },
  'throws-in-a-getter': {
    about: 'a getter of what it exports throws',
    flow: {
      text: "export default {\n  get connections() {\n    throw new Error('got');\n  },\n};\n",
    },
    told: /^flow\.ts:3:\d+: .*got$/,
  },
  'bad-syntax': {
    about: 'has a mistake in its syntax',
    flow: { top: 'const x = = 1;' },
    told: /^flow\.ts:6:\d+: cannot be loaded: /,
  },
  'imports-what-is-missing': {
    about: 'imports a package that is not there',
    flow: { top: "import 'no-such-package';" },
    told: /^flow\.ts(:6:\d+)?: cannot be loaded: .*no-such-package/,
  },
  'imports-in-a-circle': {
    about: 'imports a file that reads it before it is there',
    flow: { top: "import './_circle.ts'; export const mine = 1;" },
    told: /^flow\.ts: cannot be loaded: .*mine.* \(_circle\.ts:2:\d+\)$/,
  },
  'changes-what-all-share': {
    about: 'changes JSON.parse',
    flow: { top: 'JSON.parse = null as never;' },
    told: /^flow\.ts:6:\d+: cannot be loaded: Cannot assign to read only property 'parse' of /,
  },
  'changes-a-prototype': {
    about: 'changes Array.prototype.map',
    flow: { top: 'Array.prototype.map = (() => []) as never;' },
    told: /^flow\.ts: .*: changes Array\.prototype\.map, which the hub needs as it is$/,
  },
  'is-huge': {
    about: 'has 20 MB of source',
    flow: { top: `const much = '${'x'.repeat(20_000_000)}'; wrong('huge');` },
    told: /^flow\.ts.*: cannot be loaded: huge$/,
  },
  'writes-itself': {
    about: 'writes to its own source whenever it is imported',
    flow: { top: 'appendFileSync(import.meta.filename, "\\n// again"); wrong("written");' },
    told: /^flow\.ts.*: cannot be loaded: written$/,
  },
  'is-no-flow': {
    about: 'exports null',
    flow: { text: 'export default null;\n' },
    told: /^flow\.ts:1:1: expected export default defineFlow/,
  },
};
