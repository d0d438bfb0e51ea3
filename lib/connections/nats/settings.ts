// The settings of a hub in a domain.

import { z } from 'zod';
import { describe } from '../../model/error.ts';
import { integerSetting } from '../setting.ts';
import { maxMirroredInAll } from './mirrors/mirror-bounds.ts';

/** The regular expression for the name of a domain or a hub, which is a single token in a NATS subject. */
const nameShape = '^[A-Za-z0-9_-]{1,64}$';
const serverShape = '^(nats|tls)://[^\\s/]+$';
const serverError = "the address of a server such as 'nats://10.0.0.5:4222'";
const maxServers = 16;

const globs = z.array(z.string({ error: "a glob of addresses such as 'desk/**'" }), {
  error: "a list of globs of addresses, such as ['desk/**']",
});

function nameSetting(example: string) {
  const error = `1 to 64 characters A-Z, a-z, 0-9, _ and -, such as '${example}'`;
  return z.string({ error }).regex(new RegExp(nameShape), { error });
}

export const settingsSchema = z.strictObject({
  servers: z
    .array(
      z
        .string()
        .refine((server) => !server.includes('@'), {
          error: 'expected an address without credentials: use the setting `credentials`',
          abort: true, // so that no later check shows the credentials in the URL
        })
        .regex(new RegExp(serverShape), { error: serverError, abort: true })
        .refine((server) => URL.canParse(server), {
          error: ({ input }) => `expected ${serverError}, got ${describe(input)}`,
        }),
      { error: "a list of servers such as ['nats://10.0.0.5:4222']" },
    )
    .min(1, { error: 'at least one server' })
    .max(maxServers, { error: `at most ${maxServers} servers` })
    .default(['nats://127.0.0.1:4222'])
    .describe('The NATS server, or the servers of a cluster'),
  domain: nameSetting('house').describe('The domain, whose hubs see each other'),
  hub: nameSetting('studio-west').describe(
    'The name of this hub, unique in the domain except for the two hubs of a pair',
  ),
  share: globs.default(['**']).describe("Globs for this hub's addresses that other hubs can see"),
  mirror: globs.default(['**']).describe("Globs for other hubs' addresses that this hub mirrors"),
  mirrors: z
    .string({ error: 'the path of a file' })
    .default('')
    .describe('A file with the parameters of other hubs, which `patchbay types --remote` writes; empty: none'),
  maxParameters: integerSetting(1, maxMirroredInAll)
    .default(100_000)
    .describe(
      'The maximum number of parameters that this hub mirrors from each other hub; the rest are skipped and logged',
    ),
  pair: z
    .boolean()
    .default(false)
    .describe('true: this hub belongs to a pair, in which one runs and the other stands by'),
  isolated: z
    .enum(['stop', 'go-on'], { error: "'stop' or 'go-on'" })
    .default('stop')
    .describe('What a pair does without NATS: stop, or go on at the risk that both hubs run'),
  credentials: z
    .strictObject({
      user: z.string().default('').describe('The user; empty: none'),
      password: z.string().default('').describe("The user's password"),
      token: z.string().default('').describe('A token instead of a user; empty: none'),
      nkey: z
        .string()
        .regex(/^(SU[A-Z2-7]{56})?$/, { error: 'the seed of a user: SU and 56 characters A-Z and 2-7' })
        .default('')
        .describe('The seed of an nkey (SU…) instead of a user; empty: none'),
      file: z
        .string({ error: 'the path of a file' })
        .default('')
        .describe('A credentials file (.creds: a JWT and its seed) instead of a user; empty: none'),
    })
    .prefault({})
    .refine(({ user, token, nkey, file }) => [user, token, nkey, file].filter((one) => one !== '').length <= 1, {
      error: 'expected one of user, token, nkey and file, got several',
    })
    .describe("This hub's credentials for the servers; default: none"),
  tls: z
    .strictObject({
      caFile: z
        .string()
        .default('')
        .describe('The CA certificates of the servers, PEM; empty: the default certificates'),
      certFile: z.string().default('').describe("This hub's certificate, PEM; empty: none"),
      keyFile: z.string().default('').describe("This hub's private key, PEM, without a passphrase"),
    })
    .optional()
    .describe('Uses TLS with all servers; default: only with tls:// addresses and with servers that require TLS'),
});

export type NatsSettings = z.output<typeof settingsSchema>;
