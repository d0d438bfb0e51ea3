// The thread that tries a flow loads what flows usually import, and the whole hub only for a flow that imports more.

import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { stackOfThread } from '../../../lib/flow/programs/stack.ts';
import { Trial } from '../../../lib/flow/programs/trial.ts';
import { within } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';

const hub = JSON.stringify(resolve(import.meta.dirname, '../../../lib/index.ts'));
/** The hub brings node:child_process, which this thread does not need. */
const hasHub = "process.moduleLoadList.includes('NativeModule child_process')";

/** Tries the first of the files, `flow.ts`. */
async function tryFlow(t: ExecutionContext, files: Readonly<Record<string, string>>) {
  const folder = await createFolder(t, { 'package.json': { type: 'module' }, ...files });
  const trial = new Trial();
  t.teardown(() => trial.end());
  return { folder, tried: await trial.run(join(folder, 'flow.ts'), 'flow.ts') };
}

test('a flow with the usual imports is tried without the hub', async (t) => {
  const { tried } = await tryFlow(t, {
    'flow.ts': `import { convert, defineFlow, HubError } from ${hub};
      export default defineFlow({ connections: { hasHub: ${hasHub}, convert: typeof convert, error: typeof HubError } });`,
  });
  t.deepEqual(tried.connections, { hasHub: false, convert: 'function', error: 'function' });
});

test('a flow with a file that imports more gets the whole hub', async (t) => {
  const { folder, tried } = await tryFlow(t, {
    'flow.ts': `import { defineFlow } from ${hub};
      import { types } from './_types.ts';
      export default defineFlow({ connections: { hasHub: ${hasHub}, dummy: types.has('dummy') } });`,
    '_types.ts': `import { loadConnectionTypes } from ${hub}; export const types = await loadConnectionTypes();`,
  });
  t.deepEqual(tried.connections, { hasHub: true, dummy: true });
  t.deepEqual(tried.imports, { [join(folder, 'flow.ts')]: [join(folder, '_types.ts')] });
});

test('a name that the hub does not export is an error with its place', async (t) => {
  const error = await t.throwsAsync(tryFlow(t, { 'flow.ts': `// a flow\nimport { defineFlaw } from ${hub};` }));
  t.regex(error!.message, /^cannot be loaded: .* does not provide an export named 'defineFlaw'$/);
  t.like(error, { place: { name: 'flow.ts', line: 2 } });
});

test.serial('a thread that gets no CPU time is not late', async (t) => {
  const { tried } = await tryFlow(t, {
    'flow.ts': `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000);
      export default { connections: {} };`,
  });
  t.deepEqual(tried.connections, {});
});

test.serial('a thread continues after a request for its place is aborted', async (t) => {
  const program = `const { parentPort } = require('node:worker_threads');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    parentPort.postMessage([1, 2].map((n) => n + 1).join());`;
  const thread = new Worker(program, { eval: true });
  t.teardown(() => thread.terminate());
  const ending = new AbortController();
  await once(thread, 'online');
  const stack = stackOfThread(thread.threadId, ending.signal);
  ending.abort();
  t.is(await stack, undefined);
  t.deepEqual(await within(once(thread, 'message'), 'what it does next'), ['2,3']);
});

/** V8 would end the process if it had no room for the copy of a growing array. */
const grow = 'const all = []; for (;;) all.push(1);';

test.serial('a flow that takes all memory is refused with its place', async (t) => {
  const error = await t.throwsAsync(tryFlow(t, { 'flow.ts': `// a flow\n${grow}` }));
  t.regex(
    error!.message,
    /^cannot be loaded: expected a file that (uses at most 512 MB of memory, but it |loads within 2 s: the file )/,
  );
  t.like(error, { place: { name: 'flow.ts', line: 2 } });
});

test.serial('a flow that takes all memory after its trial ends only its thread', async (t) => {
  const made = once(process, 'worker') as Promise<[Worker]>;
  const { tried } = await tryFlow(t, {
    'flow.ts': `const leak = () => { ${grow} };
      setTimeout(leak, 300);
      export default { connections: {} };`,
  });
  t.deepEqual(tried.connections, {});
  const [thread] = await made;
  await within(new Promise((resolve) => thread.once('exit', resolve)), 'the end of its thread');
});
