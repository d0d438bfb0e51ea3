// What a bench or a spec has started ends with it.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { start } from './process.ts';

const module = pathToFileURL(resolve('spec/support/system/dependent.ts'));
const child = 'setInterval(() => console.log(process.ppid), 10)';

(process.platform === 'linux' ? test : test.skip)('a process ends when what has started it is killed', async (t) => {
  const program = `import { dependent } from '${module}';
    child_process.spawn(...dependent(process.execPath, ['--eval', '${child}']), { stdio: 'inherit' });`;
  const parent = start(t, ['--eval', program], { program: '--input-type=module' });
  const [, ppid] = await parent.shows(/(\d+)\n/);
  t.is(Number(ppid), parent.process.pid!, 'it is no process in between that starts it');
  parent.process.kill('SIGKILL');
  await parent.ended(); // which is when nobody has its standard output any more
  t.pass();
});
