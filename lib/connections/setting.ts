// Schemas and types for settings that several connection types share.

import { isIP } from 'node:net';
import { z } from 'zod';
import { readRegularFileSync } from '../files/regular-file.ts';
import { parameterIdMistake } from '../model/address.ts';
import { HubError, messageOf } from '../model/error.ts';
import { readBy } from '../model/record-schema.ts';
import { durationPattern, longestDurationMs, parseDurationMs } from '../model/time/duration.ts';

/** The schemas of the settings that every connection has in addition to the settings of its type. */
export const commonSettings = {
  enabled: z.boolean().default(true).describe('false: the connection is declared but not started'),
  description: z.string().default('').describe('The purpose of the connection, in the words of its operator'),
  statusParameter: z
    .boolean()
    .default(false)
    .describe('true: adds the read-only parameter _status/connected (B), true while running'),
};

const maxCertificateBytes = 1_048_576;

/** Reads a file that is named in the setting `tls`, such as `caFile`. Returns undefined if no file is named. Errors: `cannot-start`. */
export function readTlsFile(key: string, path: string | undefined, resolvePath: ResolvePath): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readRegularFileSync(resolvePath(path), maxCertificateBytes);
  } catch (error) {
    throw new HubError('cannot-start', `tls.${key}: cannot read ${path}: ${messageOf(error)}`);
  }
}

/** The schema for a Parameter ID, such as a key of `parameters`. */
export const parameterIdSetting = z.string().superRefine((id, context) => {
  const message = parameterIdMistake(id);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** Returns the schema for an integer within inclusive bounds. Error messages mention `unit`. */
export function integerSetting(least: number, most: number, unit = ''): z.ZodNumber {
  const expected = `an integer ${least}..${most}${unit && ` (${unit})`}`;
  return z
    .number({ error: expected })
    .int({ error: expected })
    .min(least, { error: expected })
    .max(most, { error: expected });
}

/** Returns the schema for a duration, which is given in milliseconds or as a string such as `'1m30s'`. */
export function durationSetting(least: number, most = longestDurationMs) {
  const expected = `an integer ${least}..${most} (ms) or a duration such as "1m30s"`;
  const number = z.number().meta({ type: 'integer', minimum: least, maximum: most });
  const text = z.string().meta({ pattern: durationPattern });
  return readBy(z.union([number, text], { error: expected }), expected, (input) => {
    const durationMs = parseDurationMs(input);
    return Number.isInteger(durationMs) && durationMs! >= least && durationMs! <= most ? durationMs : undefined;
  });
}

/** Returns the schema for the local address to listen on. The default is '', which stands for all interfaces. */
export function bindIpSetting(): z.ZodDefault<z.ZodString> {
  return z
    .string()
    .refine((ip) => ip === '' || isIP(ip) !== 0, {
      error: ({ input }) => `expected an IP address, got ${JSON.stringify(input)}`,
    })
    .default('')
    .describe('Local address to listen on; empty: all interfaces');
}

/** Returns whether a local address stands for all interfaces of the machine. */
export function isEveryInterface(bindIp: string): boolean {
  return ['', '0.0.0.0', '::'].includes(bindIp);
}

/** A function that resolves a path in the settings against the folder of the flow file. */
export type ResolvePath = (path: string) => string;

/** A hint about a setting that works but is probably not intended, with the path to the setting. */
export interface SettingHint {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A mistake in the settings, with the path to the setting. For an unknown name, the message suggests the most similar known name. */
export type SettingMistake = {
  readonly path: readonly (string | number)[];
  /** The offset of the mistake within the string at the path. */
  readonly offset?: number | undefined;
} & (
  | { readonly message: string }
  | { readonly unknown: string; readonly name: string; readonly known: readonly string[] }
);

/** A mistake in a file that the settings name, with its location in the file. */
export interface FileMistake {
  /** The path of the file as the operator has written it. */
  readonly file: string;
  readonly path: string;
  readonly message: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** Returns the schema for the setting `tls` of a type that sends messages over the internet. */
export function trustSetting(about: string, aboutFingerprint: string) {
  return z
    .strictObject({
      caFile: z
        .string({ error: 'a path' })
        .optional()
        .describe('Path of the certificates to trust instead of the system certificates'),
      fingerprint: z
        .string({ error: 'a fingerprint' })
        .regex(/^[\da-f]{2}(?::?[\da-f]{2}){31}$/i, {
          error: 'the SHA-256 fingerprint of a certificate: 32 bytes in hex',
        })
        .optional()
        .describe(aboutFingerprint),
    })
    .optional()
    .describe(about);
}
