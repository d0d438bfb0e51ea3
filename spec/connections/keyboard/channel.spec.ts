// The channel to the keyboard's own process where no process can be made.

import test from 'ava';
import { runWithoutDescriptors } from '../../support/system/no-descriptors.ts';

test('a process that could not be made, since all descriptors are taken, has ended, and the hub goes on', async (t) => {
  const reported = await runWithoutDescriptors(
    'connections/keyboard/session.ts',
    `const options = { scheduler: rxjs.asyncScheduler, finish() {} };
     imported.runProcess(rxjs.of({ release: [] }, { release: [] }), options).subscribe({
       error: (error) => console.log(error instanceof imported.ProcessEnded, error.message),
     });`,
  );
  t.regex(reported, /^true spawn \S+ EMFILE\n$/);
});
