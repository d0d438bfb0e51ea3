// The settings of an OSC connection: how packets are received and sent, and which OSC addresses correspond to which parameters.

import { z } from 'zod';
import type { Place } from '../../device/ports.ts';
import { messageOf } from '../../model/error.ts';
import { valueClasses } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { valueTypes } from '../../model/value.ts';
import { lossSetting } from '../loss.ts';
import { listeningPlace, networksSetting, placeExpected, placeSetting, portSetting, readPlace } from '../places.ts';
import { durationSetting, integerSetting } from '../setting.ts';
import { readPacket } from './packet.ts';

/** The maximum number of destinations for UDP packets. */
const maxPlaces = 32;

const shownTag = '[ifsSbTdhtcrm]';
const argumentExpected =
  'a type tag such as "f", a named one such as "x:f", a number, true or false, { s: "text" }, or a bracket';
const argumentSetting = z.union(
  [
    z
      .string({ error: argumentExpected })
      .regex(new RegExp(`^(?:(?:[^\\s/:{}]+:)?${shownTag}|\\[|\\])$`), { error: argumentExpected }),
    z.number(),
    z.boolean(),
    z
      .strictObject(
        Object.fromEntries(
          ['i', 'f', 's', 'S', 'b', 'd', 'h', 't', 'c', 'r', 'm'].map((tag) => [
            tag,
            z
              .union([z.string(), z.number()])
              .optional()
              .describe(`A constant with the type tag ${tag}; text may contain the variables of the Parameter ID`),
          ]),
        ),
      )
      .refine((constant) => Object.values(constant).filter((value) => value !== undefined).length === 1, {
        error: 'expected a constant with one type tag, such as { s: "text" }',
      }),
    z.strictObject({ N: z.literal(true).describe('The argument nil') }),
    z.strictObject({ I: z.literal(true).describe('The argument impulse') }),
  ],
  { error: argumentExpected },
);

const bound = (about: string) => z.number({ error: 'a number' }).optional().describe(about);
const text = (about: string) => z.string({ error: 'text' }).optional().describe(about);

const parameterSchema = z.strictObject({
  address: z
    .string({ error: 'an OSC address such as "/ch/{n}/mix/fader"' })
    .describe('The OSC address, with the variables of the Parameter ID: /ch/{n}/mix/fader, or {n:00} with two digits'),
  type: z
    .enum(valueTypes, { error: `one of ${valueTypes.join(', ')}` })
    .optional()
    .describe('The value type; default: the type of the argument, or T without an argument'),
  args: z
    .union([argumentSetting, z.array(argumentSetting).max(64)], {
      error: `${argumentExpected}, or a list of them`,
    })
    .optional()
    .describe('The arguments of the messages: a type tag, or a list of tags, named parts and constants'),
  arg: integerSetting(0, 1023).optional().describe('Reads only the argument at this position, counted from 0'),
  access: z
    .enum(['read-only', 'write-only', 'read-write'], { error: 'one of read-only, write-only, read-write' })
    .optional()
    .describe('read-only: only received; write-only: only sent; default: both'),
  confirm: z
    .enum(['none', 'echo', 'ask'], { error: 'one of none, echo, ask' })
    .optional()
    .describe('How a write is confirmed; default: as for the connection'),
  ask: z
    .union([z.boolean(), durationSetting(10)], { error: 'true, false, or a duration such as "10s"' })
    .default(false)
    .describe(
      'Asks for the value after each connect by sending the address without arguments; a duration: also at this interval',
    ),
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
export type ArgumentSetting = z.output<typeof argumentSetting>;

const globs = (about: string) =>
  z
    .array(z.string({ error: 'a glob of addresses such as "desk/**"' }).min(1), {
      error: 'a list of globs of addresses',
    })
    .max(1000)
    .default([])
    .describe(about);

export const settingsSchema = z
  .strictObject({
    udp: z
      .union([placeSetting(), z.array(placeSetting()).min(1).max(maxPlaces)], { error: `${placeExpected}, or a list` })
      .optional()
      .describe(
        'Send over UDP to this host:port, or to each entry of a list; without `listen`, answers are received on any free port',
      ),
    listen: portSetting('Receive over UDP on this port, or address:port'),
    tcp: placeSetting().optional().describe('Connect over TCP to this host:port'),
    tcpListen: portSetting('Accept TCP connections on this port, or address:port'),
    hosts: z
      .array(placeSetting(), { error: 'a list of host:port' })
      .max(16)
      .default([])
      .describe('Further addresses of the same device, tried in turn when the address in `tcp` does not answer'),
    framing: z
      .enum(['slip', 'length'], { error: 'slip or length' })
      .default('slip')
      .describe(
        'How packets are framed over TCP: slip, as in OSC 1.1, or length, with a length of four bytes before each packet, as in OSC 1.0',
      ),
    allowFrom: networksSetting(
      'Who may send: addresses and networks. Default: the hosts in `udp`, or everyone if `udp` is not set',
    ),
    parameters: record(
      z.string().meta({ description: 'A Parameter ID; {n:1..32} and {side:L|R} stand for several IDs' }),
      parameterSchema,
    )
      .default({})
      .describe('The parameters, by ID, with their OSC addresses'),
    queries: z
      .array(
        z.strictObject({
          send: z
            .string({ error: 'a message such as "/xremote" or "/subscribe si \\"/meters\\" 1"' })
            .refine((written) => messageMistake(written) === undefined, {
              error: ({ input }) => messageMistake(input as string) ?? '',
            })
            .describe('A message in the notation of oscsend: /subscribe si "/meters" 1'),
          every: durationSetting(10)
            .optional()
            .describe('How often the message is sent; default: once after each connect'),
        }),
      )
      .max(100)
      .default([])
      .describe('Messages that are sent after each connect, and then regularly'),
    confirm: z
      .enum(['none', 'echo', 'ask'], { error: 'one of none, echo, ask' })
      .default('none')
      .describe(
        'How a write is confirmed. none: immediately; echo: the peer reports the value; ask: the hub asks for the value',
      ),
    feedback: z
      .enum(['none', 'others', 'all'], { error: 'one of none, others, all' })
      .default('none')
      .describe('Who receives a value that a peer has changed: nobody, the other peers, or all peers'),
    bundles: z
      .union([z.boolean(), durationSetting(0, 60_000)], { error: 'true, false, or a duration such as "50ms"' })
      .default(false)
      .describe(
        'true: the messages of one turn are sent as a bundle; a duration: with a time tag that far in the future',
      ),
    connectTimeout: durationSetting(100, 60_000).default(5000).describe('How long connecting over TCP may take'),
    idleTimeout: durationSetting(100)
      .optional()
      .describe('How long the peer may be silent before the values are stale; default: no limit'),
    onLoss: lossSetting('the peer'),
    messagesPerSecond: integerSetting(1, 1_000_000)
      .default(100_000)
      .describe('How many messages are accepted per second; further messages are refused and counted'),
    tree: z
      .strictObject({
        read: globs('Addresses of the hub that may be read: ["desk/**"]'),
        write: globs('Addresses of the hub that may be written; they may be read as well'),
        prefix: z
          .string({ error: 'an OSC address such as "/hub"' })
          .regex(/^(?:\/[^\s#*,/?\x5b\x5d{}]+)*$/, { error: 'an OSC address such as "/hub", or no text at all' })
          .default('')
          .describe('The prefix of all addresses in the hub: "/hub" turns desk/level into /hub/desk/level'),
      })
      .optional()
      .describe('Lets senders read and write parameters of the whole hub; default: not allowed'),
    simulate: z.boolean().default(false).describe('true: run without a peer; every write is confirmed immediately'),
  })
  .superRefine((settings, context) => {
    const message = transportMistake(settings);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export type OscSettings = z.output<typeof settingsSchema>;

function transportMistake({
  udp,
  listen,
  tcp,
  tcpListen,
  hosts,
}: Partial<z.input<typeof settingsSchema>>): string | undefined {
  const ways = [udp ?? listen, tcp, tcpListen].filter((way) => way !== undefined).length;
  if (ways !== 1) return 'expected exactly one of `tcp`, `tcpListen`, and `udp` or `listen`';
  if (hosts !== undefined && hosts.length > 0 && tcp === undefined) return 'expected `hosts` only if `tcp` is set';
  return undefined;
}

/** Returns the UDP destinations in the settings. */
export function placesOf({ udp = [] }: Pick<OscSettings, 'udp'>): readonly Place[] {
  return [udp].flat().map(readPlace);
}

/** Returns the local address on which the connection receives. Returns undefined if the connection cannot receive. */
export function listenPlace(settings: OscSettings): Place | undefined {
  const { udp, listen, tcpListen } = settings;
  const written = listen ?? tcpListen ?? (udp === undefined ? undefined : 0);
  return written === undefined ? undefined : listeningPlace(written, placesOf(settings));
}

function messageMistake(written: string): string | undefined {
  try {
    readPacket(written);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
