// A hub that asks Debian's snmpd: communities and users, values, tables, writes, and what the device refuses.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { type Answer, communityEnvelope, wrapCommunity } from '../../../lib/connections/snmp/envelope.ts';
import { asked, encodePdu, encodeVarbinds, integerBytes, tags, verbs } from '../../../lib/connections/snmp/message.ts';
import { openMessage, sealMessage, usmCounters } from '../../../lib/connections/snmp/usm.ts';
import { readFirst } from '../../../lib/device/ber.ts';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { base, freeUdpPort, startAgent, startLiar, users } from './peers.ts';

needs('snmpd', 'snmp');

const place = (port: number) => `127.0.0.1:${port}`;
const value = (hub: Hub, id: string) => hub.find(`it/${id}`)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}, got ${value(hub, id)}`);
const isRunning = (hub: Hub, id = 'it') =>
  eventually(() => statusOf(hub, id).state === 'running', `a running connection, got ${statusOf(hub, id).reason}`);
const isStale = (hub: Hub, id: string) => hub.find(`it/${id}`)!.device?.staleSince !== undefined;
const refusedOf = (hub: Hub, id = 'it') => statusOf(hub, id).wire?.refused ?? 0;
const confirmed = (hub: Hub, id: string) => hub.whenConfirmed(hub.find(`it/${id}`)!, 30_000);
const because = (hub: Hub, reason: RegExp) =>
  eventually(() => reason.test(statusOf(hub, 'it').reason ?? ''), `${reason}, got ${statusOf(hub, 'it').reason}`);

const start = (t: ExecutionContext, settings: object) =>
  startTestHub(t, { connections: { it: { type: 'snmp', every: 100, ...settings } } });

const level = { level: { oid: `${base}.1.0`, access: 'read-write' } };

test('an agent is read by its community: every type, in one request', async (t) => {
  const { port } = await startAgent(t);
  const hub = await start(t, {
    ...{ udp: place(port), community: 'public', every: '10s' },
    parameters: {
      name: { oid: '1.3.6.1.2.1.1.5.0', as: 'text' },
      number: { oid: `${base}.1.0`, scale: 0.5, offset: 1 },
      choice: { oid: `${base}.6.0`, choices: { up: 1, down: 2 } },
      isUp: { oid: `${base}.6.0`, as: 'boolean' },
      hex: { oid: `${base}.2.0`, as: 'hex' },
      gauge: { oid: `${base}.3.0`, as: 'unsigned' },
      object: { oid: `${base}.4.0`, as: 'oid' },
      counter: { oid: `${base}.5.0`, as: 'counter32' },
      decimal: { oid: `${base}.7.0`, as: 'float' },
      exact: { oid: `${base}.20.1`, as: 'text' },
      ticks: { oid: `${base}.20.2`, as: 'ticks', scale: 0.01, unit: 's' },
      address: { oid: `${base}.20.3`, as: 'ip' },
      none: { oid: `${base}.1.0`, unknownIf: 5 },
    },
  });
  await isRunning(hub);
  await has(hub, 'address', '10.0.0.5');
  const ids = ['name', 'number', 'choice', 'isUp', 'hex', 'gauge', 'object', 'counter', 'decimal', 'exact', 'ticks'];
  t.deepEqual(
    ids.map((id) => value(hub, id)),
    ['desk', 3.5, 1, true, '74657874', 4_000_000_000, '1.3.6.1.4', 7, 12.5, '18446744073709551615', 42],
  );
  t.is(value(hub, 'none'), undefined);
  t.is(statusOf(hub, 'it').wire?.framesOut, 1);
});

for (const [name, user] of Object.entries(users))
  test(`a user of SNMPv3 reads and writes: ${name}`, async (t) => {
    const { port } = await startAgent(t);
    const hub = await start(t, { udp: place(port), user, parameters: level });
    await has(hub, 'level', 5);
    hub.write('it/level', 6, writer);
    t.is(hub.find('it/level')!.wanted?.value, 6);
    await confirmed(hub, 'level');
    t.is(value(hub, 'level'), 6);
    t.is(hub.find('it/level')!.lastChange!.cause!.origin.name, 'spec');
    t.is(refusedOf(hub), 0);
  });

test('a refused user, password or community is one sentence', async (t) => {
  const { port } = await startAgent(t);
  const { sealer, signer } = users;
  const cases: readonly (readonly [settings: object, reason: RegExp])[] = [
    [{ community: 'wrong' }, /: no answer within 0\.3 s: the device is offline, or does not accept the community$/],
    [{ user: { ...signer, name: 'nobody' } }, /: the device does not know user "nobody"$/],
    [
      { user: { ...signer, password: 'wrong-password' } },
      /: the device refuses the password of user "signer"; check password and auth$/,
    ],
    [
      { user: { ...sealer, privPassword: 'wrong-password' } },
      /: no answer within 0\.3 s: the device does not answer user "sealer"; check privPassword and priv, or lower/,
    ],
    [{ user: { name: 'signer' } }, /: signer|level: .*\(authorizationError\)|cannot read .*\(authorizationError\)/],
    [
      { user: { ...signer, priv: 'aes' } },
      /: the device does not accept the security level of user "signer"; check auth and priv$/,
    ],
  ];
  for (const [who, reason] of cases) {
    const hub = await start(t, { udp: place(port), timeout: 100, retries: 2, ...who, parameters: level });
    await because(hub, reason);
    t.is(statusOf(hub, 'it').state, 'degraded');
    t.is(value(hub, 'level'), undefined);
    await hub.stop();
  }
});

test('an object that is not there is one sentence, and costs its neighbours nothing', async (t) => {
  const { port } = await startAgent(t);
  const hub = await start(t, {
    ...{ udp: place(port), community: 'public' },
    parameters: { level: { oid: `${base}.1.0` }, absent: { oid: `${base}.77.0` }, wrong: { oid: `${base}.2.0` } },
  });
  await has(hub, 'level', 5);
  await because(
    hub,
    /^absent: the device has no object .*\.77\.0, or does not show it to this community or user, and 1 more$/,
  );
  t.is(value(hub, 'absent'), undefined);
  t.is(value(hub, 'wrong'), undefined);
});

test('an answer that would be too big is asked for in parts', async (t) => {
  const long = 'x'.repeat(900);
  const more = Array.from({ length: 100 }, (_, n) => `override ${base}.30.1.${n + 1} octet_str "${long}"`).join('\n');
  const { port } = await startAgent(t, { more });
  // Beyond 64 KiB, snmpd answers nothing at all.
  const hub = await start(t, {
    ...{ udp: place(port), community: 'public', every: '10s', timeout: 200, maxObjects: 200 },
    parameters: { 'long/{n:1..100}': { oid: `${base}.30.1.{n}`, as: 'text' } },
  });
  await has(hub, 'long/100', long);
  t.is(value(hub, 'long/1'), long);
  await isRunning(hub);
});

test('a device that finds everything too big is asked for each object, and the one that still is gets a sentence', async (t) => {
  const counts: number[] = [];
  const port = await startLiar(t, (bytes, { port: to, address }, socket) => {
    const { pdu, plain } = communityEnvelope('public').unwrap(bytes, () => true) as Answer;
    counts.push(pdu.varbinds.length);
    const oids = pdu.varbinds.map(({ oid }) => oid);
    const isTooBig = oids.length > 2 || oids.includes(`${base}.3`);
    const values = oids.map((oid) => ({ oid, tag: tags.integer, bytes: integerBytes(BigInt(oid.split('.').at(-1)!)) }));
    const list = encodeVarbinds(isTooBig ? asked(oids) : values);
    const answer = encodePdu(verbs.response, pdu.id, isTooBig ? 1 : 0, 0, list);
    t.true(plain.length > 0);
    socket.send(wrapCommunity(Buffer.from('public'), answer), to, address);
  });
  const hub = await start(t, {
    ...{ udp: place(port), community: 'public', every: '10s' },
    parameters: { 'v/{n:1..10}': { oid: `${base}.{n}` } },
  });
  await because(hub, /^the device cannot read .*\.3: the answer does not fit into one message \(tooBig\)$/);
  await has(hub, 'v/10', 10);
  t.deepEqual(
    Array.from({ length: 10 }, (_, n) => value(hub, `v/${n + 1}`)),
    [1, 2, undefined, 4, 5, 6, 7, 8, 9, 10],
  );
  t.is(counts[0], 10);
});

test('counters become rates, also over the end of their numbers', async (t) => {
  const agent = await startAgent(t);
  const hub = await start(t, {
    ...{ udp: place(agent.port), community: 'public', every: 100 },
    parameters: { rate: { oid: `${base}.20.4`, as: 'counter32', rate: true, unit: '/s' } },
  });
  await has(hub, 'rate', 0);
  let highest = 0;
  hub.changes$.subscribe({
    next: ({ parameter, value: rate }) => {
      if (parameter.address === 'it/rate') highest = Math.max(highest, Number(rate));
    },
  });
  await agent.count(1007);
  await eventually(() => highest > 0, 'a rate');
  t.true(highest <= 1000 / 0.09 && highest >= 500, `${highest}`);
  await agent.count(4_294_967_290);
  await eventually(() => highest > 1e9, 'a leap');
  await has(hub, 'rate', 0);
  highest = 0;
  await agent.count(94);
  await eventually(() => highest > 0, 'a rate over the end');
  t.true(highest <= 100 / 0.09, `100 more, got ${highest} per second`);
});

test('a table becomes parameters: the interfaces of this machine', async (t) => {
  const { port } = await startAgent(t);
  const hub = await start(t, {
    ...{ udp: place(port), user: users.sealer, expect: ['if/1/name,S', 'if/999/name,S'] },
    tables: {
      'if/{index}': {
        labels: 'name',
        columns: {
          name: { oid: '1.3.6.1.2.1.31.1.1.1.1', as: 'text' },
          state: { oid: '1.3.6.1.2.1.2.2.1.8', choices: { up: 1, down: 2 }, label: 'state' },
          in: { oid: '1.3.6.1.2.1.31.1.1.1.6', as: 'counter64', rate: true, unit: 'B/s', class: 'meter' },
          nothing: { oid: `${base}.66` },
        },
      },
    },
  });
  await has(hub, 'if/1/name', 'lo');
  t.is(value(hub, 'if/1/state'), 1);
  t.is(hub.find('it/if/1/state')!.about?.label, 'lo state');
  await eventually(() => value(hub, 'if/1/in') !== undefined, 'a rate');
  t.is(hub.find('it/if/1/nothing'), undefined);
  t.is(value(hub, 'if/999/name'), undefined);
  await isRunning(hub);
});

test('rows come, change and go, and a column is written', async (t) => {
  const folder = `${base}.40.1`;
  const rows = (...indexes: readonly number[]) =>
    indexes
      .map((n) => `override -rw ${folder}.2.${n} integer ${n * 10}\noverride ${folder}.3.${n} octet_str "row ${n}"`)
      .join('\n');
  const first = await startAgent(t, { more: rows(1, 2, 10) });
  const hub = await start(t, {
    ...{ udp: place(first.port), community: 'writer', every: 100, timeout: 200, retries: 1, maxObjects: 2 },
    expect: ['row/2/level,I'],
    tables: {
      'row/{index}': {
        labels: 'name',
        maxRows: 3,
        columns: {
          level: { oid: `${folder}.2`, access: 'read-write', min: 0, max: 1000 },
          name: { oid: `${folder}.3`, as: 'text' },
        },
      },
    },
  });
  await has(hub, 'row/10/level', 100);
  t.is(value(hub, 'row/2/level'), 20);
  hub.write('it/row/10/level', 101, writer);
  await confirmed(hub, 'row/10/level');
  t.throws(() => hub.write('it/row/10/level', 1001, writer), { message: /expected 0 to 1000, got 1001/ });
  first.child.kill('SIGKILL');
  await eventually(() => isStale(hub, 'row/1/level'), 'stale values');
  t.throws(() => hub.write('it/row/10/level', 5, writer), { message: /offline/ });
  await startAgent(t, { port: first.port, more: rows(1, 3, 4, 5) });
  await has(hub, 'row/3/level', 30);
  t.is(hub.find('it/row/10/level'), undefined, 'gone');
  t.is(value(hub, 'row/2/level'), undefined, 'gone, but expected');
  t.is(hub.find('it/row/5/level'), undefined, 'one row too many');
  t.throws(() => hub.write('it/row/2/level', 5, writer), { message: /has not reported this row/ });
  await because(hub, /^the table has more than 3 rows; further rows are left out$/);
});

test('writes of one turn are one request; what the device refuses is a sentence', async (t) => {
  const { port } = await startAgent(t);
  const parameters = {
    ...level,
    text: { oid: `${base}.2.0`, as: 'text', access: 'read-write' },
    half: { oid: `${base}.6.0`, scale: 0.5, access: 'read-write', confirm: 'answer' },
    fixed: { oid: `${base}.8.0`, access: 'read-write' },
    wrong: { oid: `${base}.3.0`, as: 'text', access: 'read-write' },
    go: { oid: `${base}.7.0`, as: 'text', access: 'write-only' },
  };
  const hub = await start(t, { udp: place(port), community: 'writer', parameters });
  await has(hub, 'level', 5);
  const refused = async (id: string, input: unknown, reason: RegExp) => {
    hub.write(`it/${id}`, input, writer);
    await t.throwsAsync(confirmed(hub, id), { message: reason });
  };
  hub.turn(() => {
    hub.write('it/level', 50, writer);
    hub.write('it/text', 'grün', writer);
    hub.write('it/half', 4.26, writer);
    hub.write('it/go', 'gone', writer);
    hub.write('it/fixed', 9, writer);
  });
  await t.throwsAsync(confirmed(hub, 'fixed'), {
    message: /^fixed: the device refused the write: the object cannot be written.*\(notWritable\)$/,
  });
  for (const id of ['level', 'text', 'half']) await confirmed(hub, id);
  t.deepEqual([value(hub, 'level'), value(hub, 'text'), value(hub, 'half')], [50, 'grün', 4.5]);
  await refused('wrong', 'text', /another type; check `as` \(wrongType\)/);
  t.throws(() => hub.write('it/level', 2 ** 31, writer), { message: /expected -2147483648 to 2147483647/ });
  const reader = await start(t, { udp: place(port), community: 'public', parameters: level });
  await has(reader, 'level', 50);
  reader.write('it/level', 51, writer);
  await t.throwsAsync(confirmed(reader, 'level'), { message: /may not write the object \(noAccess\)/ });
});

test('an agent that is killed, stopped or restarted is stale, and then fresh', async (t) => {
  for (const who of [{ community: 'writer' }, { user: users.aes }]) {
    const agent = await startAgent(t);
    const hub = await start(t, { udp: place(agent.port), timeout: 100, retries: 1, ...who, parameters: level });
    await has(hub, 'level', 5);
    agent.child.kill('SIGSTOP');
    await eventually(() => isStale(hub, 'level'), 'stale values of a stopped agent');
    t.is(value(hub, 'level'), 5);
    agent.child.kill('SIGCONT');
    await eventually(() => !isStale(hub, 'level'), 'fresh values');
    agent.child.kill('SIGKILL');
    await because(hub, /: nothing is listening on this UDP port \(ECONNREFUSED\)$/);
    t.true(isStale(hub, 'level'));
    t.throws(() => hub.write('it/level', 1, writer), { message: /offline/ });
    const again = await startAgent(t, { port: agent.port });
    await eventually(() => !isStale(hub, 'level'), 'fresh values of a new agent');
    await isRunning(hub);
    again.child.kill('SIGKILL');
    await hub.stop();
  }
});

test('garbage, wrong numbers and answers from elsewhere are refused, and its neighbours are as before', async (t) => {
  const { port } = await startAgent(t);
  let count = 0;
  const bad = await startLiar(t, (bytes, { port: to, address }, socket) => {
    const answer = Buffer.from(bytes);
    answer[answer.indexOf(0xa0)] = 0xa2; // the same request as an answer
    const wrongId = Buffer.from(answer);
    wrongId[wrongId.indexOf(0xa2) + 5]! ^= 0xff;
    const lies = [
      wrongId,
      answer.subarray(0, -3),
      Buffer.concat([Buffer.from('308400ffffff', 'hex'), Buffer.alloc(60_000, 0x30)]),
      Buffer.alloc(65_000, 0x30),
      Buffer.from('3080'.repeat(2000), 'hex'),
      Buffer.from('not snmp at all'),
      Buffer.alloc(0),
    ];
    for (let n = 0; n < 3; n++) socket.send(lies[count++ % lies.length]!, to, address);
  });
  const forged: number[] = [];
  const elsewhere = await startLiar(t, (bytes, { port: to, address }) => {
    const answer = Buffer.from(bytes);
    answer[answer.indexOf(0xa0)] = 0xa2;
    const other = createSocket('udp4');
    other.send(answer, to, address, () => other.close());
    forged.push(to);
  });
  const fast = { type: 'snmp', community: 'public', every: 100, timeout: 50, retries: 1, parameters: level };
  const hub = await startTestHub(t, {
    connections: {
      bad: { ...fast, udp: place(bad) },
      elsewhere: { ...fast, udp: place(elsewhere) },
      it: { ...fast, timeout: 1000, udp: place(port) },
    },
  });
  await isRunning(hub);
  await eventually(() => refusedOf(hub, 'bad') >= 10 && forged.length >= 3, 'refused frames');
  for (const id of ['bad', 'elsewhere']) {
    t.is(statusOf(hub, id).state, 'degraded');
    t.is(hub.find(`${id}/level`)!.value, undefined);
  }
  t.is(refusedOf(hub, 'elsewhere'), 0, 'packets from elsewhere do not even arrive');
  t.is(statusOf(hub, 'it').state, 'running');
  t.is(value(hub, 'level'), 5);
  t.is(refusedOf(hub), 0);
});

test('a device that floods the hub with large messages costs its neighbours nothing', async (t) => {
  const { port } = await startAgent(t);
  const pairs = Buffer.from('300706032b06010500'.repeat(7000), 'hex'); // which takes milliseconds to decode
  const large = encodePdu(verbs.response, 5, 0, 0, Buffer.concat([Buffer.from([0x30, 0x82, 0xf6, 0x18]), pairs]));
  const answer = wrapCommunity(Buffer.from('public'), large);
  let isFlooding = true;
  t.teardown(() => {
    isFlooding = false;
  });
  const flood = await startLiar(t, async (_, { port: to, address }, socket) => {
    for (let n = 0; n < 200 && isFlooding; n++) {
      socket.send(answer, to, address);
      await after(2); // so that the buffer of the socket does not lose them
    }
  });
  const one = { type: 'snmp', community: 'public', every: 100, timeout: 5000, parameters: level };
  const hub = await startTestHub(t, {
    connections: { bad: { ...one, udp: place(flood) }, it: { ...one, udp: place(port) } },
  });
  await isRunning(hub);
  await eventually(() => refusedOf(hub, 'bad') > 60, 'refused messages');
  const reasons = new Set(hub.wire('bad', -1).map(({ fault }) => fault));
  t.true(reasons.has('expected the answer to a pending request'));
  t.true(reasons.has('expected at most 1048576 bytes per second'));
  t.is(statusOf(hub, 'it').state, 'running');
  t.is(value(hub, 'level'), 5);
});

test('an answer without the security of the user is refused', async (t) => {
  const engine = { engineId: Buffer.from('8000000001020304', 'hex'), boots: 1, timeS: 1 };
  const port = await startLiar(t, (bytes, { port: to, address }, socket) => {
    const { id, engineId } = openMessage(readFirst(bytes), bytes);
    const report = { oid: usmCounters.unknownEngine, tag: tags.counter32, bytes: integerBytes(1n) };
    const lie = { oid: `${base}.1.0`, tag: tags.integer, bytes: integerBytes(666n) };
    const isFirst = engineId.length === 0;
    const pdu = encodePdu(isFirst ? verbs.report : verbs.response, id, 0, 0, encodeVarbinds([isFirst ? report : lie]));
    socket.send(sealMessage({ id, flags: 0, ...engine, user: undefined, context: '', pdu }), to, address);
  });
  const hub = await start(t, { udp: place(port), user: users.sealer, timeout: 100, parameters: level });
  await eventually(() => refusedOf(hub) >= 2, 'refused answers');
  t.is(value(hub, 'level'), undefined);
  t.is(statusOf(hub, 'it').state, 'degraded');
});

test('the clock of an agent that was restarted between two requests is adopted, and nothing is stale', async (t) => {
  const home = await createFolder(t);
  const agent = await startAgent(t, { folder: home });
  const settings = { udp: place(agent.port), user: users.signer, every: '4s', timeout: 500, parameters: level };
  const hub = await start(t, settings);
  await has(hub, 'level', 5);
  await isRunning(hub);
  const frames = () => statusOf(hub, 'it').wire!.framesOut;
  const before = frames();
  await eventually(() => frames() > before, 'the next request'); // and then there are 4 s
  const restarting = frames();
  agent.child.kill('SIGTERM');
  await once(agent.child, 'exit');
  const again = await startAgent(t, { folder: home, port: agent.port });
  await again.set('1.0', 'i', 6);
  await has(hub, 'level', 6);
  t.deepEqual(hub.find('it/level')!.device?.absences, []);
  t.true(frames() >= restarting + 2, 'the request was repeated with the new clock');
  t.is(refusedOf(hub), 0);
});

test('a device that finds no request timely, or has no such context, is one sentence', async (t) => {
  const reports: readonly (readonly [counter: string, reason: RegExp])[] = [
    [
      usmCounters.notInTimeWindow,
      /the device refuses requests from user "signer", because they are outside its time window$/,
    ],
    ['1.3.6.1.6.3.12.1.5.0', /the device does not know the context$/],
    [usmCounters.unknownEngine, /the device refuses the engine ID or clock that it has reported itself$/],
    [usmCounters.notDecrypted, /the device cannot decrypt requests from user "signer"; check privPassword and priv$/],
  ];
  for (const [counter, reason] of reports) {
    const engine = { engineId: Buffer.from('8000000001020304', 'hex'), boots: 1, timeS: 1 };
    const port = await startLiar(t, (bytes, { port: to, address }, socket) => {
      const { id, engineId } = openMessage(readFirst(bytes), bytes);
      const oid = engineId.length === 0 ? usmCounters.unknownEngine : counter;
      const list = encodeVarbinds([{ oid, tag: tags.counter32, bytes: integerBytes(1n) }]);
      const pdu = encodePdu(verbs.report, id, 0, 0, list);
      socket.send(sealMessage({ id, flags: 0, ...engine, user: undefined, context: '', pdu }), to, address);
    });
    const hub = await start(t, { udp: place(port), user: users.signer, timeout: 500, parameters: level });
    await because(hub, reason);
    t.is(statusOf(hub, 'it').state, 'degraded');
    await hub.stop();
  }
});

test('the next address of a device is asked when the first one does not answer', async (t) => {
  const { port } = await startAgent(t);
  const hosts = [place(port)];
  const settings = { udp: place(await freeUdpPort()), hosts, community: 'public', parameters: level };
  const hub = await start(t, settings);
  await has(hub, 'level', 5);
  await isRunning(hub);
  t.is(refusedOf(hub), 0);
});

test('what goes over the wire is shown without the community, and decrypted', async (t) => {
  const { port } = await startAgent(t);
  for (const who of [{ community: 'writer' }, { user: users.sealer }]) {
    const hub = await start(t, { udp: place(port), ...who, parameters: level });
    await has(hub, 'level', 5);
    const frames = hub.wire('it', -1);
    const texts = frames.map(({ text }) => text);
    t.true(texts.includes(`get ${base}.1.0`), texts.join('\n'));
    t.true(texts.includes(`response ${base}.1.0 = 5`), texts.join('\n'));
    const bytes = Buffer.from(frames.map(({ hex }) => hex?.replaceAll(' ', '') ?? '').join(''), 'hex').toString(
      'latin1',
    );
    for (const secret of ['writer', 'password', users.sealer.name]) t.false(bytes.includes(secret), secret);
    await hub.stop();
  }
});

test('a cut line makes values stale, and what was written meanwhile is not sent later', async (t) => {
  const agent = await startAgent(t);
  let isCut = false;
  const towards = createSocket('udp4');
  t.teardown(() => towards.close());
  const port = await startLiar(t, (bytes, from, socket) => {
    if (isCut) return;
    towards.removeAllListeners('message');
    towards.on('message', (answer) => {
      if (!isCut) socket.send(answer, from.port, from.address);
    });
    towards.send(bytes, agent.port, '127.0.0.1');
  });
  const hub = await start(t, { udp: place(port), community: 'writer', timeout: 150, retries: 1, parameters: level });
  await has(hub, 'level', 5);
  isCut = true;
  hub.write('it/level', 9, writer);
  await t.throwsAsync(confirmed(hub, 'level'));
  await eventually(() => isStale(hub, 'level'), 'stale values');
  t.throws(() => hub.write('it/level', 10, writer), { message: /offline/ });
  isCut = false;
  await eventually(() => !isStale(hub, 'level'), 'fresh values');
  await after(300);
  t.is(value(hub, 'level'), 5);
});

test('nothing listens, and with simulate nobody needs to', async (t) => {
  const hub = await start(t, { udp: place(await freeUdpPort()), community: 'public', parameters: level });
  await because(hub, /nothing is listening on this UDP port/);
  const simulated = await start(t, { udp: '10.255.255.1:161', community: 'public', simulate: true, parameters: level });
  simulated.write('it/level', 5, writer);
  t.is(value(simulated, 'level'), 5);
});
