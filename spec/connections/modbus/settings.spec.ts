// The settings of modbus: what they mean in tests of flow files in virtual time, what is wrong with them and where, and the values in registers.

import { Ajv2020 } from 'ajv/dist/2020.js';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import {
  decodeFrame,
  encodeFrame,
  MbapFramer,
  RtuFramer,
  readFrame,
  showFrame,
} from '../../../lib/connections/modbus/frame.ts';
import {
  acceptValue,
  blocksOf,
  decodeRegisters,
  encodeRegisters,
  type Item,
  itemsOf,
} from '../../../lib/connections/modbus/registers.ts';
import { type ModbusSettings, settingsSchema } from '../../../lib/connections/modbus/settings.ts';
import { flowFileJsonSchema } from '../../../lib/flow/check/schema.ts';
import { loadFlows } from '../../../lib/hub/index.ts';
import { runFlowTests } from '../../../lib/testing/run-tests.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { createFolder } from '../../support/folder.ts';

async function run(t: ExecutionContext, settings: object, steps: object[]): Promise<void> {
  const flow = {
    connections: { it: { type: 'modbus', ...settings } },
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

test('a device is read regularly, and a write is read back until it is confirmed', async (t) => {
  const parameters = { 'reg/{n:1..2}': { holding: 10 } };
  await run(t, { tcp: '10.0.0.1:502', every: '10s', spacing: 0, parameters }, [
    { sent: '1 read holding 10 2' },
    { receive: '1 read holding = 0001 0002', expect: { 'it/reg/1': 1, 'it/reg/2': 2 }, stale: false },
    { at: '1s', set: { 'it/reg/2': 7 }, sent: '1 write holding 11 = 0007', wanted: { 'it/reg/2': 7 } },
    { receive: '1 write holding 11 = 0007', sent: '1 read holding 10 2' },
    { receive: '1 read holding = 0001 0002', wanted: { 'it/reg/2': 7 }, expect: { 'it/reg/2': 2 } },
    { at: '2s', sent: '1 read holding 10 2' },
    { receive: '1 read holding = 0001 0007', wanted: { 'it/reg/2': null }, expect: { 'it/reg/2': 7 } },
    { at: '10s', sent: '1 read holding 10 2' },
  ]);
});

test('silence makes values stale, after one more try; the link is opened again', async (t) => {
  await run(t, { tcp: '10.0.0.1:502', every: '5s', spacing: 0, parameters: { reg: { holding: 1 } } }, [
    { receive: '1 read holding = 0005', expect: { 'it/reg': 5 } },
    { at: '5s', sent: ['1 read holding 1 1', '1 read holding 1 1'] },
    { at: '6s', sent: '1 read holding 1 1' },
    { at: '7s', stale: true, expect: { 'it/reg': 5 } },
  ]);
});

test('a refused write says so, and the value stays', async (t) => {
  await run(t, { tcp: '10.0.0.1:502', every: '60s', spacing: 0, parameters: { lamp: { coil: 3 } } }, [
    { receive: '1 read coil = 00', expect: { 'it/lamp': false } },
    { at: '1s', set: { 'it/lamp': true }, sent: '1 write coil 3 = on', wanted: { 'it/lamp': true } },
    { receive: '1 write coil ! 4', wanted: { 'it/lamp': null }, expect: { 'it/lamp': false } },
  ]);
});

for (const [settings, mistake] of [
  ["tcp: '10.0.0.1:502', listen: 502", /expected exactly one of `tcp`, `serial` and `listen`/],
  ['every: 1000', /expected exactly one of `tcp`, `serial` and `listen`/],
  ["tcp: '10.0.0.1'", /tcp: expected host:port/],
  ["listen: 1, hosts: ['10.0.0.1:1']", /expected `hosts` only if `tcp` is set/],
  ['listen: 1, server: true', /expected `server` only if `serial` is set/],
  ['listen: 1, parameters: { a: { } }', /expected exactly one of `coil`, `discrete`, `input` and `holding`/],
  [
    'listen: 1, parameters: { a: { coil: 1, input: 2 } }',
    /expected exactly one of `coil`, `discrete`, `input` and `holding`/,
  ],
  [
    'listen: 1, parameters: { a: { coil: 1, scale: 2 } }',
    /expected no `as`, `length`, `scale`, `offset` or `unknownIf` for a bit/,
  ],
  ["listen: 1, parameters: { a: { holding: 1, as: 'text' } }", /expected `length` if `as` is "text", and only then/],
  ["listen: 1, parameters: { a: { holding: 65535, as: 'f32' } }", /expected addresses up to 65535/],
  [
    "tcp: 'a:1', parameters: { a: { input: 1, access: 'read-write' } }",
    /expected `access` to be read-only for `input`/,
  ],
  ["tcp: 'a:1', parameters: { a: { holding: 1, as: 'u8' } }", /as: (?:expected )?one of u16, i16, u32, i32, f32, text/],
  ["tcp: 'a:1', parameters: { a: { holding: 1, scale: 0 } }", /expected a number other than 0/],
  [
    "tcp: 'a:1', parameters: { 'u{u:255..256}/a': { holding: 1, unitId: '{u}' } }",
    /expected an integer 0\.\.255, got "256"/,
  ],
  ["tcp: 'a:1', parameters: { a: { holding: 1, unitId: '{u}' } }", /unknown variable "u"/],
] as const)
  test(`the settings ${settings} are refused`, async (t) => {
    const folder = await createFolder(t, {
      'flow.json5': `{ connections: {\n it: { type: 'modbus', ${settings} } } }`,
    });
    const error = await t.throwsAsync(loadFlows([folder]));
    t.regex(error!.message, mistake);
  });

test('the JSON Schema accepts and refuses what the check does', (t) => {
  const validate = new Ajv2020({ strict: false, logger: false }).compile(flowFileJsonSchema(connectionTypes));
  const isValid = (settings: object) => validate({ connections: { it: { type: 'modbus', ...settings } } });
  t.true(isValid({ tcp: '10.0.0.1:502', parameters: { 'a/{n:1..3}': { holding: 1, as: 'f32', every: '2s' } } }));
  t.true(isValid({ serial: { path: '/dev/ttyUSB0', baudRate: 9600 }, parameters: { a: { coil: 0, unitId: 3 } } }));
  t.false(isValid({ tcp: '10.0.0.1:502', parameters: { a: { holdin: 1 } } }));
  t.false(isValid({ tcp: '10.0.0.1:502', window: 17 }));
});

const itemOf = (parameter: object): Item => {
  const settings = settingsSchema.parse({ tcp: 'a:1', parameters: { a: parameter } }) as ModbusSettings;
  return itemsOf(settings).list[0]!;
};

for (const [parameter, registers, value] of [
  [{ as: 'u16' }, 'ffff', 65_535],
  [{ as: 'i16' }, 'fffe', -2],
  [{ as: 'u32' }, '80000001', 0x8000_0001],
  [{ as: 'i32' }, 'fffffffe', -2],
  [{ as: 'i32', wordOrder: 'low-first' }, 'fffeffff', -2],
  [{ as: 'f32' }, '3dcccccd', 0.1],
  [{ as: 'f32', wordOrder: 'low-first' }, 'cccd3dcc', 0.1],
  [{ as: 'i16', scale: 0.1 }, 'ff85', -12.3],
  [{ as: 'u16', scale: 0.01, offset: -40 }, '1770', 20],
  [{ as: 'u16', scale: 10 }, '000c', 120],
  [{ as: 'text', length: 3 }, '414243000000', 'ABC'],
] as const)
  test(`${JSON.stringify(parameter)}: the registers ${registers} are ${value}`, (t) => {
    const item = itemOf({ holding: 0, ...parameter });
    t.is(decodeRegisters(item, Buffer.from(registers, 'hex'), 0), value);
    t.is(encodeRegisters(item, value).toString('hex'), registers);
    t.is(acceptValue(item, value), value);
  });

test('every item is read once, in blocks that a device permits', (t) => {
  const item = fc.record({ address: fc.nat(3000), width: fc.constantFrom(1, 2, 20), unitId: fc.constantFrom(1, 2) });
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 200 }),
      fc.nat(20),
      fc.integer({ min: 20, max: 125 }),
      (some, gap, most) => {
        const items = some.map((one, index) => ({ ...itemOf({ holding: 0 }), ...one, id: `${index}` }));
        const blocks = blocksOf(items, gap, most);
        t.is(
          blocks.reduce((sum, block) => sum + block.items.length, 0),
          items.length,
        );
        for (const block of blocks) {
          t.true(block.count <= most);
          for (const { address, width, unitId } of block.items)
            t.true(
              unitId === block.unitId && address >= block.address && address + width <= block.address + block.count,
            );
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('frames are found in a stream of any pieces, with garbage between those of RTU', (t) => {
  const texts = ['1 read holding = 00eb 0001', '2 write holding 10 = 0005', '3 read coil ! 2', '4 write holding 7 +3'];
  const noise = fc.uint8Array({ maxLength: 20 });
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...texts), { maxLength: 10 }),
      fc.integer({ min: 1, max: 9 }),
      noise,
      (sent, piece, garbage) => {
        for (const mode of ['tcp', 'rtu'] as const) {
          const framer = mode === 'tcp' ? new MbapFramer() : new RtuFramer('answers', () => {});
          if (mode === 'rtu') {
            framer.push(Buffer.from(garbage));
            (framer as RtuFramer).reset();
          }
          const bytes = Buffer.concat(sent.map((text) => encodeFrame(mode, { transaction: 1, ...readFrame(text) })));
          const got: string[] = [];
          for (let at = 0; at < bytes.length; at += piece)
            for (const frame of framer.push(bytes.subarray(at, at + piece))) {
              t.not(typeof decodeFrame(mode, frame), 'string');
              got.push(showFrame(frame).replace(/! .*exception (\d+)\)/, '! $1'));
            }
          t.deepEqual(got, sent);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('garbage never throws, except where a stream of TCP has lost its synchronization', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (garbage) => {
      const bytes = Buffer.from(garbage);
      for (const reads of ['requests', 'answers'] as const)
        t.true(new RtuFramer(reads, () => {}).push(bytes).length < 150);
      for (const mode of ['tcp', 'rtu'] as const) decodeFrame(mode, bytes);
      showFrame(bytes);
      try {
        new MbapFramer().push(bytes);
      } catch (error) {
        t.regex((error as Error).message, /expected Modbus TCP frames/);
      }
    }),
    { numRuns: 1000 },
  );
});
