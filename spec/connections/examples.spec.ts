// The examples in the READMEs of connection types do what is said of them.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import JSON5 from 'json5';
import { testFlow } from '../../lib/testing/test-flow.ts';
import { startTestHub, writer } from '../support/hub.ts';
import { blocksOf, readReadme } from '../support/repository/readme.ts';

/** The flow file that the README of a type shows. */
const exampleOf = (type: string) =>
  JSON5.parse<object>(
    blocksOf(readReadme(`lib/connections/${type}/README.md`)).find(({ language }) => language === 'json5')!.text,
  );

test('dummy: values that have a default are there, the others are unknown', async (t) => {
  const flow = await testFlow(exampleOf('dummy'));
  t.notThrows(() => flow.expect({ 'desk/message': 'nobody is on air', 'desk/level': 0.5, 'desk/mic-open': false }));
  await flow.stop();
});

test('timer: the lamp is on for three seconds', async (t) => {
  const flow = await testFlow(exampleOf('timer'));
  flow.set({ 'desk/doorbell': true });
  flow.never(2999, { 'desk/door-lamp': false });
  flow.advance(1);
  t.notThrows(() => flow.expect({ 'desk/door-lamp': false }));
  await flow.stop();
});

test('schedule: the door opens on Monday at six in Berlin, and the news have a jingle from then on', async (t) => {
  const flow = await testFlow(exampleOf('schedule'));
  flow.expect({ 'times/open': false, 'times/night': true, 'times/off': false });
  flow.never('5h', { 'desk/door-open': true, 'desk/jingle': true });
  flow.expect({ 'desk/door-open': true, 'desk/jingle': true });
  flow.advance('16h');
  t.notThrows(() => flow.expect({ 'desk/door-open': false, 'times/night': true }));
  await flow.stop();
});

test('keyboard: hotkeys open and close the microphone, keys are pressed', async (t) => {
  const flow = await testFlow(exampleOf('keyboard'));
  flow.set({ 'keys/input/ctrl-f1': true });
  flow.expect({ 'desk/mic-open': true, 'keys/output/ctrl-shift-s': false });
  flow.set({ 'keys/input/rctrl': true, 'desk/jingle': true });
  t.notThrows(() =>
    flow.expect({ 'desk/mic-open': false, 'keys/output/ctrl-shift-s': true, 'keys/output/media-play': true }),
  );
  await flow.stop();
});

test('virtual-core: the red light stays on for two seconds', async (t) => {
  const flow = await testFlow(exampleOf('virtual-core'));
  flow.set({ 'desk/mic1': true });
  flow.expect({ 'core/red-light': true });
  flow.set({ 'desk/mic1': false });
  flow.never(2000, { 'core/red-light': false });
  t.notThrows(() => flow.expect({ 'core/red-light': false }));
  await flow.stop();
});

test('alarms: silence of ten seconds lights the lamp until it is over and acknowledged', async (t) => {
  const flow = await testFlow(exampleOf('alarms'));
  flow.set({ 'desk/silent': true });
  flow.never('10s', { 'desk/lamp': true });
  flow.expect({ 'desk/lamp': true, 'desk/display': 'Silence on air' });
  flow.set({ 'desk/server-answers': false, 'desk/silent': false });
  flow.expect({ 'desk/lamp': true, 'alarm/all/active': 1, 'alarm/all/unacknowledged': 2 });
  flow.set({ 'desk/button': true });
  t.notThrows(() => flow.expect({ 'desk/lamp': false, 'desk/display': 'The server does not answer' }));
  await flow.stop();
});

test('xml-file-output: the file is as the README shows it', async (t) => {
  const hub = await startTestHub(t, exampleOf('xml-file-output'));
  hub.write('playout/title', 'Simon & Garfunkel', writer);
  hub.write('playout/on-air', true, writer);
  const file = '<now on-air="yes"><title>Simon &amp; Garfunkel</title></now>';
  t.true(readReadme('lib/connections/xml-file-output/README.md').includes(`\`${file}\``));
  await hub.stop();
  t.is(await readFile(join(hub.folder, 'now-playing.xml'), 'utf8'), file);
});
