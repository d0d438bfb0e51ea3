// The settings of an MQTT connection: the broker, the parameters behind topics, the bridge, and what is discovered.

import { isIP } from 'node:net';
import { z } from 'zod';
import { type TlsTarget, type Transport, tcpTransport, wsTransport } from '../../device/transport.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { describe } from '../../model/error.ts';
import { type About, valueClasses } from '../../model/parameter.ts';
import { valueTypes } from '../../model/value.ts';
import { durationSetting, integerSetting, lossSetting, type ResolvePath, readTlsFile } from '../setting.ts';

/** The longest certificate or key file, in bytes. */
/** The maximum number of parameters that a connection discovers. */
export const maxDiscovered = 20_000;
/** The longest topic that brokers accept, in bytes. */
const maxTopicBytes = 65_535;

const urlShape = '^(mqtts?|wss?)://(\\[[\\da-fA-F:.]+\\]|[^\\s:/@\\[\\]]+)(:\\d{1,5})?(/\\S*)?$';
const urlError = "the address of a broker such as 'mqtt://10.0.0.5', 'mqtts://broker:8883' or 'wss://broker/mqtt'";
const defaultPorts: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };

function urlSetting() {
  return z
    .string({ error: urlError })
    .refine((url) => !url.includes('@'), {
      error:
        'expected a broker without user and password (use the settings username and password), got them in its address',
      abort: true, // skips the later checks
    })
    .regex(new RegExp(urlShape), { error: urlError, abort: true })
    .refine((url) => URL.canParse(url), { error: ({ input }) => `expected ${urlError}, got ${describe(input)}` });
}

/** Returns the error of a topic without wildcards; undefined: the topic is valid. */
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
      context.addIssue({ code: 'custom', message: message.replace(/got .*/, `got ${describe(topic)}`) });
  });
}

const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'text, a number, true or false' });
const text = (error: string) => z.string({ error });

const availabilitySchema = z.union(
  [
    topicSetting(),
    z.strictObject({
      topic: topicSetting().describe('The topic that says whether the device is there'),
      path: text('a path such as "state"').optional().describe('Where the word is in a JSON payload'),
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
      .describe('Where the value is in a JSON payload'),
    value: text('an expression such as "value / 10"').optional().describe('Computes the value from what was received'),
    set: topicSetting().optional().describe('The topic that writes are published to'),
    send: z
      .union([z.string(), z.record(z.string(), z.unknown())], {
        error: "a payload such as '{value}' or { state: '{value}' }",
      })
      .optional()
      .describe('The payload of a write: text or JSON with {value} in it; default: the value'),
    on: text('text').optional().describe('The payload that means true; of a trigger: the only one that fires'),
    off: text('text').optional().describe('The payload that means false'),
    retain: z.boolean().optional().describe('Whether writes are retained; default: only if set and topic are the same'),
    optimistic: z.boolean().default(false).describe('true: the device never reports the value; a write counts as done'),
    availability: availabilitySchema.optional().describe('The topic that says whether the device is there'),
    label: text('text').optional().describe('Its name for people'),
    unit: text('text').optional().describe('Its unit'),
    min: z.number().optional().describe('The smallest value'),
    max: z.number().optional().describe('The largest value'),
    step: z.number().positive().optional().describe('The smallest difference of two values'),
    choices: z.record(z.string(), scalar).optional().describe('All values, by the word in the payload'),
    description: text('text').optional().describe('What it is'),
    class: z.enum(valueClasses).optional().describe('state, meter or event'),
  })
  .refine(({ topic, set }) => topic !== undefined || set !== undefined, { error: 'expected topic, set, or both' });

export type ParameterSettings = z.output<typeof parameterSchema>;

const globs = z.array(z.string({ error: "a glob such as 'desk/**'" }), {
  error: "a list of globs, such as ['desk/**']",
});

const bridgeSchema = z.strictObject({
  prefix: topicSetting().describe('The topic below which the parameters of the hub are'),
  share: globs.default(['**']).describe('Globs of addresses that are published'),
  accept: globs.default(['**']).describe('Globs of addresses that <prefix>/<address>/set may write'),
  follow: globs.default([]).describe('Globs of addresses that take over what others publish at <prefix>/<address>'),
  homeAssistant: z
    .union([z.boolean(), topicSetting()], { error: 'true, false, or the discovery prefix of Home Assistant' })
    .default(false)
    .describe('true: publish discovery documents for Home Assistant; text: its discovery prefix'),
});

const source = (what: string, example: string) =>
  z
    .union([z.boolean(), topicSetting()], { error: `true, false, or a topic such as '${example}'` })
    .default(false)
    .describe(what);

const discoverSchema = z.strictObject({
  homeAssistant: source(
    'Discovery documents of Home Assistant, also those of ESPHome; text: their prefix',
    'homeassistant',
  ),
  zigbee2mqtt: source('Zigbee2MQTT; text: its base topic', 'zigbee2mqtt'),
  tasmota: source('Tasmota; text: its discovery prefix', 'tasmota/discovery'),
  shelly: z.boolean().default(false).describe('Shelly devices of both generations'),
  allow: globs.default(['**']).describe('Globs of the state topics that are discovered'),
  deny: globs.default([]).describe('Globs of the state topics that are not'),
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
  clientId: text('text').max(128).default('').describe('The client ID; empty: a new one for each run'),
  version: z
    .enum(['5', '3.1.1'], { error: "'5' or '3.1.1'" })
    .optional()
    .describe('The version of MQTT; default: 5, and 3.1.1 if the broker has no 5'),
  tls: z
    .strictObject({
      caFile: text('a path').optional().describe('Path of the certificates to trust instead of those of the system'),
      certFile: text('a path').optional().describe('Path of the certificate of this hub'),
      keyFile: text('a path').optional().describe('Path of its private key'),
      fingerprint: text('a fingerprint').optional().describe('SHA-256 fingerprint of the only certificate to trust'),
    })
    .optional()
    .describe('How mqtts:// and wss:// encrypt; default: verify the certificate as browsers do'),
  connectTimeout: durationSetting(100, 60_000)
    .default(5000)
    .describe('How long the broker may take to answer a connect'),
  keepAlive: durationSetting(1000, 600_000)
    .default(10_000)
    .describe(
      'How often the hub asks whether the broker is there; after one and a half times that without an answer it counts as offline',
    ),
  status: topicSetting()
    .optional()
    .describe('The topic of the last will: online, or offline; default: <prefix>/status of the bridge, or none'),
  onLoss: lossSetting('the broker'),
  parameters: z
    .record(
      z.string().superRefine((id, context) => {
        const message = parameterIdMistake(id);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }),
      parameterSchema,
    )
    .default({})
    .describe('The parameters behind topics, by Parameter ID'),
  bridge: bridgeSchema
    .optional()
    .describe('Publishes the parameters of the hub below a prefix, and takes writes there'),
  discover: discoverSchema.optional().describe('Devices that announce themselves at the broker'),
  expect: z
    .union([z.array(z.string({ error: 'a line such as "lamp/state,B"' })).max(10_000), z.string().min(1)], {
      error: 'a list of lines such as "lamp/state,B", or the path of a file of patchbay types --of',
    })
    .default([])
    .describe(
      'Discovered parameters that flow files may name before they are there: lamp/state,B; or a file of `patchbay types --of`',
    ),
  maxDiscovered: integerSetting(1, 100_000).default(maxDiscovered).describe('How many parameters may be discovered'),
  simulate: z.boolean().default(false).describe('true: run without a broker; every write is confirmed immediately'),
});

export type MqttSettings = z.output<typeof settingsSchema>;

/** Returns the metadata of a parameter. */
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

/** Creates the transports to the brokers. Errors: `cannot-start` for a certificate or key that cannot be read. */
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
    if (protocol.startsWith('ws')) return wsTransport(address, ['mqtt'], protocol === 'wss:' ? files : undefined, true);
    const host = isIP(hostname.slice(1, -1)) === 6 ? hostname.slice(1, -1) : hostname;
    return tcpTransport({
      host,
      port: Number(port) || defaultPorts[protocol]!,
      tls: protocol === 'mqtts:' ? files : undefined,
    });
  });
}
