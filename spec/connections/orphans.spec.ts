// Children of a hub that is killed end, also in an endless loop, and also after signals that reach all processes of a terminal.

import { resolve } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../support/deadline.ts';
import { isAlive } from '../support/system/alive.ts';
import { start } from '../support/system/process.ts';

const module = pathToFileURL(resolve('lib/connections/orphans.ts'));
const loop =
  "process.on('SIGINT', () => {}).on('SIGTERM', () => {}).on('SIGHUP', () => {}); console.log('loops'); for (;;);";

/** Starts a parent with two children that loop, after one that has ended. */
async function startParent(t: ExecutionContext) {
  const program = `import { endWithHub } from '${module}';
    process.on('SIGINT', () => {}).on('SIGTERM', () => {}).on('SIGHUP', () => {});
    const run = (code) => {
      const child = child_process.spawn(process.execPath, ['--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
      endWithHub(child);
      return child;
    };
    run('').once('exit', () => {
      for (const child of [run(${JSON.stringify(loop)}), run(${JSON.stringify(loop)})])
        child.stdout.once('data', () => console.log('child', child.pid, '.'));
    });
    setInterval(() => {}, 1000);`;
  const parent = start(t, ['--eval', program], { program: '--input-type=module', isGroup: true });
  const [, one, two] = await parent.shows(/child (\d+) \.\s+child (\d+) \./);
  const children = [Number(one), Number(two)];
  t.teardown(() => {
    for (const pid of children) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return { parent: parent.process, children };
}

(process.platform === 'win32' ? test.skip : test)('children that loop end when their parent is killed', async (t) => {
  const { parent, children } = await startParent(t);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(-parent.pid!, signal);
  await after(500);
  t.deepEqual(children.map(isAlive), [true, true]);
  parent.kill('SIGKILL');
  await eventually(() => !children.some(isAlive), 'no child that is left');
  t.pass();
});
