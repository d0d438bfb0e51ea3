// The first hour of docs/guide.md, done line by line: its folder, rules, test, panel, users and backup.

import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import test from 'ava';
import { createFolder } from './support/folder.ts';
import { needs } from './support/programs.ts';
import { blocksOf, change, readReadme, root, shellEnvironment } from './support/repository/readme.ts';
import { freePort } from './support/system/port.ts';
import { start } from './support/system/process.ts';

needs('curl');

const program = join(root, 'lib/main.ts');

/** Times differ each time, and so does what the hub says about durations. */
const withoutTimes = (text: string) => text.replace(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, '00:00:00.000');

test('docs/guide.md: its instructions have the described results for a newcomer', async (t) => {
  t.timeout(120_000);
  const top = await createFolder(t);
  const folder = join(top, 'studio');
  const bin = join(top, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'patchbay'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  await chmod(join(bin, 'patchbay'), 0o755);
  const port = String(await freePort());
  const text = readReadme('docs/guide.md').replaceAll('17011', port);
  const guide = { folder, url: `http://localhost:${port}`, text: () => text };
  const env: Record<string, string | undefined> = {
    ...shellEnvironment,
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
    PATCHBAY_URL: guide.url,
  };
  const run = (command: string, cwd = folder) =>
    new Promise<string>((resolve) => {
      execFile('sh', ['-c', `${command} 2>&1`], { cwd, env }, (_, output) => resolve(output));
    });

  await run('patchbay init studio', top);
  const flows = join(folder, 'flows/studio.json5');
  await writeFile(flows, (await readFile(flows, 'utf8')).replaceAll('17011', port));
  const hub = start(t, ['run', 'flows'], { program, folder });
  const said = (/The hub is ready when the last line says `(.*?)`/.exec(text) ?? [])[1]!;
  await hub.shows(new RegExp(said));

  let commands = 0;
  let reloads = 0;
  const reloaded = () => {
    reloads++;
    return hub.finds((output) => output.split('"reloaded: ').length > reloads || undefined, `reload ${reloads}`);
  };
  for (const block of blocksOf(text)) {
    if (block.language === 'diff') {
      await change(t, guide, block);
      if (!/dashboards\/|tests: \[/.test(`${block.above.slice(-200)}${block.text}`)) await reloaded();
    } else if (block.language === 'sh') {
      for (const [, name, value] of block.text.matchAll(/(PATCHBAY_\w+)=('[^']*'|\S+)/g))
        env[name!] = value!.replaceAll("'", '');
      for (const line of block.text.trimEnd().split('\n'))
        if (!/^(alias|cd|export) |^patchbay (init|run)/.test(line))
          t.notRegex(await run(line), /expected|denied/, line);
    } else
      for (const [, command, expected] of block.text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
        commands++;
        t.is(withoutTimes(await run(command!)), withoutTimes(expected!), command);
      }
  }
  t.true(commands > 10);
  t.is(await readFile(join(top, 'restored/flows/studio.json5'), 'utf8'), await readFile(flows, 'utf8'));
});
