// The README's example of two machines, as it stands there: its server enforces the permissions that are printed for the two hubs, they work
// with these, and nobody else can send in their names.

import { join } from 'node:path';
import { env } from 'node:process';
import { connect } from '@nats-io/transport-node';
import test, { type ExecutionContext } from 'ava';
import { loadFlows } from '../../../lib/hub/index.ts';
import type { Domain } from '../../../lib/wire/http/operation.ts';
import type { Explanation } from '../../../lib/wire/http/parameter-shapes.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { type HubUnderTest, startHubFrom, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';
import { blocksOf, readReadme } from '../../support/repository/readme.ts';

needs('nats');

const passwords = { west: 'SecretOfWest', east: 'SecretOfEast' };
for (const [hub, password] of Object.entries(passwords)) env[`${hub.toUpperCase()}_PASSWORD`] = password;

const blocks = blocksOf(readReadme('lib/connections/nats/README.md'));
const blockWith = (beginning: string) => blocks.find(({ text }) => text.startsWith(beginning))!.text;
const configuration = blockWith('# house.conf');

/** Runs a hub of the README, which finds the server on another port. */
async function startHub(t: ExecutionContext, hub: 'west' | 'east', url: string): Promise<HubUnderTest> {
  const text = blockWith(`// ${hub}.json5`)
    .replace('nats://10.0.0.5:4222', url)
    .replace('port: 17011', "port: 0, bindIp: '127.0.0.1'");
  return startHubFrom(t, { [`${hub}.json5`]: text, 'password.txt': passwords[hub] });
}

const printedFor = async (t: ExecutionContext, hub: string): Promise<string> => {
  const folder = await createFolder(t, { [`${hub}.json5`]: blockWith(`// ${hub}.json5`), 'password.txt': 'x' });
  const { connections } = await loadFlows([join(folder, `${hub}.json5`)]);
  const { type, settings } = connections.find(({ id }) => id === 'house')!;
  return type.permissions!(settings).split('\n').slice(1).join('\n');
};

test('two hubs work with the documented permissions, which match the printed ones', async (t) => {
  for (const hub of ['west', 'east']) t.true(configuration.includes(await printedFor(t, hub)), hub);
  // the command line says where the streams are, which may be said once
  const nats = await startNats(1, { configuration: configuration.replace(/^jetstream .*$/m, '') });
  t.teardown(() => nats.end());
  const url = nats.urls[0]!;
  const [west, east] = await Promise.all([startHub(t, 'west', url), startHub(t, 'east', url)]);
  const isSeen = (address: string) =>
    west.find(address)?.value !== undefined && east.find(address)?.value !== undefined;
  await eventually(() => isSeen('desk/mic') && isSeen('rack/red-light'));
  for (const [from, value] of [
    [east, true],
    [west, false],
  ] as const) {
    from.write('desk/mic', value, writer);
    await eventually(
      () => west.find('rack/red-light')!.value === value && east.find('rack/red-light')!.value === value,
    );
  }
  for (const hub of [west, east]) {
    const base = `http://127.0.0.1:${hub.port}/hub`;
    const { chain } = (await (await fetch(`${base}/explain/rack/red-light`)).json()) as Explanation;
    t.is(chain.at(-1)!.parameter, 'desk/mic');
    const { link } = (await (await fetch(`${base}/hubs`)).json()) as Domain;
    t.is(link.isOpen, false);
    t.deepEqual(
      hub.lines.filter(({ message }) => /refuses something|is open/.test(message)),
      [],
    );
  }
  await t.throwsAsync(connect({ servers: url.replace('nats://', '') }), { message: /Authorization Violation/i });
  const evil = await connect({
    servers: url.replace('nats://', ''),
    user: 'east',
    pass: passwords.east,
    inboxPrefix: 'patchbay.house.east.inbox',
  });
  t.teardown(() => evil.close());
  const refused: string[] = [];
  void (async () => {
    for await (const status of evil.status()) if (status.type === 'error') refused.push(String(status.error.message));
  })();
  const forbidden = [
    'patchbay.house.west.turns',
    'patchbay.house.west.lease',
    'patchbay.house.west.write',
    'patchbay.house.west.write.west',
    '$JS.API.STREAM.CREATE.patchbay+house+west',
    '$JS.API.STREAM.DELETE.patchbay+house+west',
    '$JS.API.STREAM.PURGE.patchbay+house',
  ];
  for (const subject of forbidden) evil.publish(subject, '{}');
  await evil.flush();
  const isRefused = (subject: string) => refused.some((text) => text.includes(`"${subject}"`));
  await eventually(() => forbidden.every(isRefused));
  t.is(east.find('desk/mic')!.remote!.staleSince, undefined);
});
