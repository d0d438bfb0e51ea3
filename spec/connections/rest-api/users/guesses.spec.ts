// Somebody who guesses: no answer, number or time tells whether there is an address, or a user. And somebody whose rights are taken away
// while a request of theirs is under way.

import { scryptSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cpuUsage } from 'node:process';
import test, { type ExecutionContext } from 'ava';
import type { HubPort } from '../../../../lib/connections/hub-port.ts';
import { filterOf } from '../../../../lib/connections/rest-api/filters/filter.ts';
import { limitSettings } from '../../../../lib/connections/rest-api/limits/limit-settings.ts';
import { FanOut } from '../../../../lib/connections/rest-api/sockets/fan-out.ts';
import { createSubscription } from '../../../../lib/connections/rest-api/sockets/v1/subscription.ts';
import { accountOf, noRights } from '../../../../lib/connections/rest-api/users/accounts.ts';
import { Directory } from '../../../../lib/connections/rest-api/users/directory.ts';
import { eventually } from '../../../support/deadline.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';
import { openClient } from '../../../support/sockets/socket.ts';
import '../../../support/own-process.ts';

const ann = { authorization: 'Bearer token-of-ann' };
const bob = { authorization: 'Bearer token-of-bob' };
const json = { 'content-type': 'application/json' };
const store = { type: 'store', folder: './data' };
const flow = (users: object, others: object = {}) => ({
  connections: {
    api: {
      ...api,
      users: {
        ann: { token: 'token-of-ann', read: ['desk/open/**'], write: ['desk/open/**'] },
        root: { token: 'token-of-root', read: ['**'], manage: true },
        ...users,
      },
    },
    desk: { type: 'dummy', parameters: ['open/1,I,1', 'open/2,I,1', 'open/3,I,1', 'shut/there,I,1'] },
    ...others,
  },
});

/** The texts have the same length, as the answers say how long they are. */
const there = 'desk/shut/there';
const absent = 'desk/shut/thers';

const requests = (address: string): [line: string, body?: object][] => [
  [`GET /parameters/${address}`],
  [`HEAD /parameters/${address}`],
  [`GET /parameters/${address.replace('shut', 's%68ut')}`],
  [`GET /update?parameter=${address}&value=5`],
  ['POST /update', { parameter: address, value: 5 }],
  ['POST /update', { parameter: address, value: 'no number' }],
  [`GET /hub/explain/${address}`],
  [`GET /hub/history/${address}?from=2020-01-01T00:00Z&to=2020-01-02T00:00Z`],
  [`GET /hub/history?address=${address}&from=2020-01-01T00:00Z&to=2020-01-02T00:00Z`],
  [`GET /hub/history?filter=${address}&from=2020-01-01T00:00Z&to=2020-01-02T00:00Z`],
  [`GET /hub/events/${address}`],
  [`GET /hub/parameters?address=${address}`],
  [`GET /hub/parameters?filter=${address}`],
];

/** Every byte that somebody is told who asks for an address, with the address taken out. */
async function toldOf(t: ExecutionContext, hub: HubUnderTest, address: string, own: string): Promise<string[]> {
  const reported: string[] = [];
  for (const [line, body] of requests(address)) {
    const headers = body === undefined ? ann : { ...ann, ...json };
    const answer = await ask(t, hub.port, line, { headers, ...(body && { body: JSON.stringify(body) }) });
    reported.push(`${line}: ${answer.status} ${JSON.stringify(answer.headers)} ${answer.text}`);
  }
  for (const protocol of ['', 'patchbay.v1']) {
    const socket = await openClient(t, hub.port, '', {
      ...ann,
      ...(protocol && { 'sec-websocket-protocol': protocol }),
    });
    if (protocol === '') {
      socket.send({ p: address, v: 5 });
      socket.send({ p: address, v: 'no number' });
      reported.push(JSON.stringify([await socket.next(), await socket.next()]));
    } else {
      socket.send({ sub: 1, include: [address] });
      socket.send({
        set: [[address, 5], [address, 'no number'], ...Array.from({ length: 20 }, (_, id) => [id + 4, 5])],
        ack: 1,
      }); // prettier-ignore
      socket.send({ sub: 2, include: [{ regex: address }] });
      socket.send({ sub: 3, include: [own] });
      const frames: unknown[] = [];
      for (let ends = 0; ends < 3; ) {
        const frame = (await socket.next()) as Record<string, unknown>;
        if ('end' in frame) ends++;
        frames.push(frame);
      }
      reported.push(JSON.stringify(frames.map((frame) => JSON.stringify(frame)).sort())); // a subscription may wait for its turn
    }
    socket.close();
  }
  reported.push((await ask(t, hub.port, 'GET /hub/health', { headers: ann })).text);
  return reported.map((text) =>
    text
      .replaceAll(address, '?')
      .replaceAll(address.replace('shut', 's%68ut'), '?')
      .replaceAll(own, 'own')
      .replace(/"uptimeSeconds":\d+|"date":"[^"]+"/, ''),
  );
}

test('status, headers, tags, lengths, acks, numbers and revisions do not reveal whether an address exists', async (t) => {
  const hub = await startTestHub(t, flow({}, { store }));
  await toldOf(t, hub, absent, 'desk/open/1'); // all numbers of parameters are given by then
  const past = `GET /hub/history/${absent}?from=2020-01-01T00:00Z`;
  await eventually(
    async () => (await ask(t, hub.port, past, { headers: ann })).text.includes('desk/open/3'),
    'a history',
  );
  const [one, other] = [await toldOf(t, hub, there, 'desk/open/2'), await toldOf(t, hub, absent, 'desk/open/2')];
  t.deepEqual(one, other);
  t.true(one.every((text) => !text.includes(': 403 {'))); // an epoch or a tag may have these digits
  t.is(hub.find(there)!.value, 1);
});

/** As many as a hub looks at before it sends a frame. */
const framed = 1024;

test('the ends of the frames of a patchbay.v1 subscription do not reveal whether a listed address exists', async (t) => {
  const names = Array.from({ length: framed }, (_, index) => `p${index}`);
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, users: { ann: { token: 'token-of-ann', read: ['d/**'] } } },
      d: { type: 'dummy', parameters: names.map((name) => `${name},I,1`) },
      s: { type: 'dummy', parameters: ['there,I,1'] },
    },
  });
  const countsOf = async (asked: string) => {
    const socket = await openClient(t, hub.port, '', { ...ann, 'sec-websocket-protocol': 'patchbay.v1' });
    socket.send({ sub: 1, include: [asked, ...names.map((name) => `d/${name}`)] });
    const counts: number[][] = [];
    for (;;) {
      const { end, def, set } = (await socket.next()) as { end?: number; def?: unknown[]; set?: unknown[] };
      if (end !== undefined) return counts;
      counts.push([def?.length ?? 0, set?.length ?? 0]);
    }
  };
  for (const name of names) hub.write(`d/${name}`, 2, writer); // what is hidden has changed before them
  t.deepEqual(await countsOf('s/there'), await countsOf('s/thers'));
});

test('patterns are not applied to hidden addresses, so response times reveal nothing', (t) => {
  const wish = { sub: 1, include: [{ regex: `^desk/.*${'(a|b)?'.repeat(100)}x$` }], exclude: [], rate: 0 } as const;
  const cpuOf = (mayRead: boolean) => {
    const bound = { filter: filterOf(0.1, () => mayRead), key: '' };
    const { selection } = createSubscription(
      { ...wish, delivery: 'latest' },
      bound,
      new FanOut(),
      limitSettings.parse(undefined),
    );
    const parameters = Array.from({ length: 100 }, (_, index) => ({ address: `desk/x${'ab'.repeat(3000)}${index}` }));
    const before = cpuUsage();
    selection.prepare(() => parameters as never, Number.POSITIVE_INFINITY);
    return cpuUsage(before).user;
  };
  cpuOf(true);
  const leastOf = (mayRead: boolean) => Math.min(...Array.from({ length: 5 }, () => cpuOf(mayRead)));
  const [seen, hidden] = [leastOf(true), leastOf(false)];
  t.true(hidden * 5 < seen, `${hidden} µs, ${seen} µs`);
});

test('the permission to ask for an address is independent of the existence of the parameter', (t) => {
  let asked = 0;
  const hub = { find: () => void asked++ } as unknown as HubPort;
  const { rights } = accountOf('ann', { ...noRights, read: ['desk/**'], deny: ['desk/shut/**'] }, hub);
  t.deepEqual(
    ['desk/open/1', there, absent, 'other'].map((address) => rights.mayAskFor(address)),
    [true, false, false, false],
  );
  t.is(asked, 0);
});

test('a wrong password takes as long for an unknown name as for one with a password of either kind', async (t) => {
  const salt = Buffer.alloc(16, 'salt');
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  const hashed = `$scrypt$ln=13,r=8,p=1$${text(salt)}$${text(scryptSync('geheim', salt, 32, { N: 2 ** 13, r: 8, p: 1 }))}`;
  const rights = { read: [], write: [], deny: [], dashboards: [], edit: [], manage: false, metrics: false };
  const users = {
    hashed: { ...rights, password: hashed },
    plain: { ...rights, password: 'geheim' },
    device: { ...rights, token: 'x' },
  };
  const hub = { find: () => undefined } as unknown as HubPort;
  const directory = new Directory({ username: '', password: '', token: '', users }, hub);
  const asker = { network: '10.0.0.1', suspicion: () => 1, isSlowed: () => false, isGone: () => false };
  const costs = new Map<string, number>();
  const areAlike = () => [...costs.values()].every((cost) => cost > costs.get('hashed')! / 3);
  for (let round = 0; round < 3 || (round < 50 && !areAlike()); round++)
    for (const name of ['hashed', 'plain', 'device', 'nobody']) {
      const before = cpuUsage();
      t.is(await directory.withPassword(name, round % 2 === 0 ? 'wrong' : 'plain', asker), undefined);
      costs.set(name, Math.min(costs.get(name) ?? Number.POSITIVE_INFINITY, cpuUsage(before).user)); // whatever else runs only adds
    }
  t.true(areAlike(), `${[...costs]} µs`);
  for (const name of ['hashed', 'plain']) t.is((await directory.withPassword(name, 'geheim', asker))?.name, name);
  t.is(await directory.withPassword('device', '', asker), undefined);
});

test('work in progress ends with its permission: a recording is cut, and requests whose bodies arrive later have no effect', async (t) => {
  const users = { bob: { token: 'token-of-bob', read: ['**'], write: ['**'], manage: true } };
  const hub = await startTestHub(t, flow(users));
  const recording = await openWire(t, hub.port);
  recording.send(request('GET /hub/record', { headers: bob }));
  await recording.take(200);
  const posts: [path: string, body: string][] = [
    ['/hub/connections/desk', '{"action":"stop"}'],
    ['/hub/users', '{"action":"invite","user":"ann","device":"x"}'],
    ['/hub/reload', '{}'],
    ['/update', '{"parameter":"desk/open/1","value":99}'],
  ];
  const begun = await Promise.all(
    posts.map(async ([path, body]) => {
      const wire = await openWire(t, hub.port);
      const length = String(body.length);
      wire.send(
        request(`POST ${path}`, { headers: { ...bob, ...json, 'content-length': length, expect: '100-continue' } }),
      ); // prettier-ignore
      t.is((await wire.answer()).status, 100, 'the hub has taken the head');
      return { wire, path, body };
    }),
  );
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow({})));
  await hub.reload();
  hub.write('desk/shut/there', 4711, writer);
  t.notRegex((await recording.closed()).toString(), /"v":4711/);
  for (const { wire, path, body } of begun) {
    wire.send(body);
    t.is((await wire.answer()).status, 401, path);
  }
  t.is(hub.find('desk/open/1')!.value, 1);
  t.is(hub.connections().find(({ id }) => id === 'desk')!.state, 'running');
});
