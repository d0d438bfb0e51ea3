// The READMEs are true, to the letter: in a clone their commands print what they say, whole, and their files are right.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { env } from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { parseDashboard } from '../lib/dashboard/parse-dashboard.ts';
import { loadFlows } from '../lib/hub/index.ts';
import { createFolder } from './support/folder.ts';
import { needs } from './support/programs.ts';
import {
  type Block,
  blocksOf,
  type Clone,
  change,
  createClone,
  readmes,
  readReadme,
  save,
  shellEnvironment,
} from './support/repository/readme.ts';
import { openClient } from './support/sockets/socket.ts';
import { freePort } from './support/system/port.ts';
import { start } from './support/system/process.ts';

needs('curl');

const { scripts } = JSON.parse(readReadme('package.json'));

/** Times differ each time; everything else is compared as it is. */
const withoutTimes = (text: string) =>
  text.replace(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, '00:00:00.000').replace(/\b\d+ ms later/g, '0 ms later');

/** What a log of `--log-format pretty` says, without its colours. */
const plain = (output: string) => withoutTimes(stripVTControlCharacters(output));

const isFollowed = (readme: string) => blocksOf(readReadme(readme)).some(({ language }) => language === 'console');
/** `docs/guide.md` has a folder and a spec of its own. */
const rooms = readmes.filter((readme) => !/^(docs\/)?(guide|README)\.md$/.test(readme) && isFollowed(readme));

for (const [title, followed] of [
  ['README.md', ['README.md']],
  [rooms.join(', '), rooms],
] as const)
  test(`${title}: its instructions have the described results in a clone`, async (t) => {
    t.timeout(240_000);
    const clone = await createClone(t, await freePort());
    const [, program, ...args] = scripts.start.split(' ');
    const hub = start(t, [...args, '--log-format', 'pretty'], {
      program: join(clone.folder, program),
      folder: clone.folder,
    });
    let heard = 0;
    const logged = async (line: string) => {
      const indexOf = (output: string) => plain(output).indexOf(`${withoutTimes(line)}\n`, heard) + 1 || undefined;
      heard = await hub.finds(indexOf, `the line ${line} of the log`);
    };
    await hub.shows(/patchbay \S+ started with/);
    for (const readme of followed) {
      const undo: (() => Promise<void>)[] = [];
      for (const block of blocksOf(clone.text(readme))) {
        if (block.language === 'diff') undo.unshift(await change(t, clone, block));
        else if (isDialogue(block)) await hold(t, clone, block);
        else if (block.language === 'log') for (const line of block.text.trimEnd().split('\n')) await logged(line);
        else if (block.language === 'console')
          for (const [, command, expected] of block.text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm))
            t.is(withoutTimes(await runIn(clone, command!)), withoutTimes(expected!), command);
        else await save(t, clone, block);
      }
      for (const step of undo) await step(); // the next page begins with a clone that is as it was
    }
  });

/** What flow files of READMEs name beside themselves. */
for (const name of [
  'API_TOKEN',
  'DOORBELL_SECRET',
  'DOORBELL_TOKEN',
  'HOME_TOKEN',
  'LAMP',
  'MAIL_PASSWORD',
  'MQTT_PASSWORD',
  'PB_ENGINEER',
  'PB_PROMETHEUS',
  'SNMP_COMMUNITY',
  'SNMP_PASSWORD',
  'SNMP_PRIV',
])
  env[name] = `${name}_of_spec`;
env.CHAT_URL = 'http://127.0.0.1:8080/chat';
const named = { 'password.txt': 'secret', 'door-2.txt': 'secret-of-a-door' };
/** The name of a template, or of a description of a device, in its first line. */
const templateName = (text: string) => /^\/\/ (_\S+|\S+\.device\.json5)/.exec(text)?.[1];

for (const readme of readmes) {
  const texts = blocksOf(readReadme(readme)).flatMap(({ language, text }) => (language === 'json5' ? [text] : []));
  const templates = texts.flatMap((text) => (templateName(text) === undefined ? [] : [[templateName(text)!, text]]));
  const beside = { ...named, ...Object.fromEntries(templates) };
  for (const [index, text] of texts.filter((text) => templateName(text) === undefined).entries())
    test(`${readme}: file ${index + 1}, a flow file or a dashboard, has no mistake`, async (t) => {
      if (/^ {2}widgets:/m.test(text)) t.notThrows(() => parseDashboard('dashboard.json5', text));
      else await t.notThrowsAsync(loadFlows([await createFolder(t, { ...beside, 'flow.json5': text })]));
    });
}

/** What a command prints on a terminal of the clone. */
function runIn({ folder, url }: Clone, command: string): Promise<string> {
  const env = { ...shellEnvironment, PATCHBAY_URL: url };
  return new Promise((resolve) => {
    execFile('sh', ['-c', `${command} 2>&1`], { cwd: folder, env }, (_, output) => resolve(output));
  });
}

/** Whether a block is `hub {…}` and `client {…}` by lines. */
const isDialogue = ({ text }: Block) => /^(hub|client) +\{/.test(text);

/** Says to a plain WebSocket what a client says, and waits for what the hub says. */
async function hold(t: ExecutionContext, { url }: Clone, { text }: Block): Promise<void> {
  const client = await openClient(t, Number(new URL(url).port));
  for (const [, who, message] of text.matchAll(/^(\w+) +(.*)$/gm))
    if (who === 'client') client.send(message);
    else await client.frames.until((frame) => JSON.stringify(frame) === message, message!);
  client.close();
}

test('README.md: it installs and starts as its commands say', (t) => {
  const readme = readReadme('README.md');
  t.is(scripts.start, 'node lib/main.ts run flows/demo.json5');
  const [older, install] = blocksOf(readme).filter(({ language }) => language === 'sh');
  t.is(install!.text, 'git clone <URL of this repository> patchbay\ncd patchbay\nnpm install\nnpm start\n');
  t.regex(older!.text, /^npx -y -p node@22 -c bash /);
});
