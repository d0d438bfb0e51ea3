// Webhook signatures. A signature is an HMAC over the bytes of the body, often together with a timestamp and the ID of the delivery. The
// schemes of Standard Webhooks (https://www.standardwebhooks.com, version 1), GitHub, Slack and Stripe are built in; any other scheme can
// be described in the settings.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/**
 * The maximum length of a header with signatures, in bytes, and the maximum number of signatures that are compared. A sender that is
 * changing its secret sends several signatures.
 */
const maxHeaderBytes = 4096;
const maxSignatures = 16;

const headerName = z
  .string({ error: 'the name of a header' })
  .regex(/^[\w!#$%&'+*.^`|~-]{1,128}$/, { error: "the name of a header, such as 'X-Signature'" });

const customScheme = z
  .strictObject({
    header: headerName.describe('The header with the signature'),
    algorithm: z
      .enum(['sha256', 'sha1', 'sha512'], { error: "'sha256', 'sha1' or 'sha512'" })
      .default('sha256')
      .describe('The hash function of the HMAC'),
    encoding: z
      .enum(['hex', 'base64'], { error: "'hex' or 'base64'" })
      .default('hex')
      .describe('The encoding of the signature'),
    prefix: z
      .string({ error: 'text' })
      .max(64)
      .default('')
      .describe("The text before the signature, such as 'sha256='"),
    content: z
      .string({ error: "text such as '{timestamp}.{body}'" })
      .max(256)
      .default('{body}')
      .refine((text) => text.split('{body}').length === 2, {
        error: ({ input }) => `expected text with {body} in it once, got ${JSON.stringify(input)}`,
      })
      .describe('The signed text, with {body}, and with {timestamp} and {id} if the sender includes them'),
    timestamp: headerName.optional().describe('The header with the time of the delivery, in seconds since 1970'),
    id: headerName.optional().describe('The header with the ID of the delivery'),
  })
  .superRefine(({ content, timestamp, id }, context) => {
    for (const [name, header] of [
      ['timestamp', timestamp],
      ['id', id],
    ] as const)
      if (content.includes(`{${name}}`) && header === undefined)
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `expected the header of {${name}} in \`content\`, got nothing`,
        });
    if (timestamp !== undefined && !content.includes('{timestamp}'))
      context.addIssue({
        code: 'custom',
        path: ['content'],
        message: 'expected {timestamp}, because an unsigned timestamp proves nothing',
      });
  });

export type Scheme = z.output<typeof customScheme> & {
  /** The separator between several signatures in the header. */
  readonly separator?: string;
  /** Whether a single header contains the timestamp as well as the signatures: `t=1492774577,v1=5257a869`. */
  readonly isCombined?: true;
  /** Whether no two deliveries have the same body. In this case, an equal signature means a repetition even if no timestamp is signed. */
  readonly isUnique?: true;
  /** The prefix of a secret. The rest of the secret is base64. */
  readonly secretPrefix?: string;
};

const schemes = {
  standard: {
    header: 'webhook-signature',
    algorithm: 'sha256',
    encoding: 'base64',
    prefix: 'v1,',
    content: '{id}.{timestamp}.{body}',
    timestamp: 'webhook-timestamp',
    id: 'webhook-id',
    separator: ' ',
    secretPrefix: 'whsec_',
  },
  github: {
    header: 'x-hub-signature-256',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    content: '{body}',
    id: 'x-github-delivery',
    isUnique: true,
  },
  slack: {
    header: 'x-slack-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'v0=',
    content: 'v0:{timestamp}:{body}',
    timestamp: 'x-slack-request-timestamp',
  },
  stripe: {
    header: 'stripe-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'v1=',
    content: '{timestamp}.{body}',
    isCombined: true,
  },
} satisfies Readonly<Record<string, Scheme>>;

/** Returns the schema for the setting `signature`. */
export function signatureSetting() {
  return z.union([z.enum(Object.keys(schemes) as (keyof typeof schemes)[]), customScheme], {
    error:
      "'standard', 'github', 'slack', 'stripe', or { header, algorithm, encoding, prefix, content, timestamp, id }",
  });
}

export type SignatureSetting = z.output<ReturnType<typeof signatureSetting>>;

export function schemeOf(setting: SignatureSetting): Scheme {
  return typeof setting === 'string' ? schemes[setting] : setting;
}

/** Returns whether the signature covers the time of a delivery, so that old deliveries can be refused. */
export function isTimed({ timestamp, isCombined }: Scheme): boolean {
  return timestamp !== undefined || isCombined === true;
}

/** Returns a sentence that describes the mistake in a secret, or undefined if the secret is valid for the scheme. */
export function secretMistake({ secretPrefix }: Scheme, secret: string): string | undefined {
  if (secretPrefix === undefined || !secret.startsWith(secretPrefix)) return undefined;
  const rest = secret.slice(secretPrefix.length);
  return /^[A-Za-z\d+/]+={0,2}$/.test(rest) && Buffer.from(rest, 'base64').length > 0
    ? undefined
    : `expected base64 after ${secretPrefix}`;
}

type Headers = (name: string) => string;

/** The properties of a delivery whose signature is valid. */
export interface Verified {
  /** The signed time, in seconds since 1970; undefined if the signature covers no time. */
  readonly timestamp: number | undefined;
  /** The delivery ID from the scheme's header; '' if there is no ID. */
  readonly id: string;
  /** Whether the signature covers the delivery ID. */
  readonly isIdSigned: boolean;
  /** The signature that was found to be valid, as bytes. */
  readonly signature: Buffer;
}

/** Checks the signature of a delivery in constant time. Returns undefined if the signature is wrong or missing. Never throws. */
export function verify(scheme: Scheme, secret: string, headers: Headers, body: Uint8Array): Verified | undefined {
  const written = headers(scheme.header.toLowerCase());
  const read = scheme.isCombined ? readCombined(written) : undefined;
  const timestamp = read?.timestamp ?? (scheme.timestamp === undefined ? '' : headers(scheme.timestamp.toLowerCase()));
  const id = scheme.id === undefined ? '' : headers(scheme.id.toLowerCase());
  const expected = digest(scheme, secret, { id, timestamp }, body);
  if (written.length > maxHeaderBytes) return undefined;
  const isTimeRight = !isTimed(scheme) || /^\d{1,12}$/.test(timestamp);
  const isIdSigned = scheme.content.includes('{id}');
  const given = read?.signatures ?? (scheme.separator === undefined ? [written] : written.split(scheme.separator));
  let isRight = false;
  for (const one of given.slice(0, maxSignatures)) {
    const bytes = decode(scheme, one);
    if (bytes !== undefined && bytes.length === expected.length && timingSafeEqual(bytes, expected)) isRight = true;
  }
  if (!isRight || !isTimeRight || (isIdSigned && id === '')) return undefined;
  return { timestamp: isTimed(scheme) ? Number(timestamp) : undefined, id, isIdSigned, signature: expected };
}

/** Returns the headers that sign a body. */
export function sign(
  scheme: Scheme,
  secret: string,
  { id, timestamp }: { readonly id: string; readonly timestamp: number },
  body: Uint8Array,
): Readonly<Record<string, string>> {
  const signature = digest(scheme, secret, { id, timestamp: `${timestamp}` }, body).toString(scheme.encoding);
  return {
    ...(scheme.id !== undefined && { [scheme.id]: id }),
    ...(scheme.timestamp !== undefined && { [scheme.timestamp]: `${timestamp}` }),
    [scheme.header]: scheme.isCombined ? `t=${timestamp},${scheme.prefix}${signature}` : scheme.prefix + signature,
  };
}

/** Returns whether two strings are equal, in constant time. */
export function isSameText(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

function digest(
  { algorithm, content, secretPrefix }: Scheme,
  secret: string,
  values: { readonly id: string; readonly timestamp: string },
  body: Uint8Array,
): Buffer {
  const key =
    secretPrefix !== undefined && secret.startsWith(secretPrefix)
      ? Buffer.from(secret.slice(secretPrefix.length), 'base64')
      : secret;
  const hmac = createHmac(algorithm, key);
  for (const part of content.split(/(\{body\}|\{id\}|\{timestamp\})/))
    if (part === '{body}') hmac.update(body);
    else if (part === '{id}') hmac.update(values.id);
    else if (part === '{timestamp}') hmac.update(values.timestamp);
    else hmac.update(part);
  return hmac.digest();
}

function decode({ prefix, encoding }: Scheme, text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith(prefix)) return undefined;
  const written = trimmed.slice(prefix.length);
  const form = encoding === 'hex' ? /^(?:[\da-f]{2})+$/i : /^[A-Za-z\d+/_-]+={0,2}$/;
  return form.test(written) ? Buffer.from(written, encoding) : undefined;
}

/** Parses a combined header: `t=1492774577,v1=5257a869,v0=6ffbb59b`. */
function readCombined(text: string): { readonly timestamp: string; readonly signatures: readonly string[] } {
  const parts = text
    .slice(0, maxHeaderBytes)
    .split(',')
    .map((part) => part.trim());
  return {
    timestamp: parts.find((part) => part.startsWith('t='))?.slice(2) ?? '',
    signatures: parts.filter((part) => part.startsWith('v1=')),
  };
}
