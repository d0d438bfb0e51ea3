// The settings of a mail connection: the server and the messages, each with its recipients, texts and limit.

import { isIP } from 'node:net';
import { z } from 'zod';
import { describe } from '../../model/error.ts';
import { record } from '../../model/record-schema.ts';
import { parseDurationMs } from '../../model/time/duration.ts';
import { valueTypes } from '../../model/value.ts';
import type { InputTypes } from '../connection.ts';
import { compileTemplate, inputsSetting, type Template, templateNames } from '../message-template.ts';
import { durationSetting, type SettingMistake, trustSetting } from '../setting.ts';

const maxMessages = 1000;
/** The maximum number of recipients of a message. */
export const maxRecipients = 100;

const text = (error = 'text') => z.string({ error });

const urlError = "the address of a mail server such as 'smtps://mail.example.org' or 'smtp://mail.example.org:587'";
const defaultPorts: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

/** A mailbox. For example, `Studio <studio@example.org>` is `{ name: 'Studio', address: 'studio@example.org' }`. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

const atom = "[A-Za-z\\d!#$%&'*+/=?^_`{|}~-]+";
const addressPattern = new RegExp(
  `^(?=[^@]{1,64}@)${atom}(?:\\.${atom})*@(?=.{1,253}$)(?!-)[A-Za-z\\d-]+(?:\\.[A-Za-z\\d-]+)*$`,
);

/** Parses a mailbox. Returns undefined if the string is not a mailbox or contains control characters, which could end the header line. */
export function readMailbox(written: string): Mailbox | undefined {
  if (/\p{Cc}|\p{Zl}|\p{Zp}/u.test(written) || written.length > 512 || !written.isWellFormed()) return undefined;
  const [, name = '', bracketed] = /^([^<>]*)<([^<>]*)>$/.exec(written.trim()) ?? [];
  const address = bracketed ?? written.trim();
  return addressPattern.test(address) ? { name: name.trim().replace(/^"(.*)"$/, '$1'), address } : undefined;
}

function mailboxSetting() {
  return text("an address such as 'studio@example.org' or 'Studio <studio@example.org>'").refine(
    (written) => readMailbox(written) !== undefined,
    { error: ({ input }) => `expected an address such as 'Studio <studio@example.org>', got ${describe(input)}` },
  );
}

/** Returns the schema for a mailbox or a list of mailboxes. */
function mailboxesSetting() {
  return z.union([mailboxSetting(), z.array(mailboxSetting()).min(1).max(maxRecipients)], {
    error: `an address, or a list of 1 to ${maxRecipients} addresses`,
  });
}

/** The maximum number of messages per period. `durationMs` is the length of the period in milliseconds. */
export interface Limit {
  readonly count: number;
  readonly durationMs: number;
}

/** Parses a limit such as `1/5m`. Returns undefined if the string is not a limit. */
export function readLimit(written: string): Limit | undefined {
  const [, count, duration = ''] = /^(\d{1,4})\/(.+)$/.exec(written) ?? [];
  const durationMs = /^\d+$/.test(duration) ? undefined : parseDurationMs(duration);
  if (count === undefined || durationMs === undefined || Number(count) < 1 || durationMs < 1000) return undefined;
  return { count: Number(count), durationMs };
}

const messageSchema = z.strictObject({
  to: mailboxesSetting().describe('A recipient, or a list of recipients'),
  subject: text().max(1000).describe('The subject, with {value}, {time}, inputs and expressions'),
  text: text()
    .max(65_536)
    .default('')
    .describe('The text, with {value}, {time}, the names of inputs, and expressions: {= round(level)}'),
  type: z
    .enum(valueTypes, { error: 'S, B, I, F or T' })
    .default('T')
    .describe('The value type of the parameter that sends the mail; its value is {value} in the texts'),
  limit: text("a limit such as '1/5m'")
    .refine((written) => readLimit(written) !== undefined, {
      error: ({ input }) => `expected a limit such as '1/5m' (one every 5 minutes), got ${describe(input)}`,
    })
    .meta({ pattern: '^\\d{1,4}/.+$' })
    .default('10/10m')
    .describe('The maximum number of mails in a period; the next mail reports how many were suppressed'),
  replyTo: mailboxSetting().optional().describe('The address for replies; default: the sender'),
  description: text().optional().describe('The purpose'),
});

export type MessageSettings = z.output<typeof messageSchema>;

export const settingsSchema = z.strictObject({
  url: text(urlError)
    .refine((url) => !url.includes('@'), {
      error: 'expected an address without credentials: use the settings `username` and `password`',
      abort: true, // so that no later check shows the credentials in the URL
    })
    .regex(/^smtps?:[/][/](\x5b[0-9a-fA-F:.]+\x5d|[^\s:/?#\x5b\x5d]+)(:[0-9]{1,5})?[/]?$/, {
      error: urlError,
      abort: true,
    })
    .refine((url) => URL.canParse(url), { error: ({ input }) => `expected ${urlError}, got ${describe(input)}` })
    .describe('The mail server: smtps:// encrypts from the beginning (port 465), smtp:// by STARTTLS (port 587)'),
  username: text().max(256).default('').describe('The username; empty: none'),
  password: text('text, { env } or { file }').max(1024).default('').describe('The password; as { env } or { file }'),
  starttls: z
    .boolean()
    .default(true)
    .describe(
      'false: smtp:// does not encrypt, for a server on this machine; true: the mail is sent encrypted or not at all',
    ),
  from: mailboxSetting().describe("The sender, such as 'Studio <studio@example.org>'"),
  messages: record(
    z.string().regex(/^[a-z\d][a-z\d-]{0,63}$/, {
      error: ({ input }) => `expected a name of at most 64 characters a to z, 0 to 9 and -, got ${describe(input)}`,
    }),
    messageSchema,
  )
    .refine((messages) => Object.keys(messages).length >= 1 && Object.keys(messages).length <= maxMessages, {
      error: `expected 1 to ${maxMessages} messages`,
    })
    .describe('The messages, by name; a write to the parameter with this name sends one'),
  inputs: inputsSetting(),
  timeout: durationSetting(100, 60_000).default(15_000).describe('How long the server may take for each answer'),
  giveUpAfter: durationSetting(1000, 7 * 86_400_000)
    .default(86_400_000)
    .describe('How long the hub tries to deliver a message'),
  tls: trustSetting(
    'How the certificate is verified; default: as mail programs do',
    'SHA-256 fingerprint of the only certificate to trust; for smtps://',
  ),
  simulate: z.boolean().default(false).describe('true: nothing is sent, and every message counts as delivered'),
});

export type MailSettings = z.output<typeof settingsSchema>;

/** Returns the host and port of the mail server in the settings. */
export function serverOf({ url }: Pick<MailSettings, 'url'>): { host: string; port: number; isSecure: boolean } {
  const { protocol, hostname, port } = new URL(url.replace(/^smtp/, 'http')); // the URL parser does not know the default SMTP ports
  const scheme = protocol.replace('http', 'smtp');
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  const [, written] = /:(\d+)\/?$/.exec(url.replace(/\[.*\]/, '')) ?? [];
  return { host: bare, port: Number(written ?? port) || defaultPorts[scheme]!, isSecure: scheme === 'smtps:' };
}

export function mistakesOf(settings: MailSettings, inputTypes: InputTypes): readonly SettingMistake[] {
  const { username, password, starttls, tls } = settings;
  const { host, isSecure } = serverOf(settings);
  const found: SettingMistake[] = [];
  if ((username === '') !== (password === ''))
    found.push({
      path: [username === '' ? 'username' : 'password'],
      message: 'expected both username and password, or neither',
    });
  if (isSecure && !starttls)
    found.push({ path: ['starttls'], message: 'expected an address with smtp:// for starttls' });
  if (!isSecure && !starttls && password !== '' && !isLocal(host))
    found.push({
      path: ['starttls'],
      message: `expected true, because anyone on the network could read the password on its way to ${host}, got false (boolean)`,
    });
  if (tls?.fingerprint !== undefined && !isSecure)
    found.push({ path: ['tls', 'fingerprint'], message: 'expected an address with smtps:// for a fingerprint' });
  if (!isSecure && !starttls && tls !== undefined)
    found.push({ path: ['tls'], message: 'expected starttls: true with tls, got false (boolean)' });
  for (const [name, message] of Object.entries(settings.messages))
    compileMessage(name, message, inputTypes, (mistake) => found.push(mistake));
  return found;
}

export interface CompiledMessage {
  readonly subject: Template;
  readonly text: Template;
  readonly limit: Limit;
}

export function compileMessage(
  name: string,
  { subject, text: body, type, limit }: MessageSettings,
  inputTypes: InputTypes,
  add: (mistake: SettingMistake) => void,
): CompiledMessage {
  const names = templateNames(type, inputTypes);
  return {
    subject: compileTemplate(subject, names, add, ['messages', name, 'subject']),
    text: compileTemplate(body, names, add, ['messages', name, 'text']),
    limit: readLimit(limit)!,
  };
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
