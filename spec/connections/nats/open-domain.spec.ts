// A domain whose servers let anybody in. The hub says so; what somebody forges is in the audit as what it is, marked as reported; and what
// is written into the streams of leases and claims keeps no hub from what it has.

import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import test, { type ExecutionContext } from 'ava';
import type { Domain } from '../../../lib/wire/http/operation.ts';
import type { Explanation, ParameterInfo } from '../../../lib/wire/http/parameter-shapes.ts';
import type { AuditPage } from '../../../lib/wire/http/past-shapes.ts';
import { deadlineMs, eventually } from '../../support/deadline.ts';
import { ask } from '../../support/http.ts';
import { api, type HubUnderTest, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { AnswerCheck, type Document } from '../../support/openapi.ts';
import { needs } from '../../support/programs.ts';
import { start as startProgram } from '../../support/system/process.ts';

needs('nats');

async function get<Answer>({ port }: HubUnderTest, path: string): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept: 'application/json' } });
  return (await answer.json()) as Answer;
}

/** What is not known yet is no more fresh than what is stale. */
function isFresh(hub: HubUnderTest, addresses: readonly string[]): boolean {
  return addresses.every((address) => {
    const { value, remote } = hub.find(address) ?? {};
    return value !== undefined && remote !== undefined && remote.staleSince === undefined;
  });
}

async function startDomain(t: ExecutionContext) {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const start = (hub: string, connections: object) => {
    const house = { type: 'nats', servers: nats.urls, domain: 'house', hub };
    return startTestHub(t, { connections: { house, api, ...connections } });
  };
  const west = await start('west', {
    store: { type: 'store', folder: './data' },
    desk: { type: 'dummy', parameters: ['lamp,B,false', 'level,F,0', 'n,I,0'] },
  });
  const east = await start('east', { rack: { type: 'dummy', parameters: ['light,B,false'] } });
  await eventually(
    () => isFresh(east, ['desk/lamp', 'desk/level', 'desk/n']) && isFresh(west, ['rack/light']),
    'the hubs know each other',
  );
  const rogue = await connect({ servers: nats.urls.map((url) => url.replace('nats://', '')) });
  t.teardown(() => rogue.close());
  return { nats, west, east, rogue };
}

/** What west has told last, from which a forger learns whatever it has to say. */
async function lastOf(rogue: NatsConnection, hub: string) {
  for await (const message of rogue.subscribe(`patchbay.house.${hub}.turns`, { max: 1 }))
    return message.json<{ epoch: string; term: number; clock: number; rev: number; structure: number }>();
  throw new Error('nothing was told');
}

let number = 0;

/** Asks west to write, as whoever is named; errors: it does not answer in time. */
async function forge(
  rogue: NatsConnection,
  parts: object,
  subject = 'patchbay.house.west.write.evil',
  timeout = deadlineMs,
) {
  const { epoch, clock } = await lastOf(rogue, 'west');
  const request = { run: 'evil', number: number++, epoch, asked: clock, hop: 0, why: [], ...parts };
  const answer = await rogue.request(subject, JSON.stringify(request), { timeout });
  return answer.json<{ results: unknown[] }>().results;
}

test('each write of another hub is in the audit as reported by that hub, for any author, and also in explain, lists and history', async (t) => {
  const { west, rogue } = await startDomain(t);
  const cause = ['desk/n', 'I', 1, ['client', 'api admin'], 1000, 0];
  const forged: [object, string, string?][] = [
    [{ by: ['client', 'api admin'], items: [['desk/n', 1]] }, 'hub evil: api admin'],
    [{ by: ['client', 'api admin', '', 'west'], items: [['desk/n', 2]] }, 'hub evil: api admin of hub west'],
    [
      { by: ['rule', 'lamp follows', 'flow.json5', 'west'], items: [['desk/n', 3]] },
      'hub evil: rule lamp follows of hub west',
    ],
    [{ by: ['connection', 'desk'], items: [['desk/n', 4]] }, 'hub evil: desk'],
    [{ by: ['client', 'api admin'], why: [cause], items: [['desk/n', 5]] }, 'hub evil: api admin'],
    [{ by: ['client', 'spec\u001b[2J\nroot'], items: [['desk/n', 6]] }, 'hub evil: spec\ufffd[2J\ufffdroot'],
    [
      { by: ['client', 'x'.repeat(999)], items: [['desk/n', 7]] },
      `hub evil: ${'x'.repeat(500 - 'hub evil: '.length)}…`,
    ],
    [
      { hub: 'east', by: ['client', 'api eve'], items: [['desk/n', 8]] },
      'hub east: api eve',
      'patchbay.house.west.write',
    ],
  ];
  for (const [request, , subject] of forged)
    t.deepEqual(Object.keys((await forge(rogue, request, subject))[0]!), ['v']);
  for (const by of [['restored', 'store'], ['client', 5], ['client'], ['root', 'x']])
    await t.throwsAsync(forge(rogue, { by, items: [['desk/n', 9]] }, undefined, 2000), undefined, JSON.stringify(by));
  let users: string[] = [];
  await eventually(async () => {
    const { entries } = await get<AuditPage>(west, '/hub/audit?address=desk/n&limit=1000');
    users = entries.map(({ user }) => user).reverse();
    return users.length >= forged.length;
  });
  t.deepEqual(
    users,
    forged.map(([, user]) => user),
  );
  await forge(rogue, { by: ['client', 'api admin', '', 'west'], why: [cause], items: [['desk/n', 10]] });
  const { chain } = await get<Explanation>(west, '/hub/explain/desk/n');
  t.deepEqual(
    chain.map(({ origin }) => [origin.name, origin.hub, origin.reportedBy]),
    [
      ['api admin', 'west', 'evil'],
      ['api admin', 'evil', 'evil'],
    ],
  );
  const [{ origin }] = (await get<ParameterInfo[]>(west, '/hub/parameters?address=desk/n')) as [ParameterInfo];
  t.like(origin, { name: 'api admin', hub: 'west', reportedBy: 'evil' });
  const explained = await startProgram(t, ['explain', 'desk/n', '--url', `http://127.0.0.1:${west.port}`]).ended();
  t.regex(explained.output, /set by client "api admin" on hub "west", according to hub "evil"/);
  await eventually(async () => {
    const { events } = await get<{ events: { writer: { name: string } }[] }>(west, '/hub/events/desk/n');
    return events[0]?.writer.name === 'hub evil: api admin of hub west';
  });
  t.is(west.find('desk/n')!.value, 10);
});

test('a hub reports that its domain is open: in the log, in its health, and in the metrics', async (t) => {
  const { west } = await startDomain(t);
  const reported = west.lines.filter(({ message }) => message.startsWith('domain "house" is open: 127.0.0.1:'));
  t.deepEqual(
    reported.map(({ level }) => level),
    ['warn'],
  );
  t.is((await get<Domain>(west, '/hub/hubs')).link.isOpen, true);
  const check = new AnswerCheck(await get<Document>(west, '/hub/openapi.json'));
  for (const path of ['/hub/hubs', '/hub/parameters'])
    t.is(check.mistakeOf(path, 'get', await ask(t, west.port, `GET ${path}`)), undefined, path);
  const metrics = await (await fetch(`http://127.0.0.1:${west.port}/hub/metrics`)).text();
  t.regex(metrics, /^patchbay_domain_open\{connection="house"\} 1$/m);
});

test('a single heartbeat with the greatest term makes no hub stale', async (t) => {
  const { east, west, rogue } = await startDomain(t);
  const reported = await lastOf(rogue, 'west');
  for (const term of [2 ** 48, Number.MAX_SAFE_INTEGER, reported.term + 1])
    rogue.publish('patchbay.house.west.turns', JSON.stringify({ ...reported, term }));
  const endMs = performance.now() + 4000;
  while (performance.now() < endMs) {
    await lastOf(rogue, 'west');
    t.is(east.find('desk/lamp')!.remote!.staleSince, undefined);
  }
  west.write('desk/level', 0.5, writer);
  await eventually(() => east.find('desk/level')!.value === 0.5);
});

test('an answer arrives in the inbox of its request only, never on subjects of a hub', async (t) => {
  const { rogue, east } = await startDomain(t);
  const heard: string[] = [];
  for (const subject of ['patchbay.house.west.turns', 'patchbay.house.west.lease', 'patchbay.house.claims'])
    rogue.subscribe(subject, { callback: (_, { data }) => void heard.push(new TextDecoder().decode(data)) });
  for (const reply of ['patchbay.house.west.turns', 'patchbay.house.west.lease', 'patchbay.house.claims'])
    rogue.publish('patchbay.house.west.walk', '{"from":0}', { reply });
  await lastOf(rogue, 'west');
  const answer = await rogue.request('patchbay.house.west.walk', '{"from":0}', { timeout: deadlineMs });
  t.true(answer.json<{ definitions: unknown[] }>().definitions.length > 0);
  t.deepEqual(
    heard.filter((text) => text.includes('definitions')),
    [],
  );
  t.is(east.find('desk/lamp')!.remote!.staleSince, undefined);
});

/** What somebody may write into the stream of a lease. */
const leases = {
  'no JSON': '{',
  'no record': '[1]',
  'the last term': JSON.stringify({ term: 2 ** 48, holder: 'evil', name: 'evil', isReleased: false }),
  'a term beyond all': JSON.stringify({ term: 2 ** 53 - 1, holder: 'evil', name: 'evil', isReleased: false }),
  'another holder': JSON.stringify({ term: 7, holder: 'evil', name: 'evil', isReleased: false, renewal: 1e9 }),
};

test('anything else in the stream of a lease is replaced by its hub, which goes on', async (t) => {
  const { west, east, rogue } = await startDomain(t);
  const { streams } = await jetstreamManager(rogue);
  for (const [what, text] of Object.entries(leases)) {
    rogue.publish('patchbay.house.west.lease', text);
    await eventually(async () => {
      const message = await streams.getMessage('patchbay+house+west', { last_by_subj: 'patchbay.house.west.lease' });
      try {
        const { holder, term } = message!.json<{ holder: string; term: number }>();
        return holder !== 'evil' && term > 0 && term <= 2 ** 48;
      } catch {
        return false;
      }
    }, `the lease is one of west again after ${what}`);
    await eventually(() => statusOf(west, 'house').state === 'running' && statusOf(west, 'desk').state === 'running');
    await expectPassedOn(west, east);
    t.is(east.find('desk/lamp')!.remote!.staleSince, undefined, what);
  }
});

/** What somebody may write in place of the claims. */
const claimed = {
  'no list': '[]',
  'no JSON': 'x',
  'a list in which another one has everything': JSON.stringify({ desk: 'east', rack: 'west' }),
  'an empty list': '{}',
  'a list with IDs that are none': JSON.stringify({ __proto__x: 'west', 'Desk/': 'west' }),
};

test('nothing in place of the claims takes a connection from a hub', async (t) => {
  const { west, east, rogue } = await startDomain(t);
  const { streams } = await jetstreamManager(rogue);
  for (const [what, list] of Object.entries(claimed)) {
    const states = new Set<string>();
    const note = () => {
      for (const [hub, id] of [
        [west, 'desk'],
        [east, 'rack'],
      ] as const)
        states.add(statusOf(hub, id).state);
    };
    rogue.publish('patchbay.house.claims', list);
    await eventually(async () => {
      note();
      const message = await streams.getMessage('patchbay+house', { last_by_subj: 'patchbay.house.claims' });
      try {
        const claims = message!.json<Record<string, string>>();
        return claims.desk === 'west' && claims.rack === 'east';
      } catch {
        return false;
      }
    }, `the claims are those of the hubs again after ${what}`);
    await expectPassedOn(west, east, note);
    t.deepEqual([...states], ['running'], what);
  }
});

/** Waits until a new value that is written at one hub is the other one's. */
async function expectPassedOn(west: HubUnderTest, east: HubUnderTest, look = () => {}): Promise<void> {
  const level = (west.find('desk/level')!.value as number) + 0.5;
  west.write('desk/level', level, writer);
  await eventually(() => {
    look();
    return east.find('desk/level')!.value === level;
  });
}
