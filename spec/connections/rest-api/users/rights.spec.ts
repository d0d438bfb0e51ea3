// Rights: for random users, rights, addresses and actions no byte comes to a user that it may not see, and nothing is written that it
// may not write. The same after rights were taken away while subscriptions run. SEED is the first seed, SEEDS how many.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from 'node:process';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { eventually, within } from '../../../support/deadline.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, type HubUnderTest, startHubFrom, startTestHub, writer } from '../../../support/hub.ts';
import { openPlain, openV1, ping } from '../../../support/users/listener.ts';
import {
  addresses,
  anyRights,
  boards,
  expectDiscreet,
  filesOf,
  flowOf,
  headersOf,
  mayOpen,
  mayRead,
  mayWrite,
  names,
  nextOf,
  nextTurn,
  type Rights,
  setAll,
  textOf,
} from '../../../support/users/random-users.ts';

const managed = [
  ...['log', 'audit', 'rules', 'connections', 'clients', 'files', 'store', 'backup', 'metrics', 'shadow', 'record'],
  ...['users', 'hubs'],
];

/** Asks again when the disk of a busy machine has not answered in time. */
async function askPatiently(t: ExecutionContext, port: number, line: string, headers: Record<string, string>) {
  for (;;) {
    const answer = await ask(t, port, line, { headers });
    if (!answer.text.includes('the disk did not answer')) return answer;
  }
}

/** Asks for everything by HTTP. */
async function probe(t: ExecutionContext, hub: HubUnderTest, name: string, one: Rights): Promise<void> {
  const headers = headersOf(name);
  for (const path of [
    ...['/hub/parameters', '/hub/parameters?filter=qa', '/hub/history?from=-1h', '/hub/history?from=-1h&format=csv'],
    ...['/hub/openapi.json', '/hub/health', '/hub/health/ready', '/hub/snapshots', '/hub/dashboards', '/hub/'],
    ...[
      '/hub/log',
      '/hub/audit',
      '/hub/rules',
      '/hub/ways',
      '/hub/trace?rule=x',
      '/hub/connections',
      '/hub/clients',
      '/hub/files',
    ],
    ...['/hub/store', '/hub/backup', '/hub/metrics', '/hub/shadow', '/hub/record', '/hub/users', '/hub/hubs'],
    ...['/hub/snapshots/all/one', '/hub/snapshots/all/on', '/hub/health/live', '/hub/clients', '/hub/dashboards/qd1'],
    ...['/parameters/', '/parameters/desk', '/hub/explain/', '/hub/sign-in', '/hub/nothing', '/update'],
  ])
    expectDiscreet(t, (await askPatiently(t, hub.port, `GET ${path}`, headers)).text, one, `${name} ${path}`);
  for (const path of managed)
    t.is((await ask(t, hub.port, `GET /hub/${path}`, { headers })).status, name === '' ? 401 : 403, `${name} ${path}`);
  const { dashboards } = JSON.parse((await ask(t, hub.port, 'GET /hub/dashboards', { headers })).text);
  t.deepEqual(
    dashboards,
    boards.filter((board) => mayOpen(one, board)),
  );
  for (const board of boards)
    t.is((await ask(t, hub.port, `GET /hub/dashboards/${board}`, { headers })).status, mayOpen(one, board) ? 200 : 404);
  const me = JSON.parse((await ask(t, hub.port, 'GET /hub/me', { headers })).text);
  const { read, write } = one;
  t.deepEqual(
    me,
    {
      user: name,
      isOpen: false,
      maySignIn: true,
      read,
      write,
      dashboards: one.dashboards,
      edit: [],
      manage: false,
      metrics: false,
    },
    'what is denied has a name that is not told',
  );
  const matchesSeen = mayRead(one, 'store/all/matches');
  const snapshots = await ask(t, hub.port, 'GET /hub/snapshots', { headers });
  t.is(/"matches"/.test(snapshots.text), matchesSeen, `${name}: ${snapshots.text}`);
  const readsAll = read.includes('**') && one.deny.length === 0;
  if (/"saved":\[\{/.test(snapshots.text))
    t.is(snapshots.text.includes('"parameters":'), readsAll, `${name} counts none`);
  for (const [index, address] of addresses.entries()) {
    for (const start of ['/parameters/', '/hub/explain/', '/hub/history/', '/hub/events/']) {
      const { status, text } = await askPatiently(t, hub.port, `GET ${start}${address}`, headers);
      if (mayRead(one, address)) {
        t.is(status, 200, `${name} ${start}${address}: ${text}`);
        expectDiscreet(t, text, one, `${name} ${start}${address}`);
        continue;
      }
      // As if there were none: nothing tells it from an address that was never there.
      const absent = address.replace(textOf(index), 'qz999qz');
      const other = await askPatiently(t, hub.port, `GET ${start}${absent}`, headers);
      t.deepEqual(
        [status, withoutHint(text.replaceAll(address, '?'))],
        [404, withoutHint(other.text.replaceAll(absent, '?'))],
      );
      expectDiscreet(t, text, one, `${name} ${start}${address}`, address);
    }
    await probeWrite(t, hub, name, one, index);
  }
}

/** The nearest name differs with the name. */
const withoutHint = (text: string) => text.replace(/, (did you mean|expected one of) .*?(: |(?=","code"))/, '$2');

async function probeWrite(t: ExecutionContext, hub: HubUnderTest, name: string, one: Rights, index: number) {
  const address = addresses[index]!;
  const value = nextOf(index);
  const { status, text } = await ask(t, hub.port, 'POST /update', {
    headers: { ...headersOf(name), 'content-type': 'application/json' },
    body: JSON.stringify({ parameter: address, value }),
  });
  const isWritten = hub.find(address)!.value === value;
  t.is(isWritten, mayWrite(one, address), `${name} writes ${address}`);
  t.is(status, isWritten ? 200 : mayRead(one, address) ? 403 : 404);
  expectDiscreet(t, text, one, `${name} writes ${address}`, address);
  if (isWritten) t.regex(hub.find(address)!.lastChange!.origin.name, new RegExp(`^api ${name && `${name} `}127`));
}

const firstSeed = Number(env.SEED ?? Date.now() % 1e6);

/** Many hubs at once would only keep one another waiting. */
const testSeed = env.SEEDS === undefined ? test : test.serial;

for (let seed = firstSeed; seed < firstSeed + Number(env.SEEDS ?? 1); seed++)
  testSeed(`D-40: random users see and write what they may, and nothing else (SEED=${seed})`, expectBounded, seed);

async function expectBounded(t: ExecutionContext, seed: number): Promise<void> {
  const [sample] = fc.sample(fc.array(anyRights, { minLength: 9, maxLength: 9 }), { seed, numRuns: 1 });
  const before = Object.fromEntries(names.map((name, index) => [name, sample![index]!]));
  const anonymous = sample![4]!;
  const after = Object.fromEntries(names.slice(1).map((name, index) => [name, sample![index + 5]!]));
  const rightsOf = (name: string) => (name === '' ? anonymous : before[name]!);
  const hub = await startHubFrom(t, filesOf(flowOf(before, anonymous)));
  hub.write('store/all/save', 'one', writer);
  const wrong: string[] = [];
  hub.changes$.subscribe(({ origin, parameter: { address } }) => {
    const [, name = ''] = /^api (\w+) 127/.exec(origin.name) ?? [];
    if (origin.name.startsWith('api ') && !mayWrite(rightsOf(name), address)) wrong.push(`${origin.name}: ${address}`);
  });
  const everybody = [...names, ''];
  const plain = await Promise.all(everybody.map((name) => openPlain(t, hub, name)));
  const v1 = await Promise.all(everybody.map((name) => openV1(t, hub, name)));
  const metrics = await ask(t, hub.port, 'GET /hub/metrics', { headers: headersOf('meter') });
  t.is(metrics.status, 200);
  t.notRegex(metrics.text, /q[avd]1/);
  for (const name of everybody) {
    await probe(t, hub, name, rightsOf(name));
    hub.write('store/all/save', 'one', writer); // what matches the present values is seen again
  }
  for (const [index, address] of addresses.entries()) {
    for (const one of plain) one.send({ p: address, v: nextOf(index) });
    for (const one of v1)
      one.send({
        set: [
          [address, nextOf(index)],
          [index, `qz-${one.name}`],
        ],
        ack: nextTurn(),
      });
  }
  for (const one of v1) await ping(one);
  setAll(hub);
  for (const one of [...plain, ...v1]) {
    const last = addresses.findLast((address) => mayRead(rightsOf(one.name), address));
    if (last !== undefined) await eventually(() => one.texts.join().includes(String(hub.find(last)!.value)));
    const own = one.texts.filter((text) => !/^\{"(error|ack)/.test(text));
    expectDiscreet(t, own.join(), rightsOf(one.name), `socket of ${one.name}`);
    for (const text of one.texts.filter((text) => !own.includes(text)))
      t.notRegex(
        text.replaceAll(/desk\/[\w/]+/g, ''),
        /q[av]1/,
        'a refusal tells nothing but the address that was sent',
      );
  }
  t.deepEqual(wrong, []);

  // ann is taken out, others have other rights; whoever has those of before is not disturbed.
  const root = await openV1(t, hub, 'root');
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flowOf(after, anonymous)));
  await hub.reload();
  const reloadedMs = performance.now();
  setAll(hub, 'zzz');
  for (const one of [...plain, ...v1]) {
    const isSame = JSON.stringify(rightsOf(one.name)) === JSON.stringify(one.name === '' ? anonymous : after[one.name]);
    if (isSame) {
      t.true(one.isOpen());
      continue;
    }
    t.is(await within(one.closed, `the end of ${one.name}`), one.name === 'ann' ? 4501 : 4003);
    t.notRegex(one.texts.join(), /zzz/, `${one.name} is told nothing more`);
  }
  t.log(`closed after ${Math.round(performance.now() - reloadedMs)} ms`);
  await eventually(() => root.texts.join().includes('zzz'));
  t.true(root.isOpen());
  t.is((await ask(t, hub.port, 'GET /hub/parameters', { headers: headersOf('ann') })).status, 401);
  for (const name of names.slice(1)) {
    const hello = JSON.parse(v1.find((one) => one.name === name)!.texts[0]!).hello;
    const again = await openV1(t, hub, name, { since: { epoch: hello.epoch, rev: hub.revision } });
    const [reported, toldBefore] = [after, before].map((rights) =>
      addresses.filter((one) => mayRead(rights[name]!, one)),
    );
    if (JSON.parse(again.texts[0]!).hello.epoch === hello.epoch)
      t.deepEqual(reported, toldBefore, `${name} sees the same`);
    else
      for (const address of reported!)
        t.regex(again.texts.join(), new RegExp(String(hub.find(address)!.value)), `${name} is told ${address} anew`);
    expectDiscreet(t, again.texts.join(), after[name]!, `${name} after the reload`);
  }
  await hub.stop();
}

for (const how of ['all', 'by name'])
  test(`a list (${how}) in transit is cut when its user is removed, and the rest does not arrive`, async (t) => {
    const names = Array.from({ length: 250 }, (_, index) => `p${index}`);
    const flow = (users: object) => ({
      connections: {
        api: { ...api, users: { root: { token: 'token-of-root', read: ['**'] }, ...users } },
        d: { type: 'dummy', parameters: names.map((name) => `${name},S`) },
      },
    });
    const hub = await startTestHub(t, flow({ ann: { token: 'token-of-ann', read: ['**'] } }));
    for (const name of names) hub.write(`d/${name}`, 'x'.repeat(60_000), writer);
    const wire = await openWire(t, hub.port);
    const query = how === 'all' ? '' : `?${names.map((name) => `address=d/${name}`).join('&')}`;
    wire.send(request(`GET /hub/parameters${query}`, { headers: headersOf('ann') }));
    await wire.take(100);
    wire.socket.pause();
    await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow({})));
    await hub.reload();
    hub.write(`d/${names.at(-1)}`, 'zzz', writer);
    wire.socket.resume();
    const rest = await wire.closed();
    t.true(rest.length < 250 * 60_000);
    t.false(rest.includes('zzz'));
  });

test('an epoch does not reveal denied parameters: another hub has another one for the same permissions', async (t) => {
  const users = { ann: { token: 'token-of-ann', read: ['**'], deny: ['d/secret'] } };
  const flow = { connections: { api: { ...api, users }, d: { type: 'dummy', parameters: ['x'] } } };
  const endOf = async (hub: HubUnderTest) => {
    const { hello } = JSON.parse((await openV1(t, hub, 'ann')).texts[0]!);
    return /[^-]*$/.exec(hello.epoch)![0];
  };
  const one = await startTestHub(t, flow);
  t.not(await endOf(one), await endOf(await startTestHub(t, flow)));
  t.is(await endOf(one), await endOf(one), 'who comes again with the same rights can resume');
});

test('a user who is removed while a reload runs in shadow is signed out immediately', async (t) => {
  const flow = (users: object, map: string) => ({
    connections: {
      api: { ...api, users: { root: { token: 'token-of-root', read: ['**'] }, ...users } },
      d: { type: 'dummy', parameters: ['x,I,1', 'y,I,1'] },
    },
    rules: [{ from: 'd/x', map, to: 'd/y' }],
  });
  const ann = { token: 'token-of-ann', read: ['**'], write: ['**'] };
  const hub = await startTestHub(t, flow({ ann }, 'value'));
  const [root, plain, v1] = [await openV1(t, hub, 'root'), await openPlain(t, hub, 'ann'), await openV1(t, hub, 'ann')];
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow({}, 'value + 1')));
  t.deepEqual((await hub.reloadInShadow(writer)).notInShadow, []);
  t.is(await within(plain.closed, 'the end of the plain socket'), 4501);
  t.is(await within(v1.closed, 'the end of the socket'), 4501);
  t.is((await ask(t, hub.port, 'GET /parameters/d/x', { headers: headersOf('ann') })).status, 401);
  hub.write('d/x', 5, writer);
  t.is(hub.find('d/y')!.value, 5, 'the rule is in shadow');
  t.true(root.isOpen());
  t.deepEqual((await hub.reload()).connections, { added: [], removed: [], changed: [] });
});

test('the same holds if the reload would change other settings of the connection, which wait', async (t) => {
  const root = { token: 'token-of-root', read: ['**'] };
  const ann = { token: 'token-of-ann', read: ['**'] };
  const flow = (users: object, others: object = {}) => ({
    connections: { api: { ...api, users: { root, ...users }, ...others } },
  });
  const hub = await startTestHub(t, flow({ ann }));
  const [one, other] = [await openV1(t, hub, 'root'), await openV1(t, hub, 'ann')];
  const save = (next: object) => writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(next));
  const statusOfAnn = async () => (await ask(t, hub.port, 'GET /hub/me', { headers: headersOf('ann') })).status;
  await save(flow({}, { limits: { subscriptions: 7 } }));
  t.deepEqual((await hub.reloadInShadow(writer)).notInShadow, ['api']);
  t.is(await within(other.closed, 'the end of the socket'), 4501);
  t.is(await statusOfAnn(), 401);
  t.true(one.isOpen());
  await save(flow({ ann }));
  t.deepEqual((await hub.reload()).connections, { added: [], removed: [], changed: ['api'] });
  t.is(await statusOfAnn(), 200, 'the file as it was before');
  t.true(one.isOpen(), 'nothing of it needs a start');
});
