// What clients see of other hubs, with a real NATS server: what is stale and for how long, over a break and a resume, in the client
// library and within rights; fires that were lost; and which hub has a connection that two want.

import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test, { type ExecutionContext } from 'ava';
import { connect } from '../../../lib/client/index.ts';
import type { Domain } from '../../../lib/wire/http/operation.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { ask } from '../../support/http.ts';
import { api, portsOf, startTestHub, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';
import { blocksOf, readReadme } from '../../support/repository/readme.ts';
import { kindOf } from '../../support/sockets/asyncapi.ts';
import { openV1 } from '../../support/sockets/v1.ts';
import { start } from '../../support/system/process.ts';

needs('nats');

const desk = { type: 'dummy', parameters: ['lamp,B,true', 'secret,B,true', 'go,T'] };
const users = {
  all: { password: 'all', read: ['**'], write: ['**'] },
  some: { password: 'some', read: ['desk/lamp'] },
};
const signIn = (name: string) => ({ authorization: `Basic ${Buffer.from(`${name}:${name}`).toString('base64')}` });
const desks = { sub: 1, include: ['desk/**'] };

/** The domain as a hub tells it, which is as its document says. */
async function expectDescribed(t: ExecutionContext, port: number): Promise<Domain> {
  const [document, domain] = await Promise.all(
    ['openapi.json', 'hubs'].map(async (path) => JSON.parse((await ask(t, port, `GET /hub/${path}`)).text)),
  );
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'hub');
  t.true(ajv.validate({ $ref: 'hub#/components/schemas/Domain' }, domain), ajv.errorsText());
  return domain;
}

test('D-34: parameters of a silent hub are stale: reported immediately, to later clients, over a break, and until they are fresh', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const house = (hub: string) => ({ type: 'nats', servers: nats.urls, domain: 'house', hub });
  const east = await startTestHub(t, {
    connections: {
      house: house('east'),
      api,
      guarded: { ...api, users },
      tally: { type: 'dummy', parameters: ['b,I,0'] },
    },
    rules: [{ name: 'east counts', from: 'count/a', map: 'value + 1', to: 'tally/b' }],
  });
  const west = await startTestHub(t, {
    connections: { house: house('west'), desk, count: { type: 'dummy', parameters: ['a,I,0'] } },
    rules: [{ name: 'west counts', from: 'tally/b', map: 'value + 1', to: 'count/a' }],
  });
  const [port, guarded] = portsOf(east) as [number, number];
  await eventually(() => east.find('desk/lamp')?.value === true);

  const waits = () => [...east.rules(), ...west.rules()].some(({ state }) => state === 'waiting');
  await eventually(() => !waits(), 'both rules run');
  east.write('tally/b', 1, writer);
  const loop =
    /^rule loop: "(west|east) counts", "(west|east) counts" made more than 64 hops in one turn; the write to /;
  await eventually(() => [...east.lines, ...west.lines].some(({ message }) => loop.test(message)), 'a loop that ends');

  const early = await openV1(t, port);
  await early.subscribe(desks);
  const library = connect(`http://127.0.0.1:${port}`);
  t.teardown(() => library.close());
  const lamp = library.param('desk/lamp');
  const isStale: boolean[] = [];
  lamp.stale$.subscribe((stale) => isStale.push(stale));
  await library.whenLive();
  const { text } = blocksOf(readReadme('docs/client.md')).find((block) => block.text.startsWith('// stale.ts'))!;
  const program = text.replace('./lib/', `${resolve(import.meta.dirname, '../../../lib')}/`);
  const folder = await createFolder(t, { 'stale.ts': program });
  const example = start(t, [`http://127.0.0.1:${port}`], { program: join(folder, 'stale.ts') });
  await example.shows(/^desk\/lamp is true$/m);

  await nats.servers[0]!.kill('SIGKILL');
  await eventually(() => early.picture.stale.size === 3, 'what is stale');
  t.true(early.picture.stale.get('desk/lamp')! >= 3000);
  await eventually(() => lamp.isStale);
  t.false(library.stale);
  t.true(Date.now() - lamp.staleSince! >= 3000);
  await t.throwsAsync(library.set('desk/lamp', false), {
    message: /hub "west" is not reachable/,
  });

  const domain = await expectDescribed(t, port);
  t.like(domain, { connection: 'house', domain: 'house', hub: 'east', role: 'alone' });
  t.like(domain.link, { isUp: false, servers: nats.urls });
  t.deepEqual(
    domain.hubs.map(({ hub, state, connections, parameters }) => [hub, state, connections, parameters]),
    [
      ['east', 'this', ['tally'], 1],
      ['west', 'stale', ['count', 'desk'], 4],
    ],
  );
  t.true(domain.hubs[1]!.mirror!.lagMs >= 3000);

  const late = await openV1(t, port);
  const reported = await late.subscribe(desks);
  t.true(reported.findIndex(({ stale }) => stale !== undefined) < reported.length - 1, 'before the end');
  t.is(late.picture.stale.size, 3);
  for (const message of reported.filter((one) => one.stale)) t.is(kindOf('send', message), 'stale');
  const some = await openV1(t, guarded, undefined, signIn('some'));
  await some.subscribe({ sub: 1 });
  t.deepEqual([...some.picture.stale.keys()], ['desk/lamp']);

  const { rev } = late.picture;
  const { epoch } = late;
  late.cut();
  const again = await openV1(t, port, late.picture);
  const resumed = await again.subscribe({ ...desks, since: { epoch, rev } });
  t.is(resumed[0]!.mode, 'resume');
  t.true(
    resumed.some(({ stale }) => stale?.length === 3),
    'also to who resumes',
  );
  again.cut();

  west.write('desk/lamp', false, writer);
  for (const fire of [1, 2, 3]) west.write('desk/go', fire, writer);
  await nats.servers[0]!.start();
  await early.until(({ set }) => set?.some(([, value]) => value === false) === true, 'the newest value');
  await early.until(({ fresh }) => fresh !== undefined, 'and after it, that it is fresh');
  await eventually(() => early.picture.stale.size === 0);
  t.is(early.picture.lost.get('desk/go'), 3);
  await eventually(() => !lamp.isStale && lamp.staleSince === undefined);
  t.deepEqual(isStale.slice(-2), [true, false]);
  await eventually(() => some.picture.stale.size === 0);
  await eventually(async () => {
    const { lease, hubs } = await expectDescribed(t, port);
    return lease.state === 'held' && hubs[1]?.mirror?.machine !== undefined;
  }, 'the lease, and a heartbeat');
  const { lease, link, hubs } = await expectDescribed(t, port);
  t.like(lease, { state: 'held', term: 1, holder: hostname() });
  t.like(link, { isUp: true, text: nats.urls[0]!.slice('nats://'.length), reconnects: 1 });
  t.like(hubs[1], { state: 'fresh', mirror: { machine: hostname(), lostFires: 3, staleSince: undefined } });
  const { text: metrics } = await ask(t, port, 'GET /hub/metrics');
  for (const line of [
    'link_reconnects_total{connection="house"} 1',
    'mirror_stale{hub="west"} 0',
    'mirror_fires_lost_total{hub="west"} 3',
  ])
    t.true(metrics.includes(`\npatchbay_${line}\n`), line);
  await example.shows(/^desk\/lamp was true \d+ s ago\ndesk\/lamp is false$/m);
  for (const { picture } of [early, late, some, again]) t.deepEqual(picture.faults, []);
});

test("hear: 'writes' is refused for a parameter of another hub", async (t) => {
  const heard = { name: 'x', from: 'desk/lamp', to: 'rack/light', hear: 'writes' };
  const rack = { type: 'dummy', parameters: ['light,B'] };
  const flow = { connections: { house: { type: 'nats', domain: 'house', hub: 'east' }, rack }, rules: [heard] };
  await t.throwsAsync(startTestHub(t, flow), {
    message:
      /rules\[0\]\.from: hear: expected "changes" for "desk\/lamp": its hub does not send writes that change nothing/,
  });
});
