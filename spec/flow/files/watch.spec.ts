// Watching: a save takes effect within 300 ms, however the file is saved, and whichever file it is.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { firstValueFrom, merge } from 'rxjs';
import { filter, map, timeout } from 'rxjs/operators';
import { watchFlowFiles } from '../../../lib/flow/files/watch.ts';
import { startHub } from '../../../lib/hub/index.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { deadlineMs, eventually, first } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startReloading } from '../../support/reload.ts';
import { bestOf, slowness } from '../../support/system/machine.ts';

const dummy = (...parameters: string[]) => ({ connections: { desk: { type: 'dummy', parameters } } });
const limitMs = 300;
/** A machine that runs all tests is slower than one that runs a hub: the best of several saves counts. */
const attempts = 5;

type Reloading = Awaited<ReturnType<typeof startReloading>>;

/** The milliseconds from a save to its effect: a parameter comes or goes. */
async function measure({ hub }: Reloading, save: () => Promise<unknown>): Promise<number> {
  const came$ = hub.changes$.pipe(filter(({ origin }) => origin.kind === 'connection'));
  const effect = firstValueFrom(
    merge(came$, hub.removed$).pipe(
      map(() => performance.now()),
      timeout(deadlineMs),
    ),
  );
  await save();
  const savedAt = performance.now();
  return (await effect) - savedAt;
}

const saves: [how: string, save: (hub: Reloading, round: number) => Promise<unknown>][] = [
  ['written in place', ({ save }, round) => save('a.json5', dummy(`a${round},I,1`))],
  ['renamed into place', ({ saveByRename }, round) => saveByRename('a.json5', dummy(`a${round},I,1`))],
  [
    'deleted and created',
    async ({ folder, save }, round) => {
      await rm(join(folder, 'a.json5'));
      await save('a.json5', dummy(`a${round},I,1`));
    },
  ],
  [
    'a new file in a new folder',
    async ({ folder }, round) => {
      await mkdir(join(folder, `new${round}`));
      const content = { connections: { [`new-${round}`]: { type: 'dummy', parameters: 'a,I,1' } } };
      await writeFile(join(folder, `new${round}`, 'b.json5'), JSON.stringify(content));
    },
  ],
  ['a file deleted', ({ folder }, round) => rm(join(folder, `more/${round}.json5`))],
  ['a file that settings name', ({ save }, round) => save('in.xml', `<a>$Lamp${round}</a>`)],
];

for (const [how, save] of saves)
  test.serial(`a save takes effect within ${limitMs} ms: ${how}`, async (t) => {
    const rounds = Array.from({ length: attempts }, (_, round) => round);
    const more = rounds.map((round) => [
      `more/${round}.json5`,
      { connections: { [`more-${round}`]: { type: 'dummy', parameters: 'a' } } },
    ]);
    const files = {
      'a.json5': dummy('a'),
      'b.json5': { connections: { onair: { type: 'xml-file-output', filename: 'out.xml', templateFile: 'in.xml' } } },
      'in.xml': '<a>$Lamp</a>',
      ...Object.fromEntries(more),
    };
    const reloading = await startReloading(t, files, { watch: true });
    const best = await bestOf(limitMs, (round) => measure(reloading, () => save(reloading, round)), attempts);
    t.log(`${Math.round(best)} ms`);
    t.true(best < limitMs * slowness(), `${best} ms`);
  });

test.serial('a single file is watched, its folder is not', async (t) => {
  const folder = await createFolder(t, { 'a.json5': dummy('a'), 'b.json5': dummy('b') });
  const log = createLogRecorder();
  const hub = await startHub({ paths: [join(folder, 'a.json5')], log, watch: true });
  t.teardown(() => hub.stop());
  for (let round = 0; round < 3; round++) {
    const change = firstValueFrom(hub.changes$.pipe(timeout(deadlineMs)));
    await writeFile(join(folder, 'b.json5'), '{');
    await writeFile(join(folder, 'c.json5'), '{');
    await rm(join(folder, 'a.json5'));
    await writeFile(join(folder, 'a.json5'), JSON.stringify(dummy(`a${round},I,1`)));
    t.is((await change).parameter.address, `desk/a${round}`);
  }
  t.false(log.lines.some(({ message }) => /[bc]\.json5/.test(message)));
});

test.serial('a save during the start of the hub, after its files were read, takes effect', async (t) => {
  const folder = await createFolder(t, { 'a.json5': dummy('a') });
  const { changes$, close } = await watchFlowFiles([folder], createLogRecorder());
  t.teardown(close);
  const prepare = async () => {
    const reported = first(changes$, 'what a watcher says of the save');
    await writeFile(join(folder, 'a.json5'), JSON.stringify(dummy('b')));
    await reported;
  };
  const hub = await startHub({ paths: [folder], log: createLogRecorder(), watch: true, prepare });
  t.teardown(() => hub.stop());
  await t.notThrowsAsync(eventually(() => hub.find('desk/b') !== undefined, 'what was saved meanwhile'));
});

test.serial('files that the hub writes itself, hidden ones and installed packages start no reload', async (t) => {
  const reloading = await startReloading(
    t,
    {
      'a.json5': dummy('a'),
      'node_modules/x/a.json5': '{}',
      'b.json5': { connections: { onair: { type: 'xml-file-output', filename: 'out.xml', template: '<a>$X</a>' } } },
    },
    { watch: true },
  );
  const { folder, write, save, lines, hub } = reloading;
  write('onair/X', 'x');
  await save('.a.json5.swp', '{');
  await save('.hidden.json5', '{');
  await writeFile(join(folder, 'node_modules/x/a.json5'), '{');
  await measure(reloading, () => save('a.json5', dummy('a,S,x')));
  await hub.stop();
  t.is(lines.filter(({ message }) => /reload/.test(message)).length, 1);
});
