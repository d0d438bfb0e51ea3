// The settings of a Modbus connection: how the hub reaches the devices or how clients reach the hub, and which registers correspond to
// which parameters.

import { z } from 'zod';
import type { Place } from '../../device/ports.ts';
import { valueClasses } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { lossSetting } from '../loss.ts';
import { listeningPlace, networksSetting, placeExpected, placeSetting, portSetting } from '../places.ts';
import { durationSetting, integerSetting } from '../setting.ts';
import type { Mode } from './frame.ts';

/** The data types of the values in registers. */
export const registerTypes = ['u16', 'i16', 'u32', 'i32', 'f32', 'text'] as const;
export type RegisterType = (typeof registerTypes)[number];

const bound = (about: string) => z.number({ error: 'a number' }).optional().describe(about);
const text = (about: string) => z.string({ error: 'text' }).optional().describe(about);
const addressSetting = (about: string) => integerSetting(0, 65_535).optional().describe(about);
const unitExpected = 'an integer 0..255, or text with variables such as "{u}"';
const unitSetting = () => z.union([integerSetting(0, 255), z.string({ error: unitExpected })], { error: unitExpected });
const wordOrderSetting = () => z.enum(['high-first', 'low-first'], { error: 'high-first or low-first' });

const parameterSchema = z.strictObject({
  coil: addressSetting('The address of the coil, counted from 0'),
  discrete: addressSetting('The address of the discrete input, counted from 0'),
  input: addressSetting('The address of the input register, counted from 0'),
  holding: addressSetting('The address of the holding register, counted from 0'),
  stride: integerSetting(1, 65_535)
    .optional()
    .describe('The distance between the addresses in a template; default: the size of the value'),
  unitId: unitSetting().optional().describe('The unit of the parameter; may contain variables from the ID: "{u}"'),
  as: z
    .enum(registerTypes, { error: `one of ${registerTypes.join(', ')}` })
    .default('u16')
    .describe('The type of the value: u16, i16, u32, i32, f32 or text; a value of 32 bits takes two registers'),
  length: integerSetting(1, 120)
    .optional()
    .describe('The length of the text in registers, each of which contains two characters'),
  bit: integerSetting(0, 15).optional().describe('The bit in the register; 0 is the lowest'),
  wordOrder: wordOrderSetting()
    .optional()
    .describe('Which of two registers comes first; default: as for the connection'),
  scale: z
    .number({ error: 'a number other than 0' })
    .refine((scale) => scale !== 0, { error: 'expected a number other than 0, got 0' })
    .default(1)
    .describe('The factor by which the number in the register is multiplied'),
  offset: z.number({ error: 'a number' }).default(0).describe('The number that is added after multiplying by `scale`'),
  unknownIf: z.number({ error: 'a number' }).optional().describe('The number in the register that means unknown'),
  access: z
    .enum(['read-only', 'write-only', 'read-write'], { error: 'one of read-only, write-only, read-write' })
    .optional()
    .describe('Default: read-write for coils and holding registers; write-only registers are never read'),
  confirm: z
    .enum(['read', 'answer'], { error: 'read or answer' })
    .optional()
    .describe('How a write is confirmed; default: as for the connection'),
  every: durationSetting(10).optional().describe('How often the parameter is read; default: as for the connection'),
  label: text('The display name'),
  unit: text('The unit of the value'),
  min: bound('The minimum value; lower values are refused'),
  max: bound('The maximum value; higher values are refused'),
  step: bound('The increment'),
  choices: record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('All values by name; other values are refused'),
  description: text('The purpose'),
  class: z
    .enum(valueClasses, { error: `one of ${valueClasses.join(', ')}` })
    .optional()
    .describe('state, meter or event; meters skip history and traces'),
});

export type ParameterSettings = z.output<typeof parameterSchema>;

const serialSchema = z.union(
  [
    z.string().min(1),
    z.strictObject({
      path: z.string().min(1).describe('The path, such as /dev/ttyUSB0'),
      baudRate: integerSetting(50, 4_000_000).default(19_200).describe('Bits per second'),
      dataBits: z.literal([7, 8]).default(8).describe('Data bits'),
      stopBits: z.literal([1, 2]).default(1).describe('Stop bits'),
      parity: z.enum(['none', 'even', 'odd']).default('even').describe('Parity'),
    }),
  ],
  { error: 'the path of a serial port, or { path, baudRate, parity }' },
);

export const settingsSchema = z
  .strictObject({
    tcp: placeSetting()
      .optional()
      .describe('Connect to the device or gateway at this host:port; the usual port is 502'),
    hosts: z
      .array(placeSetting(), { error: `a list of ${placeExpected}` })
      .max(16)
      .default([])
      .describe('Further addresses of the same device, tried in turn when the address in `tcp` does not answer'),
    serial: serialSchema
      .optional()
      .describe('Use a serial port: its path, or { path, baudRate, dataBits, stopBits, parity }'),
    listen: portSetting('Act as a server for clients over TCP on this port, or address:port'),
    server: z.boolean().default(false).describe('true: act as a server on the serial port instead of a client'),
    framing: z
      .enum(['tcp', 'rtu'], { error: 'tcp or rtu' })
      .optional()
      .describe(
        'tcp: with a Modbus TCP header; rtu: with a checksum, as some converters require. Default: tcp over TCP, rtu at a serial port',
      ),
    allowFrom: networksSetting('Which clients may connect to `listen`: addresses and networks; default: everyone'),
    unitId: integerSetting(0, 255)
      .default(1)
      .describe('The unit, which is also called the slave address or server address'),
    parameters: record(
      z.string().meta({ description: 'A Parameter ID; {n:1..32} and {side:L|R} stand for several IDs' }),
      parameterSchema,
    )
      .default({})
      .describe('The parameters, by ID, with their registers'),
    every: durationSetting(10).default(1000).describe('How often the parameters are read'),
    wordOrder: wordOrderSetting().default('high-first').describe('Which of two registers of a value comes first'),
    confirm: z
      .enum(['read', 'answer'], { error: 'read or answer' })
      .default('read')
      .describe('How a write is confirmed. read: the hub reads the value back; answer: the device accepts the write'),
    gap: integerSetting(0, 120)
      .default(8)
      .describe('How many unused registers may be read to combine two reads into one'),
    maxRegisters: integerSetting(1, 125)
      .default(125)
      .describe('How many registers can be read from the device at once'),
    writeSeveral: z
      .boolean()
      .default(false)
      .describe(
        'true: use functions 15 and 16 to write single items as well, for devices that do not support functions 5 and 6',
      ),
    window: integerSetting(1, 16).default(1).describe('How many requests may wait for answers over TCP'),
    timeout: durationSetting(10, 60_000).default(1000).describe('How long an answer may take'),
    retries: integerSetting(0, 10).default(1).describe('How many times a request without an answer is sent again'),
    spacing: durationSetting(0, 10_000)
      .optional()
      .describe('The pause before each request; default: 0 over TCP, otherwise 5 ms'),
    connectTimeout: durationSetting(100, 60_000)
      .default(5000)
      .describe('How long an attempt to connect over TCP may take'),
    idleTimeout: durationSetting(100)
      .optional()
      .describe('A server: how long clients may be silent before the values are stale; default: no limit'),
    requestsPerSecond: integerSetting(1, 1_000_000)
      .default(10_000)
      .describe('A server: how many requests are answered per second; further requests are refused and counted'),
    onLoss: lossSetting('the device'),
    simulate: z.boolean().default(false).describe('true: run without a device; every write is confirmed immediately'),
  })
  .superRefine(({ tcp, serial, listen, hosts, server, framing }, context) => {
    const add = (message: string) => context.addIssue({ code: 'custom', message });
    if ([tcp, serial, listen].filter((way) => way !== undefined).length !== 1)
      add('expected exactly one of `tcp`, `serial` and `listen`');
    else if (hosts !== undefined && hosts.length > 0 && tcp === undefined) add('expected `hosts` only if `tcp` is set');
    else if (server === true && serial === undefined) add('expected `server` only if `serial` is set');
    else if (framing !== undefined && tcp === undefined) add('expected `framing` only if `tcp` is set');
  });

export type ModbusSettings = z.output<typeof settingsSchema>;

export function isServer({ listen, server }: ModbusSettings): boolean {
  return listen !== undefined || server;
}

export function modeOf({ serial, framing }: ModbusSettings): Mode {
  return framing ?? (serial === undefined ? 'tcp' : 'rtu');
}

/** Returns the local address on which a server listens, or undefined if the connection is not a server. */
export function listenPlace({ listen }: ModbusSettings): Place | undefined {
  return listen === undefined ? undefined : listeningPlace(listen, []);
}

/** Returns the serial port and its settings, or undefined if the connection uses no serial port. */
export function serialTarget({ serial }: ModbusSettings) {
  if (serial === undefined) return undefined;
  const usual = { baudRate: 19_200, dataBits: 8, stopBits: 1, parity: 'even' } as const;
  return typeof serial === 'string' ? { path: serial, ...usual } : serial;
}
