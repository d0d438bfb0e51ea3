// The settings of an SNMP connection: how the hub reaches the device, the hub's credentials, the objects behind parameters, the tables that
// the hub walks, and the notifications that it receives.

import { z } from 'zod';
import { valueClasses } from '../../model/parameter.ts';
import { record } from '../../model/record-schema.ts';
import { expectSetting } from '../expected.ts';
import { lossSetting } from '../loss.ts';
import { placeExpected, placeSetting } from '../places.ts';
import { durationSetting, integerSetting } from '../setting.ts';
import { isOid } from './message.ts';
import { type AuthProtocol, authProtocols, type PrivProtocol, privProtocols } from './usm.ts';

/** The types of object values. */
export const objectTypes = [
  'integer',
  'unsigned',
  'counter32',
  'counter64',
  'ticks',
  'float',
  'boolean',
  'text',
  'hex',
  'oid',
  'ip',
] as const;
export type ObjectType = (typeof objectTypes)[number];

const text = (about: string) => z.string({ error: 'text' }).optional().describe(about);
const secretExpected = 'text, { env } or { file }';
const secret = (about: string) => z.string({ error: secretExpected }).max(1024).default('').describe(about);
const bound = (about: string) => z.number({ error: 'a number' }).optional().describe(about);
const oidExpected = "an OID such as '1.3.6.1.2.1.1.5.0'";
const oidSetting = () =>
  z.string({ error: oidExpected }).refine((oid) => isOid(oid), {
    error: ({ input }) => `expected ${oidExpected}, got ${JSON.stringify(input)}`,
  });
/** An OID that may contain variables from an ID; it is checked once the variables have been filled in. */
const templateSetting = () => z.string({ error: "an OID such as '1.3.6.1.2.1.2.2.1.8.{n}'" });

const aboutShape = {
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
};

const valueShape = {
  as: z
    .enum(objectTypes, { error: `one of ${objectTypes.join(', ')}` })
    .default('integer')
    .describe('The type of the value'),
  scale: z
    .number({ error: 'a number other than 0' })
    .refine((scale) => scale !== 0, { error: 'expected a number other than 0, got 0' })
    .default(1)
    .describe('The factor by which the number in the object is multiplied'),
  offset: z.number({ error: 'a number' }).default(0).describe('The number that is added after multiplying by `scale`'),
  unknownIf: z
    .union([z.number(), z.string()], { error: 'a number or text' })
    .optional()
    .describe('The number or text that means unknown'),
};

const readShape = {
  ...valueShape,
  rate: z
    .boolean()
    .default(false)
    .describe('true: the value is the amount by which the counter grows per second, multiplied by `scale`'),
  access: z
    .enum(['read-only', 'write-only', 'read-write'], { error: 'one of read-only, write-only, read-write' })
    .default('read-only')
    .describe('Who sets the parameter; write-only parameters are never read'),
  confirm: z
    .enum(['read', 'answer'], { error: 'read or answer' })
    .optional()
    .describe('How a write is confirmed; default: as for the connection'),
  ...aboutShape,
};

const parameterSchema = z.strictObject({
  oid: templateSetting()
    .optional()
    .describe(
      'The OID of the object, including the instance number; may contain variables from the ID: "1.3.6.1.….{n}"',
    ),
  trap: z
    .union(
      [
        oidSetting(),
        z.array(oidSetting()).min(1).max(100),
        record(oidSetting(), z.union([z.string(), z.number(), z.boolean()])),
      ],
      { error: `${oidExpected}, a list of OIDs, or values by OID` },
    )
    .optional()
    .describe(
      'The notifications that set the parameter: an OID, a list of OIDs, or the value that each OID stands for',
    ),
  where: record(templateSetting(), z.union([z.string(), z.number()]))
    .optional()
    .describe('Values by OID: a notification sets the parameter only if its objects have these values'),
  every: durationSetting(100).optional().describe('How often the parameter is read; default: as for the connection'),
  ...readShape,
});
export type ParameterSettings = z.output<typeof parameterSchema>;

const columnSchema = z.strictObject({
  oid: oidSetting().describe('The OID of the column, without the index of a row'),
  ...readShape,
});
export type ColumnSettings = z.output<typeof columnSchema>;

const tableSchema = z.strictObject({
  columns: record(z.string().meta({ description: 'The last part of the Parameter ID' }), columnSchema).describe(
    'The columns of the table, by the last part of the Parameter ID',
  ),
  labels: text('The column whose text starts the label of each parameter'),
  every: durationSetting(100).optional().describe('How often the table is read; default: as for the connection'),
  maxRows: integerSetting(1, 10_000)
    .default(1000)
    .describe('The maximum number of rows to read; further rows are left out'),
});
export type TableSettings = z.output<typeof tableSchema>;

const authNames = Object.keys(authProtocols) as [AuthProtocol, ...AuthProtocol[]];
const privNames = Object.keys(privProtocols) as [PrivProtocol, ...PrivProtocol[]];

const userSchema = z
  .strictObject({
    name: z.string({ error: 'text' }).min(1).max(32).describe('The username'),
    auth: z
      .enum(authNames, { error: `one of ${authNames.join(', ')}` })
      .optional()
      .describe('The authentication protocol; default: none'),
    password: secret('The authentication password; as { env } or { file }'),
    priv: z
      .enum(privNames, { error: `one of ${privNames.join(', ')}` })
      .optional()
      .describe('The privacy protocol; default: none'),
    privPassword: secret('The privacy password; as { env } or { file }; default: `password`'),
    context: z.string({ error: 'text' }).max(255).default('').describe('The context in the device; default: none'),
  })
  .superRefine(({ auth, password, priv, privPassword }, context) => {
    const add = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    if (priv !== undefined && auth === undefined) add('priv', 'expected `auth`, because `priv` is set');
    if (auth !== undefined && password.length < 8) add('password', 'expected a password of at least 8 characters');
    if (auth === undefined && password !== '') add('password', 'expected `auth`, because `password` is set');
    if (privPassword !== '' && priv === undefined)
      add('privPassword', 'expected `priv`, because `privPassword` is set');
    if (privPassword !== '' && privPassword.length < 8)
      add('privPassword', 'expected a password of at least 8 characters');
  });
export type UserOfSettings = z.output<typeof userSchema>;

const trapsSchema = z.strictObject({
  listen: z
    .union([integerSetting(0, 65_535), placeSetting()], { error: 'a port, or address:port' })
    .describe('Receive notifications on this UDP port, or address:port; the usual port is 162'),
  from: z
    .array(z.string({ error: 'an IP address or a host name' }).min(1).max(255), { error: 'a list of addresses' })
    .max(16)
    .default([])
    .describe('The addresses from which the device sends; default: the hosts in `udp` and `hosts`'),
  community: z
    .string({ error: secretExpected })
    .min(1)
    .max(1024)
    .optional()
    .describe('The community of the notifications; default: as for the connection'),
  user: userSchema.optional().describe('The user of the SNMPv3 notifications; default: as for the connection'),
  engineId: z
    .string({ error: 'an engine ID in hexadecimal' })
    .regex(/^[\da-fA-F]{10,64}$/, { error: 'expected an engine ID of 5 to 32 bytes in hexadecimal' })
    .refine((id) => id.length % 2 === 0, { error: 'expected an even number of digits' })
    .optional()
    .describe("The hub's engine ID, for SNMPv3 informs; default: computed from the machine and the Connection ID"),
  perSecond: integerSetting(1, 10_000)
    .default(200)
    .describe('How many notifications are accepted per second; further notifications are refused and counted'),
});

export const settingsSchema = z
  .strictObject({
    udp: placeSetting().optional().describe('Send requests to the device at this host:port; the usual port is 161'),
    hosts: z
      .array(placeSetting(), { error: `a list of ${placeExpected}` })
      .max(16)
      .default([])
      .describe('Further addresses of the same device, tried in turn when the address in `udp` does not answer'),
    community: z
      .string({ error: secretExpected })
      .min(1)
      .max(1024)
      .optional()
      .describe('The community, for SNMPv2c; as { env } or { file }'),
    user: userSchema.optional().describe('The user, for SNMPv3'),
    parameters: record(
      z.string().meta({ description: 'A Parameter ID; {n:1..32} and {side:L|R} stand for several IDs' }),
      parameterSchema,
    )
      .default({})
      .describe('The parameters, by ID, with their objects or notifications'),
    tables: record(
      z.string().meta({ description: 'The beginning of the Parameter IDs; {index} is the index of a row' }),
      tableSchema,
    )
      .default({})
      .describe('Tables whose rows are found by a walk, such as the interfaces of a switch'),
    expect: expectSetting('Table parameters that flow files may name before the device reports them'),
    traps: trapsSchema.optional().describe('Receive traps and informs from the device'),
    every: durationSetting(100).default(5000).describe('How often the parameters and tables are read'),
    confirm: z
      .enum(['read', 'answer'], { error: 'read or answer' })
      .default('read')
      .describe('How a write is confirmed. read: the hub reads the value back; answer: the device accepts the write'),
    maxObjects: integerSetting(1, 200)
      .default(40)
      .describe('How many objects a message to or from the device may contain'),
    window: integerSetting(1, 16).default(1).describe('How many requests may wait for answers'),
    timeout: durationSetting(50, 60_000).default(1000).describe('How long an answer may take'),
    retries: integerSetting(0, 10).default(2).describe('How many times a request without an answer is sent again'),
    onLoss: lossSetting('the device'),
    simulate: z.boolean().default(false).describe('true: run without a device; every write is confirmed immediately'),
  })
  .superRefine(({ udp, hosts, community, user, traps, tables }, context) => {
    const add = (message: string) => context.addIssue({ code: 'custom', message });
    if (udp === undefined && traps === undefined) add('expected `udp`, `traps`, or both');
    if (udp === undefined && hosts !== undefined && hosts.length > 0) add('expected `hosts` only if `udp` is set');
    if (udp === undefined && tables !== undefined && Object.keys(tables).length > 0)
      add('expected `tables` only if `udp` is set');
    if (udp === undefined && traps !== undefined && traps.from.length === 0)
      add('expected `traps.from`, the addresses of the device, because there is no `udp`');
    if (udp !== undefined && (community === undefined) === (user === undefined))
      add('expected exactly one of `community`, for SNMPv2c, and `user`, for SNMPv3');
    if (udp === undefined && [community, user, traps?.community, traps?.user].every((one) => one === undefined))
      add('expected `community` or `user`');
  });

export type SnmpSettings = z.output<typeof settingsSchema>;
