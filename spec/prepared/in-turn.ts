// Several files of specs in one process, one after another: it reads the hub once for all of them, and V8 has compiled it after the
// first. Each file has its turn once all tests of the one before are over; its own tests run as AVA would run them alone. For them
// this is AVA (preload.mjs): `test`, `serial`, `skip`, `only`, `macro`, and hooks, which are those of the process: `before` is
// before the first turn, `after` is after the last.

import ava, { type ExecutionContext, type Implementation, type Macro, registerCompletionHandler } from 'ava';

interface Turn {
  readonly file: string;
  /** The tests that AVA runs. */
  readonly tests: Test[];
}

interface Test {
  readonly turn: Turn;
  readonly isSerial: boolean;
  readonly start: PromiseWithResolvers<void>;
  readonly end: PromiseWithResolvers<void>;
}

type Declaring = (title: string, implementation: Implementation<unknown[]>, ...args: unknown[]) => void;

const turns: Turn[] = [];
/** By title. */
const tests = new Map<string, Test>();
/** AVA takes them all at once; the files are read with waits in between. */
const declarations: (() => void)[] = [];

/** Reads files of specs by their names, `console/look`. One that cannot be read is a test that fails. */
export async function readInTurn(names: readonly string[]): Promise<void> {
  for (const name of names) {
    turns.push({ file: name.replace('../', '').replaceAll('/', ' › '), tests: [] });
    try {
      await import(new URL(`../${name}.spec.ts`, import.meta.url).href);
    } catch (error) {
      test('can be read', () => {
        throw error;
      });
    }
  }
  registerCompletionHandler(() => setTimeout(exit, leakMs).unref());
  ava.beforeEach(waitForTurn);
  ava.afterEach.always((t) => testOf(t).end.resolve());
  for (const declare of declarations) declare();
}

/** The time after the last test in which a process ends by itself, unless a test has failed to close something. */
const leakMs = 5000;

/** Ends the process. AVA would wait for minutes, and count all files as failed. */
function exit(): void {
  console.error(`left open by a test: ${[...new Set(process.getActiveResourcesInfo())].join(', ')}`);
  process.exit();
}

/** AVA begins all tests at once: each waits here, which does not count as its own time. */
function waitForTurn(t: ExecutionContext): Promise<void> {
  if (turns.every(({ tests }) => tests.length === 0)) setImmediate(() => void takeTurns());
  const test = testOf(t);
  test.turn.tests.push(test);
  return test.start.promise;
}

async function takeTurns(): Promise<void> {
  for (const { tests } of turns) {
    for (const test of tests.filter(({ isSerial }) => isSerial)) await run(test);
    await Promise.all(tests.filter(({ isSerial }) => !isSerial).map(run));
  }
}

function run({ start, end }: Test): Promise<void> {
  start.resolve();
  return end.promise;
}

function testOf({ title }: ExecutionContext): Test {
  return tests.get(title.replace(/^(before|after)Each(\.always)? hook for /, ''))!;
}

function later<Args extends unknown[]>(declare: (...args: Args) => void): (...args: Args) => void {
  return (...args) => void declarations.push(() => declare(...args));
}

/** `test`, or one of its forms. What is given is as AVA has it: a title, a function or a macro, and what it is called with. */
function declaring(declare: Declaring, isSerial = false) {
  return (...given: unknown[]) => {
    const title = typeof given[0] === 'string' ? (given.shift() as string) : undefined;
    const [implementation, ...args] = given as [Implementation<unknown[]>, ...unknown[]];
    const { title: titleOf = () => title, exec = implementation } = implementation as Partial<Macro<unknown[]>>;
    const turn = turns.at(-1)!;
    const full = `${turn.file} › ${titleOf(title, ...args)}`.trim().replaceAll(/\s+/g, ' '); // as AVA writes titles
    declarations.push(() => {
      tests.set(full, { turn, isSerial, start: Promise.withResolvers(), end: Promise.withResolvers() });
      declare(full, exec, ...args);
    });
  };
}

const test = Object.assign(declaring(ava), {
  serial: Object.assign(declaring(ava, true), {
    skip: declaring(ava.skip),
    only: declaring(ava.only, true),
  }),
  skip: declaring(ava.skip),
  only: declaring(ava.only),
  macro: ava.macro,
  before: later(ava.before),
  after: Object.assign(later(ava.after), { always: later(ava.after.always) }),
});
export default test;
