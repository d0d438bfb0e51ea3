// The schema of device descriptions, which are JSON5 files, and access to the built-in descriptions. docs/devices.md documents every key.

import { readdirSync } from 'node:fs';
import { z } from 'zod';
import { httpMethods } from '../../device/http-message.ts';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { isJsonObject } from '../../model/json-object.ts';
import { valueClasses } from '../../model/parameter.ts';
import { durationPattern, parseDurationMs } from '../../model/time/duration.ts';

/** The transports through which a device can be reached. */
export const transportNames = ['tcp', 'udp', 'ws', 'listen', 'serial', 'http'] as const;
export type TransportName = (typeof transportNames)[number];

const text = z.string();
const duration = (least: number, most: number) =>
  z
    .union(
      [z.number().meta({ type: 'integer', minimum: least, maximum: most }), text.meta({ pattern: durationPattern })],
      {
        error: 'milliseconds or a duration such as "10s"',
      },
    )
    .transform((input, context) => {
      const ms = parseDurationMs(input);
      if (ms !== undefined && ms >= least && ms <= most) return ms;
      context.addIssue({
        code: 'custom',
        message: `expected ${least}..${most} ms or a duration such as "10s", got ${JSON.stringify(input)}`,
      });
      return z.NEVER;
    });
const integer = (least: number, most: number) => {
  const error = `an integer ${least}..${most}`;
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error });
};
const oneOrMore = <Schema extends z.ZodType>(schema: Schema, error: string) =>
  z
    .union([schema, z.array(schema).min(1)], { error })
    .transform((input) => (Array.isArray(input) ? input : [input]) as z.output<Schema>[]);

const status = () => integer(100, 599);
/** The schema of a message in a description: a string, an example if messages are JSON, or a status if the device is reached over HTTP. */
const message = z.union([text, status(), z.record(text, z.unknown())], {
  error: 'text, an object where messages are JSON, or a status 100..599 over HTTP',
});
const messages = oneOrMore(message, 'text, or a list of texts');
const expression = text.describe('An expression (CEL), as in flow files');
const names = oneOrMore(text, 'a name, or a list of names');

const each = z
  .union(
    [
      z.enum(['line', 'character']),
      z.strictObject({ field: text.min(1).describe('The separator of fields') }),
      z.strictObject({ bytes: integer(1, 1024).describe('The length of each item') }),
      z.strictObject({
        path: text
          .min(1)
          .describe('The path of the list in JSON or XML, such as d.inputs; * stands for each item of a list'),
      }),
      z.strictObject({
        entries: text.describe(
          'The path of an object in JSON or XML, "" for the whole message; its items are { key, value }',
        ),
      }),
    ],
    { error: '"line", "character", { field }, { bytes }, { path } or { entries }' },
  )
  .describe('Splits a message into items; patterns then apply to each item');

const scalar = z.union([text, z.number(), z.boolean()], { error: 'text, a number, true or false' });
/** The schemas of the parts of an HTTP request. */
const request = {
  method: z.enum(httpMethods).optional().describe('HTTP: the method. Default: GET, or POST with a body'),
  path: text
    .regex(/^\//, { error: 'a path that begins with /' })
    .optional()
    .describe('HTTP: the path of the request, appended to the path in the setting http'),
  query: z.record(text, scalar).optional().describe('HTTP: the parameters of the query, by name'),
  headers: z
    .record(text.regex(/^[!#$%&'+*.^_`|~\w-]+$/), text)
    .optional()
    .describe('HTTP: the headers, by name'),
  body: z
    .union([text, z.record(text, z.unknown()), z.array(z.unknown())], { error: 'an object for JSON, or text' })
    .optional()
    .describe('HTTP: the body; an object or a list is sent as JSON'),
  form: z.record(text, scalar).optional().describe('HTTP: the body as fields of a form, by name'),
};

const readObject = z.strictObject({
  pattern: message.describe('The pattern of the message'),
  value: expression.optional().describe('Computes the value from the variables of the pattern. Default: {value}'),
  where: z
    .record(text, expression)
    .optional()
    .describe('Computes variables of the Parameter ID that the pattern does not read'),
  status: status().optional().describe('HTTP: the status of the answer. Default: 200..299'),
  headers: z.record(text, text).optional().describe('HTTP: patterns of headers of the answer, by name'),
  event: text.optional().describe('HTTP: the name of the server-sent event'),
});
const read = z.union([readObject, text, status(), z.record(text, z.unknown())], {
  error: 'a pattern, or { pattern, value, where }',
});
const reads = oneOrMore(read, 'a pattern, or a list of patterns');

const answers = {
  fail: messages.optional().describe('The pattern of a refusal; tried after reply'),
  retryIf: messages.optional().describe('An answer after which the hub sends the message again'),
  timeout: duration(10, 600_000)
    .optional()
    .describe('How long to wait for the answer. Default: timeout of the description'),
  retry: integer(0, 10).optional().describe('How many times the hub sends the message again'),
};
const asking = {
  send: messages.optional().describe('The question'),
  ...request,
  until: message.optional().describe('The last frame of an answer that consists of several frames'),
  every: duration(10, 86_400_000)
    .optional()
    .describe('The interval at which the hub asks. Default: poll of the description, or once after each connect'),
  ...answers,
};

const group = z.strictObject({
  ...asking,
  send: messages.optional().describe('The question. Default: none; the device sends the message unprompted'),
  reply: message.optional().describe('The pattern of the whole answer. Default: any answer'),
  on: messages
    .optional()
    .describe('The pattern of a message of this group that the device sends unprompted; each splits {items}'),
  head: text.min(1).optional().describe('The beginning of a message of this group, which the hub removes'),
  each: each.optional(),
  save: z.literal(true).optional().describe('Saves what reply reads, for expressions and later messages'),
});

const ask = z.strictObject({
  ...asking,
  reply: reads.optional().describe('The pattern of the answer. Default: on'),
});

const batch = z.strictObject({
  start: text.optional().describe('Text before the writes'),
  join: text.optional().describe('Text between the writes'),
  end: text.optional().describe('Text after the writes'),
  most: integer(2, 1000).optional().describe('The maximum number of writes in one frame. Default: 100'),
});

const write = z.strictObject({
  send: messages.optional().describe('The message that sets the parameter'),
  ...request,
  value: expression.optional().describe('Computes {value} from the written value'),
  reply: messages.optional().describe('The pattern of the answer. Default: no answer is expected'),
  ...answers,
  // biome-ignore lint/suspicious/noThenProperty: it is a key of descriptions, and nothing awaits a schema
  then: names
    .optional()
    .describe('The question after the write: "ask" for the parameter itself, or the name of a group'),
  batch: batch.optional().describe('One frame for all writes of a turn'),
  replay: z
    .literal(true)
    .optional()
    .describe('true: if the link breaks before a value is sent, the hub sends the newest value after reconnecting'),
});

/** The schemas of a parameter's metadata, which people and widgets use. */
export const metadata = {
  label: text.optional().describe('The display name'),
  unit: text.optional().describe('The unit: dB, Hz, s'),
  min: z.number().optional().describe('The minimum value; lower values are refused'),
  max: z.number().optional().describe('The maximum value; higher values are refused'),
  step: z.number().positive().optional().describe('The increment'),
  choices: z
    .record(text, z.union([text, z.number(), z.boolean()]), { error: 'values by name, such as { off: 0, on: 1 }' })
    .optional()
    .describe('All values by name: { off: 0, on: 1 }; other values are refused'),
  description: text.optional().describe('A description in one sentence'),
  class: z.enum(valueClasses).optional().describe('state, meter (skips history) or event'),
};

const parameter = z.strictObject({
  type: z.enum(['S', 'B', 'I', 'F', 'T']).describe('The value type'),
  on: reads.optional().describe('The pattern of the message that the device sends unprompted'),
  of: z
    .record(text, reads)
    .optional()
    .describe(
      'The pattern in an item of a group, by group name. Without {value}, the item only announces the parameter, and the hub asks for the value',
    ),
  ask: ask.optional().describe('The question that the hub asks'),
  write: write.optional().describe('The message that sets the parameter. Default: none, the parameter is read-only'),
  unknownIf: expression.optional().describe('An expression that is true when the device does not know the value'),
  optimistic: z
    .literal(true)
    .optional()
    .describe('true: the device never reports the value; a write counts as confirmed once it is sent'),
  ...metadata,
});

const frame = z
  .strictObject({
    end: oneOrMore(text.min(1), 'text, or a list of texts')
      .optional()
      .describe('The end of a frame; the hub ends its own frames with the first end'),
    block: z.literal(true).optional().describe('true: all lines up to an empty line form one frame'),
    start: text.min(1).optional().describe('The beginning of a frame, in addition to its end'),
    escape: text.optional().describe('A byte that is doubled in data, in hexadecimal digits: 10'),
    bytes: integer(1, 65_536).optional().describe('The length of every frame'),
    length: z
      .strictObject({
        at: integer(0, 64).describe('The offset of the length field'),
        bytes: integer(1, 4).describe('The size of the length field in bytes'),
        endian: z.enum(['big', 'little']).optional().describe('The byte order. Default: big'),
        adds: integer(-64, 1024).optional().describe('The number of bytes that the length does not include'),
      })
      .optional()
      .describe('A header contains the length'),
    lengthBy: z
      .strictObject({
        at: integer(0, 64).optional().describe('The offset of the byte that decides. Default: 0'),
        lengths: z
          .record(text, z.union([integer(1, 65_536), text], { error: 'a length, or the byte that ends the frame: F7' }))
          .describe(
            'The length of the frame, or the byte that ends it, by bytes in hexadecimal digits: 90, 80..8F; the narrowest matching range applies',
          ),
        running: z
          .literal(true)
          .optional()
          .describe('true: running status and real-time bytes, as in MIDI; the hub completes each frame'),
      })
      .optional()
      .describe('The value of a byte decides the length'),
    prompt: oneOrMore(text.min(1), 'text, or a list of texts')
      .optional()
      .describe('The beginning of a line that is a complete message without a line ending, such as "OK> "'),
    idle: duration(1, 10_000).optional().describe('The pause that ends a frame'),
    telnet: z.literal(true).optional().describe('true: removes Telnet commands and refuses Telnet options'),
    max: integer(1, 1_048_576)
      .optional()
      .describe('The maximum length of a frame in bytes; longer frames are dropped. Default: 65536'),
  })
  .superRefine(({ end, start, bytes, length, lengthBy, idle, prompt, block }, context) => {
    const kinds = [end ?? start, bytes, length, lengthBy, idle].filter((kind) => kind !== undefined);
    if (kinds.length !== 1)
      context.addIssue({
        code: 'custom',
        message: 'expected exactly one of `end`, `bytes`, `length`, `lengthBy` and `idle`',
      });
    if (prompt !== undefined && (end === undefined || start !== undefined || block !== undefined))
      context.addIssue({
        code: 'custom',
        path: ['prompt'],
        message: 'expected `prompt` only with `end`, and without `start` or `block`: set `end`, and remove the others',
      });
    if (start !== undefined && end === undefined)
      context.addIssue({ code: 'custom', path: ['start'], message: 'expected `end` as well, got none' });
  });

const greeting = z.strictObject({
  send: messages.optional().describe('The message that the hub sends'),
  ...request,
  reply: message.optional().describe('The pattern of the answer'),
  or: messages
    .optional()
    .describe('The pattern of an alternative answer; after it, the hub saves nothing and ignores `first`'),
  save: z.literal(true).optional().describe('Saves what reply reads, for expressions and later messages'),
  first: text.optional().describe('Text before the next message that the hub sends'),
});

const event = z.strictObject({
  pattern: message.describe('The pattern of the message'),
  ask: names.optional().describe('The groups that the hub then asks for'),
  withdraw: text.optional().describe('The discovered parameters that no longer exist, such as input/{name}'),
});

const fault = z.strictObject({
  pattern: message.optional().describe('The pattern of the message'),
  close: integer(1000, 4999).optional().describe('The close code of the WebSocket'),
  reason: text.min(1).describe('The problem, as a sentence for the operator'),
});

export const descriptionSchema = z.strictObject({
  about: text.min(1).describe('The purpose, in one sentence'),
  transports: z.array(z.enum(transportNames)).min(1).optional().describe('The transports of the device. Default: tcp'),
  port: integer(1, 65_535).optional().describe('The default port'),
  subprotocol: names.optional().describe('The subprotocols of the WebSocket'),
  serial: z
    .strictObject({
      baudRate: integer(50, 4_000_000).optional().describe('Default: 9600'),
      dataBits: z.literal([5, 6, 7, 8]).optional().describe('Default: 8'),
      stopBits: z.literal([1, 1.5, 2]).optional().describe('Default: 1'),
      parity: z.enum(['none', 'even', 'odd']).optional().describe('Default: none'),
    })
    .optional()
    .describe('Settings of the serial port'),
  variables: z
    .record(
      text.regex(/^[A-Za-z_]\w*$/, { error: 'a name of letters, digits and _' }),
      z.union([text, z.number(), z.boolean()]),
    )
    .optional()
    .describe('Variables that a connection may set, with their defaults; ${name} is replaced by the value'),
  secrets: z
    .array(text.regex(/^[A-Za-z_]\w*$/, { error: 'a name of letters, digits and _' }))
    .optional()
    .describe('The secrets that a connection may have: secret.<name> in expressions'),
  format: z
    .enum(['text', 'hex', 'json', 'xml'])
    .optional()
    .describe('The format of messages. Default: text; over HTTP, json'),
  encoding: z.enum(['utf8', 'latin1']).optional().describe('The encoding of text. Default: utf8'),
  frame: frame
    .optional()
    .describe('The framing of messages. Default: each WebSocket message or datagram is one message'),
  codec: z.enum(['sw-p-08']).optional().describe('A codec for the state of the link itself, such as acknowledgements'),
  connect: z
    .enum(['once', 'per-request'])
    .optional()
    .describe('When the hub connects. Default: once, and the link stays open'),
  connectTimeout: duration(100, 60_000).optional().describe('How long connecting may take. Default: 5s'),
  idleTimeout: duration(100, 86_400_000)
    .optional()
    .describe(
      'How long the device may go without sending an expected message before it counts as offline. Default: forever',
    ),
  timeout: duration(10, 600_000).optional().describe('How long to wait for an answer. Default: 2s'),
  retry: integer(0, 10).optional().describe('The number of times that the hub repeats a question. Default: 1'),
  window: integer(1, 64)
    .optional()
    .describe('The maximum number of requests that wait for an answer at the same time. Default: 8; over HTTP, 2'),
  spacing: duration(0, 60_000).optional().describe('The minimum time between two messages'),
  poll: duration(10, 86_400_000).optional().describe('The interval at which the hub asks for everything'),
  greet: z.array(greeting).min(1).optional().describe('The exchange after connecting, step by step'),
  ready: messages
    .optional()
    .describe('The message that says the device is ready. Default: the first message, or the end of greet'),
  keepAlive: z
    .strictObject({
      send: message.optional().describe('The message that the hub sends'),
      ...request,
      every: duration(100, 86_400_000).describe('The interval'),
      reply: message.optional().describe('The pattern of the answer'),
    })
    .optional()
    .describe('Keeps the link alive'),
  headers: request.headers.describe('HTTP: the headers of every request, by name'),
  events: z
    .strictObject({
      path: request.path.unwrap().describe('HTTP: the path of the stream'),
      query: request.query,
      headers: request.headers,
    })
    .optional()
    .describe('HTTP: a stream of server-sent events; each is a message that the device sends unprompted'),
  groups: z.record(text, group).optional().describe('Messages that contain several parameters, by name'),
  parameters: z.record(text, parameter).describe("The parameters, by ID; 'out/{n:0..39}' stands for 40 parameters"),
  on: z.array(event).optional().describe('Other messages that the device sends unprompted'),
  faults: z.array(fault).optional().describe('Messages that mean that the device refuses to work'),
});

export type Description = z.output<typeof descriptionSchema>;
export type DescribedParameter = Description['parameters'][string];
export type DescribedGroup = NonNullable<Description['groups']>[string];
export type DescribedWrite = NonNullable<DescribedParameter['write']>;
export type DescribedRead = z.output<typeof read>;
export type Each = z.output<typeof each>;

/** Returns the JSON Schema of descriptions for use in editors. A variable may be used in place of a number: `max: '${outputs}'`. */
export function descriptionJsonSchema(): object {
  return orVariables(z.toJSONSchema(descriptionSchema, { io: 'input', unrepresentable: 'any' })) as object;
}

function orVariables(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(orVariables);
  if (!isJsonObject(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, item]) => [key, orVariables(item)]));
  const isNumber = schema.type === 'number' || schema.type === 'integer';
  return isNumber ? { anyOf: [inner, { type: 'string', pattern: String.raw`^\$\{.*\}$` }] } : inner;
}

// The built-in descriptions are the files in the folder `protocols`.

/** The folder in the source tree, which is used because the build does not copy descriptions. */
const folder = new URL('../../../lib/connections/device/protocols/', import.meta.url);
const maxBytes = 1_048_576;
const texts = new Map<string, string>();
let readyNames: readonly string[] | undefined;

/** Returns the names of the built-in descriptions in alphabetical order. */
export function protocolNames(): readonly string[] {
  readyNames ??= readdirSync(folder)
    .filter((file) => file.endsWith('.json5'))
    .map((file) => file.slice(0, -'.json5'.length))
    .sort();
  return readyNames;
}

export function isProtocolName(name: string): boolean {
  return protocolNames().includes(name);
}

/** Returns the text of a built-in description. The description must exist. */
export function readProtocol(name: string): string {
  const text = texts.get(name) ?? readRegularFileSync(new URL(`${name}.json5`, folder).pathname, maxBytes).toString();
  texts.set(name, text);
  return text;
}
