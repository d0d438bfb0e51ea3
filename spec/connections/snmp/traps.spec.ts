// A hub that receives notifications of Debian's snmptrap: traps and informs, of communities and users, from the devices that it names only.

import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { wrapCommunity } from '../../../lib/connections/snmp/envelope.ts';
import {
  encodeOid,
  encodePdu,
  encodeVarbinds,
  tags,
  trapOid,
  upTimeOid,
  verbs,
} from '../../../lib/connections/snmp/message.ts';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub, statusOf } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { base, command, environment, freeUdpPort, startAgent, users } from './peers.ts';

needs('snmpd', 'snmp');

const run = promisify(execFile);
const linkDown = '1.3.6.1.6.3.1.1.5.3';
const linkUp = '1.3.6.1.6.3.1.1.5.4';
const ifIndex = '1.3.6.1.2.1.2.2.1.1';
const ifOperStatus = '1.3.6.1.2.1.2.2.1.8';

const parameters = {
  'port/{n:1..2}/up': { trap: { [linkDown]: false, [linkUp]: true }, where: { [`${ifIndex}.{n}`]: '{n}' } },
  'port/{n:1..2}/state': { trap: [linkDown, linkUp], oid: `${ifOperStatus}.{n}`, choices: { up: 1, down: 2 } },
  last: { trap: linkDown, oid: ifIndex },
  alarm: { trap: `${base}.0.1` },
  text: { trap: `${base}.0.1`, oid: `${base}.2`, as: 'text' },
};

const value = (hub: Hub, id: string) => hub.find(`it/${id}`)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}, got ${value(hub, id)}`);
const isRunning = (hub: Hub) =>
  eventually(() => statusOf(hub, 'it').state === 'running', `a running connection, got ${statusOf(hub, 'it').reason}`);
const refusedOf = (hub: Hub, id = 'it') => statusOf(hub, id).wire?.refused ?? 0;

const up = (n: number) => [`${ifIndex}.${n}`, 'i', `${n}`, `${ifOperStatus}.${n}`, 'i', '1'];
const down = (n: number) => [`${ifIndex}.${n}`, 'i', `${n}`, `${ifOperStatus}.${n}`, 'i', '2'];

const engine = ['-e', '0x8000000001020304'];
const asSigner = ['-v3', '-u', 'signer', '-l', 'authNoPriv', '-a', 'SHA-256', '-A', users.signer.password];
const asSealer = [
  ...['-v3', '-u', 'sealer', '-l', 'authPriv', '-a', 'SHA-512', '-A', users.sealer.password],
  ...['-x', 'AES-256', '-X', users.sealer.privPassword],
];
const asPlain = ['-v3', '-u', 'plain', '-l', 'noAuthNoPriv'];

async function start(t: ExecutionContext, settings: object, traps: object = {}) {
  const port = await freeUdpPort();
  const hub = await startTestHub(t, {
    connections: {
      it: {
        type: 'snmp',
        traps: { listen: `127.0.0.1:${port}`, from: ['127.0.0.1'], ...traps },
        parameters,
        ...settings,
      },
    },
  });
  await isRunning(hub);
  const counts = { alarm: 0, changes: 0 };
  hub.changes$.subscribe({
    next: ({ parameter }) => {
      counts.changes++;
      if (parameter.address === 'it/alarm') counts.alarm++;
    },
  });
  const trap = (who: readonly string[], oid: string, ...objects: readonly string[]) =>
    command(t, 'snmptrap', ...who, `127.0.0.1:${port}`, '', oid, ...objects);
  return { hub, port, counts, trap };
}

const community = ['-v2c', '-c', 'public'];

test('a trap moves the parameters that it concerns, in one turn', async (t) => {
  const { hub, counts, trap } = await start(t, { community: 'public' });
  await trap(community, linkDown, ...down(2));
  await has(hub, 'port/2/up', false);
  t.is(value(hub, 'port/2/state'), 2);
  t.is(value(hub, 'last'), 2);
  t.is(value(hub, 'port/1/up'), undefined);
  await trap(community, linkUp, ...up(2));
  await has(hub, 'port/2/up', true);
  t.is(value(hub, 'port/2/state'), 1);
  t.is(counts.alarm, 0);
  await trap(community, `${base}.0.1`, `${base}.2.0`, 's', 'too hot');
  await has(hub, 'text', 'too hot');
  t.is(counts.alarm, 1);
  t.is(refusedOf(hub), 0);
});

test('an inform is acknowledged, and a repeated one has no effect', async (t) => {
  const { hub, counts, trap, port } = await start(t, { community: 'public' });
  await trap(['-Ci', '-r', '0', ...community], `${base}.0.1`, `${base}.2.0`, 's', 'informed');
  t.is(value(hub, 'text'), 'informed', 'snmptrap waits for the acknowledgement');
  t.is(counts.alarm, 1);
  // The same inform three times, as from a sender that misses the acknowledgements.
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  const received: Buffer[] = [];
  socket.on('message', (bytes) => received.push(bytes));
  const list = encodeVarbinds([
    { oid: upTimeOid, tag: tags.ticks, bytes: Buffer.of(1) },
    { oid: trapOid, tag: tags.oid, bytes: encodeOid(`${base}.0.1`) },
  ]);
  const same = wrapCommunity(Buffer.from('public'), encodePdu(verbs.inform, 1234, 0, 0, list));
  for (let n = 0; n < 3; n++) socket.send(same, port, '127.0.0.1');
  await eventually(() => received.length === 3, 'three acknowledgements');
  t.is(counts.alarm, 2);
});

test('traps and informs of SNMPv3, at each level', async (t) => {
  for (const [user, who] of [
    [users.plain, asPlain],
    [users.signer, asSigner],
    [users.sealer, asSealer],
  ] as const) {
    const { hub, counts, trap } = await start(t, { user });
    await trap([...engine, ...who], linkDown, ...down(1));
    await has(hub, 'port/1/up', false);
    await trap(['-Ci', '-r', '1', ...who], linkUp, ...up(1)); // which fails without an acknowledgement
    await has(hub, 'port/1/up', true);
    await trap(['-Ci', '-r', '1', ...who], `${base}.0.1`, `${base}.2.0`, 's', user.name);
    await has(hub, 'text', user.name);
    t.is(counts.alarm, 1);
    t.is(refusedOf(hub), 0);
    await hub.stop();
  }
});

test('a wrong community, user, password or level is refused, and a trap that is sent again, too', async (t) => {
  const { hub, trap, counts } = await start(t, { user: users.sealer });
  const wrong = (option: string, text: string) =>
    asSealer.map((one, place) => (asSealer[place - 1] === option ? text : one));
  await trap(community, linkDown, ...down(1));
  await trap([...engine, ...asSigner], linkDown, ...down(1));
  await trap([...engine, ...wrong('-A', 'wrong-password')], linkDown, ...down(1));
  await trap([...engine, ...wrong('-X', 'wrong-password')], linkDown, ...down(1));
  await trap([...engine, ...asPlain.map((one) => (one === 'plain' ? 'sealer' : one))], linkDown, ...down(1));
  await eventually(() => refusedOf(hub) === 5, `five refused notifications, got ${refusedOf(hub)}`);
  t.is(counts.changes, 0);
  // 200 s old by the clock of its sender
  await trap(['-Z', '5,1000', ...engine, ...asSealer], linkDown, ...down(1));
  await has(hub, 'port/1/up', false);
  await trap(['-Z', '5,800', ...engine, ...asSealer], linkUp, ...up(1));
  await trap(['-Z', '4,9000', ...engine, ...asSealer], linkUp, ...up(1));
  await eventually(() => refusedOf(hub) === 7, 'two refused traps');
  t.false(value(hub, 'port/1/up'));
  await trap(['-Z', '6,1', ...engine, ...asSealer], linkUp, ...up(1));
  await has(hub, 'port/1/up', true);
  const { hub: other, trap: send, port } = await start(t, { community: 'public' });
  const place = `127.0.0.1:${port}`;
  await send(['-v2c', '-c', 'other'], linkDown, ...down(1));
  await command(t, 'snmptrap', '-v1', '-c', 'public', place, base, '127.0.0.1', '6', '1', '5');
  await eventually(() => refusedOf(other) === 2, 'two refused traps');
  t.is(value(other, 'port/1/up'), undefined);
});

test('connections share a port, and each takes the traps of its own device', async (t) => {
  const port = await freeUdpPort();
  const traps = (address: string) => ({ listen: `127.0.0.1:${port}`, from: [address] });
  const one = { type: 'snmp', community: 'public', parameters };
  const hub = await startTestHub(t, {
    connections: {
      it: { ...one, traps: traps('127.0.0.2') },
      other: { ...one, traps: traps('127.0.0.3') },
      third: { ...one, community: 'third', traps: traps('127.0.0.3') },
    },
  });
  await isRunning(hub);
  const send = (from: string, ...objects: readonly string[]) =>
    command(t, 'snmptrap', `--clientaddr=${from}`, ...community, `127.0.0.1:${port}`, '', linkDown, ...objects);
  await send('127.0.0.2', ...down(1));
  await has(hub, 'port/1/up', false);
  t.is(hub.find('other/port/1/up')!.value, undefined);
  await send('127.0.0.3', ...down(2));
  await eventually(() => hub.find('other/port/2/up')!.value === false, 'the trap of the other device');
  t.is(value(hub, 'port/2/up'), undefined);
  t.is(hub.find('third/port/2/up')!.value, undefined);
  t.is(refusedOf(hub, 'third'), 1);
  const before = refusedOf(hub) + refusedOf(hub, 'other');
  await send('127.0.0.4', ...down(2));
  await eventually(() => refusedOf(hub) + refusedOf(hub, 'other') === before + 1, 'a refused trap');
  t.is(value(hub, 'port/2/up'), undefined);
});

test('a trap of an agent that is also read sets the object at once, and everything is read again', async (t) => {
  const port = await freeUdpPort();
  const agent = await startAgent(t);
  const hub = await startTestHub(t, {
    connections: {
      it: {
        ...{ type: 'snmp', udp: `127.0.0.1:${agent.port}`, community: 'public', every: '1h' },
        traps: { listen: port, community: 'traps' },
        parameters: { level: { oid: `${base}.1.0` }, other: { oid: `${base}.6.0` } },
      },
    },
  });
  await has(hub, 'level', 5);
  await isRunning(hub);
  await agent.set('6.0', 'i', 77);
  await command(t, 'snmptrap', '-v2c', '-c', 'traps', `127.0.0.1:${port}`, '', linkDown, `${base}.1.0`, 'i', '9');
  await has(hub, 'other', 77);
  await has(hub, 'level', 5);
  t.is(refusedOf(hub), 0);
});

test('a flood of traps and garbage is bounded, and costs nothing else', async (t) => {
  const { hub, port, trap } = await start(t, { community: 'public' }, { perSecond: 50 });
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  for (let n = 0; n < 5000; n++) {
    const bytes = n % 3 === 0 ? Buffer.alloc(1000, n & 0xff) : Buffer.from('3080'.repeat(n % 500), 'hex');
    await new Promise((resolve) => socket.send(bytes, port, '127.0.0.1', resolve));
  }
  await eventually(() => refusedOf(hub) > 1000, 'refused packets');
  t.is(statusOf(hub, 'it').state, 'running');
  await eventually(async () => {
    await trap(community, linkDown, ...down(1));
    return value(hub, 'port/1/up') === false;
  }, 'a trap after the flood');
});

test('the trap that a real snmpd sends when it starts arrives', async (t) => {
  const port = await freeUdpPort();
  const coldStart = '1.3.6.1.6.3.1.1.5.1';
  const hub = await startTestHub(t, {
    connections: {
      it: {
        ...{ type: 'snmp', community: 'traps', traps: { listen: port, from: ['127.0.0.1'] } },
        parameters: { started: { trap: { [coldStart]: true } } },
      },
    },
  });
  await isRunning(hub);
  await startAgent(t, { more: `trap2sink 127.0.0.1:${port} traps` });
  await has(hub, 'started', true);
  t.is(refusedOf(hub), 0);
});

test('the port is taken over by the next connection after a reload, and by another hub when the first one ends', async (t) => {
  const { hub, port } = await start(t, { community: 'public' });
  const folder = await createFolder(t);
  const flow = {
    connections: {
      it: {
        type: 'snmp',
        community: 'public',
        traps: { listen: `127.0.0.1:${port}`, from: ['127.0.0.1'] },
        parameters,
      },
    },
  };
  const next = await startTestHub(t, flow);
  await isRunning(next); // both hubs are in this process, and share the port
  await hub.stop();
  await run('snmptrap', [...community, `127.0.0.1:${port}`, '', linkDown, ...down(1)], {
    env: environment(join(folder, 'snmp')),
  });
  await has(next, 'port/1/up', false);
  await next.stop();
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, '127.0.0.1', resolve);
  });
  socket.close();
  t.pass();
});
