import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'ava';
import {
  firstValueFrom,
  fromEvent,
  ReplaySubject,
  type SchedulerLike,
  VirtualAction,
  VirtualTimeScheduler,
} from 'rxjs';
import { skip, timeout } from 'rxjs/operators';
import type { ConnectionEvent } from '../../../lib/connections/connection.ts';
import { leftoverAgeMs } from '../../../lib/connections/xml-file-output/replace-file.ts';
import { xmlFileOutput } from '../../../lib/connections/xml-file-output/xml-file-output.ts';
import { loadFlows } from '../../../lib/hub/index.ts';
import { connect } from '../../support/connection.ts';
import { deadlineMs } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { isConnected, startHubFrom, startTestHub, statusOf, writer } from '../../support/hub.ts';

/** Runs one connection in a folder; `event(n)` is its n-th, awaited ten seconds at most. */
function run(folder: string, settings: object, scheduler?: SchedulerLike) {
  const connection = connect(xmlFileOutput, settings, { folder, ...(scheduler && { scheduler }) });
  const events$ = new ReplaySubject<ConnectionEvent>();
  const subscription = connection.events$.subscribe(events$);
  return {
    ...connection,
    event: (number: number) => firstValueFrom(events$.pipe(skip(number - 1), timeout(deadlineMs))),
    async stop() {
      subscription.unsubscribe();
      await Promise.all(connection.unfinished);
    },
  };
}

const running: ConnectionEvent = { state: 'running' };
const template = '<status lamp="$Lamp">$Title</status>';

test('S-14: one write-only text per placeholder; the file is written at each set, the first included (D-09)', async (t) => {
  const folder = await createFolder(t);
  const path = join(folder, 'out.xml');
  const connection = run(folder, { filename: 'out.xml', template });
  t.deepEqual(connection.parameters, [
    { id: 'Lamp', type: 'S', access: 'write-only' },
    { id: 'Title', type: 'S', access: 'write-only' },
  ]);
  t.deepEqual(await connection.event(1), running);
  t.false(existsSync(path));
  connection.write('Lamp', true);
  t.deepEqual(await connection.event(2), running);
  t.is(readFileSync(path, 'utf8'), '<status lamp="true"></status>');
  connection.write('Title', 'Morning <show>');
  await connection.event(3);
  t.is(readFileSync(path, 'utf8'), '<status lamp="true">Morning &lt;show&gt;</status>');
  const { ino } = statSync(path);
  connection.write('Lamp', 'true');
  await connection.event(4);
  t.not(statSync(path).ino, ino, 'an equal value is saved again');
  await connection.stop();
  t.deepEqual(readdirSync(folder), ['out.xml']);
});

test('a template file keeps its encoding', async (t) => {
  const folder = await createFolder(t);
  const text = '<?xml version="1.0" encoding="ISO-8859-1"?>\r\n<täter><!-- Für $No -->$X</täter>\r\n';
  writeFileSync(join(folder, 'in.xml'), text, 'latin1');
  const connection = run(folder, { filename: 'out.xml', templateFile: 'in.xml' });
  connection.write('X', 'ö €');
  await connection.event(2);
  t.is(readFileSync(join(folder, 'out.xml'), 'latin1'), text.replace('$X', 'ö &#8364;'));
  await connection.stop();
});

test('a missing folder is degraded at the start, and values set meanwhile are written when it exists', async (t) => {
  const folder = await createFolder(t);
  const path = join(folder, 'deep', 'out.xml');
  const scheduler = new VirtualTimeScheduler();
  const connection = run(folder, { filename: 'deep/out.xml', template }, scheduler);
  const degraded = { state: 'degraded', reason: `cannot write ${path}: no such file or directory (ENOENT)` } as const;
  t.deepEqual(await connection.event(1), degraded);
  connection.write('Lamp', 'old');
  scheduler.flush();
  t.deepEqual(await connection.event(2), degraded);
  connection.write('Lamp', 'new');
  mkdirSync(join(folder, 'deep'));
  scheduler.flush();
  t.deepEqual(await connection.event(3), running);
  t.is(readFileSync(path, 'utf8'), '<status lamp="new"></status>');
  await connection.stop();
});

test('files of a crash are removed when they are old, at the start and once more a minute later', async (t) => {
  const folder = await createFolder(t);
  const [old, young] = ['.out.xml.0123456789ab.part', '.out.xml.ba9876543210.part'].map((name) => join(folder, name));
  for (const path of [old!, young!]) writeFileSync(path, '<status la');
  const age = () => (Date.now() - leftoverAgeMs) / 1000;
  utimesSync(old!, age(), age());
  const scheduler = new VirtualTimeScheduler();
  const connection = run(folder, { filename: 'out.xml', template }, scheduler);
  t.deepEqual(await connection.event(1), running);
  t.deepEqual(readdirSync(folder), [basename(young!)]);

  utimesSync(young!, age(), age());
  const watcher = watch(folder);
  t.teardown(() => watcher.close());
  const swept = firstValueFrom(fromEvent(watcher, 'change').pipe(timeout(deadlineMs)));
  scheduler.flush();
  await swept;
  t.deepEqual(readdirSync(folder), []);
  await connection.stop();
});

test('the last values are on the disk when the hub has stopped', async (t) => {
  const hub = await startTestHub(t, {
    connections: { onair: { type: 'xml-file-output', filename: 'out.xml', template } },
  });
  for (let count = 0; count < 100; count++) hub.write('onair/Title', count, writer);
  await hub.stop();
  t.is(readFileSync(join(hub.folder, 'out.xml'), 'utf8'), '<status lamp="">99</status>');
  t.deepEqual(readdirSync(hub.folder).sort(), ['flow.json5', 'out.xml']);
});

const rules = [
  { from: 'desk/in', to: ['onair/Lamp', 'desk/out'] },
  { from: 'desk/out', to: 'onair/Title' },
];
const desk = { type: 'dummy', parameters: ['in', 'out'] };

test('a template that cannot be parsed fails its connection, with line and column, and no other', async (t) => {
  const onair = { type: 'xml-file-output', filename: 'out.xml', template: '<a>\n<b lamp="$Lamp">$Title</a>' };
  const hub = await startTestHub(t, { connections: { onair, desk }, rules });
  t.like(statusOf(hub, 'onair'), { state: 'failed', reason: 'template:2:26: unexpected close tag.' });
  t.is(statusOf(hub, 'desk').state, 'running');
  hub.write('desk/in', 'red', writer);
  t.is(hub.find('desk/out')?.value, 'red');
});

test('a missing template file fails its connection, which starts once the file exists', async (t) => {
  const scheduler = new VirtualTimeScheduler(VirtualAction, 2500);
  const onair = { type: 'xml-file-output', filename: 'out.xml', templateFile: 'in.xml', statusParameter: true };
  const hub = await startTestHub(t, { connections: { onair, desk }, rules }, { scheduler });
  const path = join(hub.folder, 'in.xml');
  t.like(statusOf(hub, 'onair'), {
    state: 'failed',
    reason: `templateFile: cannot read ${path}: no such file or directory (ENOENT)`,
  });
  t.is(statusOf(hub, 'desk').state, 'running');
  writeFileSync(path, template);
  scheduler.flush();
  await isConnected(hub, 'onair', true);
  hub.write('desk/in', 'red', writer);
  await hub.stop();
  t.is(readFileSync(join(hub.folder, 'out.xml'), 'utf8'), '<status lamp="red">red</status>');
});

test('a template file with placeholders that the load has not read fails its connection', async (t) => {
  const scheduler = new VirtualTimeScheduler(VirtualAction, 2500);
  const onair = { type: 'xml-file-output', filename: 'out.xml', templateFile: 'in.xml' };
  const hub = await startTestHub(t, { connections: { onair } }, { scheduler });
  writeFileSync(join(hub.folder, 'in.xml'), template);
  scheduler.flush();
  t.like(statusOf(hub, 'onair'), {
    state: 'failed',
    reason: 'the template contains $Lamp, which was added after the flow file was loaded: reload the flow file',
  });
});

test('a template file that is not a file, or too long, is refused', async (t) => {
  const connections = Object.fromEntries(
    ['.', '/dev/zero', 'long.xml'].map((templateFile, index) => [
      `onair-${index}`,
      { type: 'xml-file-output', filename: `${index}.xml`, templateFile },
    ]),
  );
  const long = `<a>${' '.repeat(2 ** 20)}</a>`;
  const hub = await startHubFrom(t, { 'flow.json5': { connections }, 'long.xml': long });
  for (const id of Object.keys(connections))
    t.regex(
      statusOf(hub, id).reason,
      /^templateFile: expected \/.* to be a file of at most 1048576 bytes, got (a folder|a device|one of [\d,]+ bytes or more; .*)$/,
    );
});

test('mistakes at load', async (t) => {
  const type = 'xml-file-output';
  const flow = {
    connections: {
      both: { type, filename: 'a.xml', template, templateFile: 'in.xml' },
      none: { type, filename: 'b.xml' },
      empty: { type, filename: '', template: 3 },
      first: { type, filename: 'out.xml', template },
      second: { type, filename: './x/../out.xml', template },
      away: { type, filename: 'out.xml', template, enabled: false },
    },
    rules: [{ from: 'first/Lamp', to: 'second/Tilte' }],
  };
  const folder = await createFolder(t, { 'flow.json5': flow });
  const error = await t.throwsAsync(loadFlows([folder]), { code: 'bad-flow' });
  const text = error?.message ?? '';
  for (const mistake of [
    'connections.both: expected exactly one of `template` and `templateFile`',
    'connections.none: expected exactly one of `template` and `templateFile`',
    'connections.empty.filename: expected the path of a file, got "" (string)',
    'connections.empty.template: expected an XML document with placeholders $Name, got 3 (number)',
    `connections.second: expected exclusive use of file ${join(folder, 'out.xml')}, but "first" also uses it`,
    'rules[0].to: unknown parameter "second/Tilte", did you mean "second/Title"?',
  ])
    t.true(text.includes(mistake), `${mistake}\n\nin\n${text}`);
  t.is(text.split('\n').length, 6);
});

test('the example flow file runs', async (t) => {
  const hub = await startTestHub(
    t,
    readFileSync(new URL('../../../flows/xml-file-output.json5', import.meta.url), 'utf8'),
  );
  hub.write('playout/artist', 'Simon & Garfunkel', writer);
  hub.write('playout/title', 'America', writer);
  hub.write('playout/on-air', true, writer);
  await hub.stop();
  t.is(
    readFileSync(join(hub.folder, 'now-playing.xml'), 'utf8'),
    `<?xml version="1.0" encoding="UTF-8"?>
<now-playing on-air="yes">
  <artist>Simon &amp; Garfunkel</artist>
  <title>America</title>
  <price>&#36;Free</price><!-- &#36; is a dollar sign without a placeholder -->
</now-playing>
`,
  );
});
