// The settings of an MQTT connection: the broker, the parameters for topics, the bridge, and the discovery of devices.

import { isIP } from 'node:net';
import { z } from 'zod';
import { type TlsTarget, type Transport, tcpTransport, wsTransport } from '../../device/transport.ts';
import { describe } from '../../model/error.ts';
import { type About, valueClasses } from '../../model/parameter.ts';
import { valueTypes } from '../../model/value.ts';
import { expectSetting } from '../expected.ts';
import { lossSetting } from '../loss.ts';
import { durationSetting, integerSetting, parameterIdSetting, type ResolvePath, readTlsFile } from '../setting.ts';

/** The maximum number of parameters that one connection may discover. */
export const maxDiscovered = 20_000;
/** The maximum length of a topic that brokers accept, in bytes. */
const maxTopicBytes = 65_535;

const urlShape = '^(mqtts?|wss?)://(\\[[\\da-fA-F:.]+\\]|[^\\s:/@\\[\\]]+)(:\\d{1,5})?(/\\S*)?$';
const urlError = "the address of a broker such as 'mqtt://10.0.0.5', 'mqtts://broker:8883' or 'wss://broker/mqtt'";
const defaultPorts: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };

function urlSetting() {
  return z
    .string({ error: urlError })
    .refine((url) => !url.includes('@'), {
      error: 'expected an address without credentials: use the settings `username` and `password`',
      abort: true, // skips all later checks
    })
    .regex(new RegExp(urlShape), { error: urlError, abort: true })
    .refine((url) => URL.canParse(url), { error: ({ input }) => `expected ${urlError}, got ${describe(input)}` });
}

/** Returns a sentence that describes the mistake in a topic name (without wildcards), or undefined if the topic is valid. */
export function topicMistake(topic: string): string | undefined {
  if (topic === '' || /[+#\0]/.test(topic) || !topic.isWellFormed() || Buffer.byteLength(topic) > maxTopicBytes)
    return `expected a topic without the wildcards + and #, such as 'house/lamp', got ${describe(topic)}`;
  return topic.startsWith('$') ? `expected a topic that does not begin with $, got ${describe(topic)}` : undefined;
}

function topicSetting() {
  const error = "a topic such as 'house/lamp'";
  return z.string({ error }).superRefine((topic, context) => {
    const message = topicMistake(topic.replace(/\{[^{}]*\}/g, 'x'));
    if (message !== undefined)
      context.addIssue({ code: 'custom', message: message.replace(/got .*/, () => `got ${describe(topic)}`) });
  });
}

const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'text, a number, true or false' });
const text = (error: string) => z.string({ error });

const availabilitySchema = z.union(
  [
    topicSetting(),
    z.strictObject({
      topic: topicSetting().describe('The topic that reports whether the device is online'),
      path: text('a path such as "state"').optional().describe('The path of the word in a JSON payload'),
      online: text('text').default('online').describe('The payload that means online'),
      offline: text('text').default('offline').describe('The payload that means offline'),
    }),
  ],
  { error: 'a topic, or { topic, path, online, offline }' },
);

const parameterSchema = z
  .strictObject({
    type: z.enum(valueTypes, { error: 'S, B, I, F or T' }).describe('The value type'),
    topic: topicSetting().optional().describe('The topic that reports the value'),
    path: text('a path such as "state" or "sensors.0.level"')
      .optional()
      .describe('The path of the value in a JSON payload'),
    value: text('an expression such as "value / 10"').optional().describe('Computes the value from the received value'),
    set: topicSetting().optional().describe('The topic to which writes are published'),
    send: z
      .union([z.string(), z.record(z.string(), z.unknown())], {
        error: "a payload such as '{value}' or { state: '{value}' }",
      })
      .optional()
      .describe('The payload of a write: text or JSON that contains {value}; default: the value'),
    on: text('text').optional().describe('The payload that means true; for a trigger, the only payload that fires it'),
    off: text('text').optional().describe('The payload that means false'),
    retain: z.boolean().optional().describe('Whether writes are retained; default: only if set and topic are the same'),
    optimistic: z
      .boolean()
      .default(false)
      .describe('true: the device never reports the value; a write is confirmed immediately'),
    availability: availabilitySchema.optional().describe('The topic that reports whether the device is online'),
    label: text('text').optional().describe('The display name'),
    unit: text('text').optional().describe('The unit'),
    min: z.number().optional().describe('The minimum value'),
    max: z.number().optional().describe('The maximum value'),
    step: z.number().positive().optional().describe('The increment'),
    choices: z
      .record(z.string(), scalar)
      .optional()
      .describe('All values, by the word in the payload: { off: 0, on: 1 }'),
    description: text('text').optional().describe('A description in one sentence'),
    class: z.enum(valueClasses).optional().describe('state, meter or event'),
  })
  .refine(({ topic, set }) => topic !== undefined || set !== undefined, { error: 'expected topic, set, or both' });

export type ParameterSettings = z.output<typeof parameterSchema>;

const globs = z.array(z.string({ error: "a glob such as 'desk/**'" }), {
  error: "a list of globs, such as ['desk/**']",
});

const bridgeSchema = z.strictObject({
  prefix: topicSetting().describe("The topic prefix of the hub's parameters"),
  share: globs.default(['**']).describe('Globs for the addresses that are published'),
  accept: globs.default(['**']).describe('Globs for the addresses that <prefix>/<address>/set may write'),
  follow: globs.default([]).describe('Globs for the addresses that take over values published at <prefix>/<address>'),
  homeAssistant: z
    .union([z.boolean(), topicSetting()], { error: 'true, false, or the discovery prefix of Home Assistant' })
    .default(false)
    .describe('true: publish discovery documents for Home Assistant; text: the discovery prefix'),
});

const source = (what: string, example: string) =>
  z
    .union([z.boolean(), topicSetting()], { error: `true, false, or a topic such as '${example}'` })
    .default(false)
    .describe(what);

const discoverSchema = z.strictObject({
  homeAssistant: source(
    'Home Assistant discovery documents, including those from ESPHome; text: the discovery prefix',
    'homeassistant',
  ),
  zigbee2mqtt: source('Zigbee2MQTT; text: its base topic', 'zigbee2mqtt'),
  tasmota: source('Tasmota; text: the discovery prefix', 'tasmota/discovery'),
  shelly: z.boolean().default(false).describe('Shelly devices of both generations'),
  allow: globs.default(['**']).describe('Globs for the state topics to discover'),
  deny: globs.default([]).describe('Globs for the state topics to ignore'),
});

export const settingsSchema = z.strictObject({
  url: urlSetting().describe('The address of the broker: mqtt://, mqtts://, ws:// or wss://'),
  hosts: z
    .array(urlSetting(), { error: 'a list of brokers' })
    .max(16)
    .default([])
    .describe('Further addresses, tried in turn when the broker in url does not answer'),
  username: text('text').default('').describe('The username; empty: none'),
  password: text('text, { env } or { file }').default('').describe('The password; as { env } or { file }'),
  clientId: text('text').max(128).default('').describe('The client ID; empty: a new client ID for each run'),
  version: z
    .enum(['5', '3.1.1'], { error: "'5' or '3.1.1'" })
    .optional()
    .describe('The version of MQTT; default: 5, or 3.1.1 if the broker does not support 5'),
  tls: z
    .strictObject({
      caFile: text('a path')
        .optional()
        .describe('Path of the certificates to trust instead of the system certificates'),
      certFile: text('a path').optional().describe("Path of this hub's certificate"),
      keyFile: text('a path').optional().describe("Path of this hub's private key"),
      fingerprint: text('a fingerprint').optional().describe('SHA-256 fingerprint of the only certificate to trust'),
    })
    .optional()
    .describe('How mqtts:// and wss:// encrypt; default: verify the certificate as browsers do'),
  connectTimeout: durationSetting(100, 60_000).default(5000).describe('How long connecting to the broker may take'),
  keepAlive: durationSetting(1000, 600_000)
    .default(10_000)
    .describe(
      'How often the hub pings the broker; after one and a half intervals without an answer, the broker counts as offline',
    ),
  status: topicSetting()
    .optional()
    .describe('The topic of the last will: online, or offline; default: <prefix>/status of the bridge, or none'),
  onLoss: lossSetting('the broker'),
  parameters: z
    .record(parameterIdSetting, parameterSchema)
    .default({})
    .describe('The parameters that topics report or set, by Parameter ID'),
  bridge: bridgeSchema.optional().describe("Publishes the hub's parameters below a prefix, and accepts writes there"),
  discover: discoverSchema.optional().describe('Devices that announce themselves through the broker'),
  expect: expectSetting(
    'Discovered parameters that flow files may use before their devices announce them: lamp/state,B; or a file written by `patchbay types --of`',
  ),
  maxDiscovered: integerSetting(1, 100_000)
    .default(maxDiscovered)
    .describe('The maximum number of discovered parameters'),
  simulate: z.boolean().default(false).describe('true: run without a broker; every write is confirmed immediately'),
});

export type MqttSettings = z.output<typeof settingsSchema>;

/** Returns the metadata of a parameter in the settings. */
export function aboutOf({
  label,
  unit,
  min,
  max,
  step,
  choices,
  description,
  class: kind,
}: Partial<ParameterSettings>): About | undefined {
  const about = Object.entries({ label, unit, min, max, step, choices, description, class: kind }).filter(
    ([, value]) => value !== undefined,
  );
  return about.length === 0 ? undefined : Object.fromEntries(about);
}

/** Creates the transports to the brokers. Errors: `cannot-start` if a certificate or key cannot be read. */
export function createTransports(
  { url, hosts, tls = {} }: MqttSettings,
  resolvePath: ResolvePath,
): readonly Transport[] {
  const files: TlsTarget = {
    ca: readTlsFile('caFile', tls.caFile, resolvePath),
    cert: readTlsFile('certFile', tls.certFile, resolvePath),
    key: readTlsFile('keyFile', tls.keyFile, resolvePath),
    fingerprint: tls.fingerprint,
  };
  return [url, ...hosts].map((address) => {
    const { protocol, hostname, port } = new URL(address);
    if (protocol.startsWith('ws'))
      return wsTransport(address, ['mqtt'], protocol === 'wss:' ? files : undefined, { isBinary: true });
    const host = isIP(hostname.slice(1, -1)) === 6 ? hostname.slice(1, -1) : hostname;
    return tcpTransport({
      host,
      port: Number(port) || defaultPorts[protocol]!,
      tls: protocol === 'mqtts:' ? files : undefined,
    });
  });
}
