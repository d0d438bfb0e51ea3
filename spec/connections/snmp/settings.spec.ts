// The settings of snmp: what they mean in tests of flow files in virtual time, what is wrong with them and where; messages, keys and values.

import { createHmac } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { communityEnvelope, UserSession } from '../../../lib/connections/snmp/envelope.ts';
import {
  compareOids,
  decodeOid,
  encodeOid,
  integerBytes,
  integerOf,
  isOid,
  readMessage,
  showMessage,
  tags,
} from '../../../lib/connections/snmp/message.ts';
import { acceptValue, decodeValue, encodeValue, type Item, itemsOf } from '../../../lib/connections/snmp/objects.ts';
import { settingsSchema } from '../../../lib/connections/snmp/settings.ts';
import { EngineClock, User } from '../../../lib/connections/snmp/usm.ts';
import { readFirst } from '../../../lib/device/ber.ts';
import { flowFileJsonSchema } from '../../../lib/flow/check/schema.ts';
import { loadFlows } from '../../../lib/hub/index.ts';
import { runFlowTests } from '../../../lib/testing/run-tests.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { createFolder } from '../../support/folder.ts';

async function run(t: ExecutionContext, settings: object, steps: object[]): Promise<void> {
  const flow = {
    connections: { it: { type: 'snmp', ...settings } },
    tests: [{ name: 'it', steps }],
  };
  const folder = await createFolder(t, { 'flow.json5': flow });
  let count = 0;
  for await (const result of runFlowTests([`${folder}/flow.json5`])) {
    count++;
    t.true(result.isPassed, result.timeline);
  }
  t.is(count, 1);
}

const device = { udp: '10.0.0.1:161', community: 'public' };

test('a device is read regularly, and a write is read back until it is confirmed', async (t) => {
  const parameters = { 'v/{n:1..2}': { oid: '1.3.6.1.4.1.9.{n}.0', access: 'read-write' } };
  const ask = 'get 1.3.6.1.4.1.9.1.0, 1.3.6.1.4.1.9.2.0';
  const answer = (second: number) => `response 1.3.6.1.4.1.9.1.0 = 1, 1.3.6.1.4.1.9.2.0 = ${second}`;
  await run(t, { ...device, every: '10s', parameters }, [
    { sent: ask },
    { receive: answer(2), expect: { 'it/v/1': 1, 'it/v/2': 2 }, stale: false },
    { at: '1s', set: { 'it/v/2': 7 }, sent: 'set 1.3.6.1.4.1.9.2.0 = 7', wanted: { 'it/v/2': 7 } },
    { receive: 'response 1.3.6.1.4.1.9.2.0 = 7', sent: ask },
    { receive: answer(2), wanted: { 'it/v/2': 7 }, expect: { 'it/v/2': 2 } },
    { at: '2s', sent: ask },
    { receive: answer(7), wanted: { 'it/v/2': null }, expect: { 'it/v/2': 7 } },
    { at: '3s', set: { 'it/v/1': 9 }, sent: 'set 1.3.6.1.4.1.9.1.0 = 9' },
    { receive: 'response ! wrongValue 1 1.3.6.1.4.1.9.1.0 = 9', wanted: { 'it/v/1': null }, expect: { 'it/v/1': 1 } },
    { at: '10s', sent: ask },
  ]);
});

test('silence makes values stale: the last attempt asks for less, and the link is opened again', async (t) => {
  const parameters = { 'v/{n:1..2}': { oid: '1.3.6.1.4.1.9.{n}' } };
  const ask = 'get 1.3.6.1.4.1.9.1, 1.3.6.1.4.1.9.2';
  await run(t, { ...device, every: '5s', timeout: '1s', retries: 2, parameters }, [
    { receive: 'response 1.3.6.1.4.1.9.1 = 1, 1.3.6.1.4.1.9.2 = 2', expect: { 'it/v/2': 2 } },
    { at: '7s', sent: [ask, ask, ask, 'get 1.3.6.1.2.1.1.3.0'], stale: false },
    { at: '8s', stale: true, expect: { 'it/v/2': 2 } },
    { at: '9s', sent: ask },
    { receive: 'response 1.3.6.1.4.1.9.1 = 1, 1.3.6.1.4.1.9.2 = 3', stale: false, expect: { 'it/v/2': 3 } },
  ]);
});

test('a device that answers small requests alone is asked for less at once', async (t) => {
  const parameters = { 'v/{n:1..2}': { oid: '1.3.6.1.4.1.9.{n}' } };
  const ask = 'get 1.3.6.1.4.1.9.1, 1.3.6.1.4.1.9.2';
  await run(t, { ...device, every: '1m', retries: 1, parameters }, [
    { at: '1s', sent: [ask, 'get 1.3.6.1.2.1.1.3.0'] },
    { receive: 'response 1.3.6.1.2.1.1.3.0 = ticks 5', stale: false, sent: 'get 1.3.6.1.4.1.9.1' },
    { receive: 'response 1.3.6.1.4.1.9.1 = 1', sent: 'get 1.3.6.1.4.1.9.2' },
    { receive: 'response 1.3.6.1.4.1.9.2 = 2', expect: { 'it/v/1': 1, 'it/v/2': 2 } },
  ]);
});

test('a table is walked, and rates are per second by the clock of the device', async (t) => {
  const tables = {
    'if/{index}': {
      columns: {
        name: { oid: '1.3.6.1.2.1.2.2.1.2', as: 'text' },
        in: { oid: '1.3.6.1.2.1.2.2.1.10', as: 'counter32', rate: true },
      },
    },
  };
  const settings = { ...device, every: '10s', expect: ['if/1/in,F', 'if/2/name,S'], tables };
  const row = (n: number, octets: number) =>
    `1.3.6.1.2.1.2.2.1.2.${n} = "eth${n}", 1.3.6.1.2.1.2.2.1.10.${n} = counter32 ${octets}`;
  const end = '1.3.6.1.2.1.2.2.1.3.1 = 6, 1.3.6.1.2.1.2.2.1.11.1 = counter32 5';
  const ask = 'bulk 1 20 1.3.6.1.2.1.1.3, 1.3.6.1.2.1.2.2.1.2, 1.3.6.1.2.1.2.2.1.10';
  const up = (ticks: number) => `1.3.6.1.2.1.1.3.0 = ticks ${ticks}`;
  await run(t, settings, [
    { sent: ask },
    {
      receive: `response ${up(100)}, ${row(1, 4_294_967_000)}`,
      sent: 'bulk 1 20 1.3.6.1.2.1.1.3, 1.3.6.1.2.1.2.2.1.2.1, 1.3.6.1.2.1.2.2.1.10.1',
    },
    { receive: `response ${up(900)}, ${row(2, 0)}, ${end}`, expect: { 'it/if/2/name': 'eth2' } },
    { at: '10s', sent: ask },
    { receive: `response ${up(1100)}, ${row(1, 704)}, ${end}`, expect: { 'it/if/1/in': 100 } },
  ]);
});

test('a trap moves what it concerns, over the transport of a test', async (t) => {
  const parameters = {
    up: { trap: { '1.3.6.1.6.3.1.1.5.3': false, '1.3.6.1.6.3.1.1.5.4': true } },
    name: { trap: '1.3.6.1.6.3.1.1.5.3', oid: '1.3.6.1.2.1.2.2.1.2', as: 'text' },
  };
  const traps = { listen: 162, from: ['10.0.0.1'] };
  await run(t, { community: 'public', traps, parameters }, [
    {
      receive: 'trap 1.3.6.1.6.3.1.1.5.3, 1.3.6.1.2.1.2.2.1.2.4 = "eth4"',
      expect: { 'it/up': false, 'it/name': 'eth4' },
    },
    { receive: 'inform 1.3.6.1.6.3.1.1.5.4', expect: { 'it/up': true } },
  ]);
  const level = { ...parameters, level: { oid: '1.3.6.1.4.1.9.1' } };
  await run(t, { ...device, every: '1m', traps, parameters: level }, [
    { receive: 'response 1.3.6.1.4.1.9.1 = 1', expect: { 'it/level': 1 } },
    { at: '5s', receive: 'trap 1.3.6.1.6.3.1.1.5.3, 1.3.6.1.4.1.9.1 = 4', expect: { 'it/up': false, 'it/level': 4 } },
  ]);
});

const faultOf = async (t: ExecutionContext, settings: object) => {
  const folder = await createFolder(t, { 'flow.json5': { connections: { it: { type: 'snmp', ...settings } } } });
  const error = await t.throwsAsync(loadFlows([`${folder}/flow.json5`]));
  return error!.message;
};

test('a mistake in the settings says what and where', async (t) => {
  const ok = { oid: '1.3.6.1.2.1.1.5.0' };
  const trap = '1.3.6.1.6.3.1.1.5.3';
  const cases: readonly (readonly [settings: object, message: RegExp])[] = [
    [{ community: 'x' }, /expected `udp`, `traps`, or both/],
    [{ udp: '10.0.0.1:161' }, /expected exactly one of `community`, for SNMPv2c, and `user`, for SNMPv3/],
    [{ traps: { listen: 162 }, community: 'x' }, /expected `traps\.from`/],
    [{ traps: { listen: 162, from: ['10.0.0.1'] } }, /expected `community` or `user`/],
    [
      { ...device, parameters: { x: { oid: '1.3.6.1.{n}' } } },
      /parameters\.x\.oid.*expected only variables from the Parameter ID, got "\{n\}"/s,
    ],
    [
      { ...device, parameters: { x: { oid: 'sysName.0' } } },
      /expected an OID such as '1\.3\.6\.1\.2\.1\.1\.5\.0', got "sysName\.0"/,
    ],
    [{ ...device, parameters: { x: {} } }, /expected `oid`, `trap`, or both/],
    [{ ...device, parameters: { x: { trap } } }, /expected the connection to set `traps`/],
    [{ ...device, parameters: { x: { ...ok, as: 'text', scale: 2 } } }, /expected no `scale` or `offset` for text/],
    [
      { ...device, parameters: { x: { ...ok, as: 'text', rate: true } } },
      /expected `rate` only for integers and counters/,
    ],
    [{ ...device, parameters: { x: { ...ok, where: { [trap]: 1 } } } }, /expected `where` only if `trap` is set/],
    [
      { ...device, traps: { listen: 162 }, parameters: { x: { trap: { [trap]: 1, '1.3.6.1.6.3.1.1.5.4': true } } } },
      /expected values of the same type/,
    ],
    [{ ...device, tables: { port: { columns: { x: ok } } } }, /expected \{index\} once in the ID of a table/],
    [{ ...device, tables: { 'p/{index}': { columns: { x: ok }, labels: 'name' } } }, /labels.*name/s],
    [{ ...device, expect: ['p/1/x,I'] }, /expected a table parameter, got "p\/1\/x"/],
    [
      { ...device, tables: { 'p/{index}': { columns: { x: ok } } }, expect: ['p/1/x,S'] },
      /expected the value type I for "p\/1\/x", got S/,
    ],
    [
      { udp: '10.0.0.1:161', user: { name: 'x', auth: 'sha', password: 'short' } },
      /expected a password of at least 8 characters/,
    ],
    [{ udp: '10.0.0.1:161', user: { name: 'x', priv: 'aes' } }, /expected `auth`, because `priv` is set/],
  ];
  for (const [settings, message] of cases) t.regex(await faultOf(t, settings), message);
});

test('the JSON Schema of flow files accepts what the schema does', (t) => {
  const validate = new Ajv2020({ strict: false }).compile(flowFileJsonSchema(connectionTypes));
  const valid = (settings: object) => validate({ connections: { it: { type: 'snmp', ...settings } } });
  t.true(valid({ ...device, parameters: { x: { oid: '1.3.6.1.2.1.1.5.0' } } }), JSON.stringify(validate.errors));
  t.true(valid({ udp: '10.0.0.1:161', user: { name: 'x', auth: 'sha256', password: { env: 'X' } } }));
  t.false(valid({ ...device, parameters: { x: { object: '1.3' } } }));
});

function itemOf(settings: object): Item {
  const parsed = settingsSchema.parse({ ...device, parameters: { x: { oid: '1.3.6.1.4.1.9.1', ...settings } } });
  const { list, mistakes } = itemsOf(parsed);
  if (list.length !== 1) throw new Error(JSON.stringify(mistakes));
  return list[0]!;
}

test('values are written and read as they are, or refused', (t) => {
  const write = { access: 'read-write' };
  const back = (item: Item, value: unknown) =>
    decodeValue(item, { oid: item.oid, ...encodeValue(item, acceptValue(item, value)) }).value;
  const integer = itemOf(write);
  fc.assert(fc.property(fc.integer(), (value) => back(integer, value) === value));
  const unsigned = itemOf({ ...write, as: 'unsigned' });
  fc.assert(fc.property(fc.nat(0xffff_ffff), (value) => back(unsigned, value) === value));
  const long = itemOf({ ...write, as: 'counter64' });
  fc.assert(fc.property(fc.maxSafeNat(), (value) => back(long, value) === value));
  const text = itemOf({ ...write, as: 'text' });
  t.is(back(text, 'grün'), 'grün');
  t.is(back(itemOf({ ...write, as: 'hex' }), '00:1A ff'), '001aff');
  t.is(back(itemOf({ ...write, as: 'ip' }), '10.0.0.255'), '10.0.0.255');
  t.is(back(itemOf({ ...write, as: 'oid' }), '1.3.6.4294967295'), '1.3.6.4294967295');
  t.is(back(itemOf({ ...write, as: 'float' }), 1.1), 1.1);
  t.is(back(itemOf({ ...write, as: 'boolean' }), true), true);
  t.is(back(itemOf({ ...write, scale: 0.1 }), 21.54), 21.5);
  const named = itemOf({ ...write, choices: { up: 1, down: 2 } });
  t.is(back(named, 'down'), 2);
  const refused: readonly (readonly [settings: object, value: unknown, message: RegExp])[] = [
    [{}, 2 ** 31, /expected -2147483648 to 2147483647, got 2147483648/],
    [{ as: 'unsigned' }, -1, /expected 0 to 4294967295, got -1/],
    [{ scale: 1e-300 }, 1e300, /expected -2\.147483648e-291 to/],
    [{ as: 'ip' }, '10.0.0.256', /expected an IPv4 address/],
    [{ as: 'hex' }, '0', /expected at most 1400 bytes in hexadecimal/],
    [{ as: 'oid' }, '3.1', /expected an OID/],
    [{ as: 'text' }, 'x'.repeat(1401), /expected text of at most 1400 bytes/],
    [{ choices: { up: 1 } }, 3, /expected one of up, got 3/],
  ];
  for (const [settings, value, message] of refused)
    t.throws(() => acceptValue(itemOf({ ...write, ...settings }), value), { message });
});

test('a number that would not be exact is unknown, and text has all of its digits', (t) => {
  const varbind = { oid: '1.3', tag: tags.counter64, bytes: integerBytes(2n ** 64n - 1n) };
  t.is(decodeValue(itemOf({ as: 'text' }), varbind).value, '18446744073709551615');
  t.regex(decodeValue(itemOf({ as: 'counter64' }), varbind).fault!, /exceeds 2\^53/);
  t.is(integerOf({ ...varbind, bytes: Buffer.from('ffffffffffffffff', 'hex') }), 2n ** 64n - 1n, 'without a leading 0');
  t.is(integerOf({ ...varbind, tag: tags.integer, bytes: Buffer.from('ff', 'hex') }), -1n);
  t.is(integerOf({ ...varbind, bytes: Buffer.alloc(10) }), undefined);
});

test('OIDs are the same after both conversions, and in the order of devices', (t) => {
  const arc = fc.nat(0xffff_ffff);
  fc.assert(
    fc.property(fc.constantFrom(0, 1, 2), fc.nat(39), fc.array(arc, { maxLength: 20 }), (first, second, arcs) => {
      const oid = [first, second, ...arcs].join('.');
      t.true(isOid(oid));
      t.is(decodeOid(encodeOid(oid)), oid);
    }),
  );
  t.is(encodeOid('1.3.6.1.4.1.99999').toString('hex'), '2b06010401868d1f');
  for (const wrong of ['', '1', '3.1', '1.40', '1..3', '1.3.4294967296', '1.03', 'a.b']) t.false(isOid(wrong), wrong);
  t.true(compareOids('2', '10') < 0 && compareOids('1.2', '1') > 0 && compareOids('4', '4') === 0);
});

test('messages are the same as text and as bytes', (t) => {
  for (const text of [
    'get 1.3.6.1.2.1.1.5.0, 1.3.6.1.2.1.1.3.0',
    'bulk 1 20 1.3.6.1.2.1.1.3, 1.3.6.1.2.1.2.2.1.2',
    'set 1.3.6.1.2.1.1.5.0 = "a, \\"b\\" = 5"',
    'response 1.3.1 = -5, 1.3.2 = counter32 4294967295, 1.3.3 = hex 00ff, 1.3.4 = oid 1.3.6, 1.3.5 = ip 10.0.0.1',
    'response 1.3.1 = noSuchObject, 1.3.2 = endOfMibView, 1.3.3 = counter64 18446744073709551615, 1.3.4 = ticks 5',
    'response ! tooBig 0 1.3.6',
    'trap 1.3.6.1.6.3.1.1.5.3, 1.3.6.1.2.1.2.2.1.8.3 = 2',
    'inform 1.3.6.1.6.3.1.1.5.1',
    'report 1.3.6.1.6.3.15.1.1.4.0 = counter32 1',
  ])
    t.is(showMessage(readMessage(text)), text);
  for (const wrong of ['', 'say 1.3', 'get sysName', 'response 1.3 = maybe 5', 'trap', 'response 1.3 = counter32 x'])
    t.throws(() => readMessage(wrong), { message: /^expected / }, wrong);
});

const hmac = (hash: string, key: string) =>
  createHmac(hash, Buffer.from(key, 'hex')).digest().subarray(0, 12).toString('hex');

test('the keys of a password are those of RFC 3414, A.3', (t) => {
  const engineId = Buffer.from('000000000000000000000002', 'hex');
  const digestBy = (auth: 'md5' | 'sha') =>
    new User({ name: 'x', auth, password: 'maplesyrup', privPassword: '', context: '' }).digest(
      engineId,
      Buffer.alloc(0),
    );
  // The HMAC of nothing with the localized keys 526f5eed9fcce26f8964c2930787d82b and 6695febc9288e36282235fc7151f128497b38f3f.
  t.is(digestBy('md5').toString('hex'), hmac('md5', '526f5eed9fcce26f8964c2930787d82b'));
  t.is(digestBy('sha').toString('hex'), hmac('sha1', '6695febc9288e36282235fc7151f128497b38f3f'));
});

test('the clock of an engine accepts what is timely, and nothing that was there before', (t) => {
  const clock = new EngineClock();
  clock.set(3, 1000, 0);
  t.true(clock.accepts(3, 1000, 0));
  t.true(clock.accepts(3, 860, 0), 'delayed by 140 s');
  t.false(clock.accepts(3, 840, 0));
  t.false(clock.accepts(2, 5000, 0), 'before its restart');
  t.false(clock.accepts(3, 1000, 200_000), 'the clock has gone on');
  t.true(clock.accepts(4, 1, 200_000), 'it was restarted');
  t.is(clock.timeS(205_000), 6);
  t.false(clock.accepts(0x7fff_ffff, 1, 300_000), 'an engine that can no longer be restarted');
});

test('garbage, cut and changed messages are refused with a sentence or read', (t) => {
  const user = new User({ name: 'x', auth: 'sha', password: 'password', priv: 'aes', privPassword: '', context: '' });
  const message = readMessage('response 1.3.6.1.2.1.1.5.0 = "ups", 1.3.6.1.2.1.1.3.0 = ticks 5');
  const envelopes = [communityEnvelope('public'), new UserSession(user, () => 0)];
  const whole = envelopes.map((envelope) => envelope.wrap(message, 5));
  const isRead = (bytes: Buffer) => {
    t.is(typeof showMessage(bytes), 'string');
    for (const envelope of envelopes)
      try {
        const answer = envelope.unwrap(bytes, () => true);
        if (typeof answer === 'string') t.regex(answer, /^expected /);
      } catch (error) {
        t.regex((error as Error).message, /^expected /);
        t.is((error as Error).constructor, Error);
      }
  };
  for (const bytes of whole)
    for (let at = 0; at < bytes.length; at++) {
      isRead(bytes.subarray(0, at));
      for (const mask of [0x01, 0x15, 0x80, 0xff]) isRead(Buffer.from(bytes.with(at, bytes[at]! ^ mask)));
    }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (garbage) => isRead(Buffer.from(garbage))));
  t.is(readFirst(whole[0]!).items.length, 3);
});
