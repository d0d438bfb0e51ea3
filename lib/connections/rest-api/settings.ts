// The settings of a REST API connection (S-06, S-12, S-13).

import { z } from 'zod';
import { describe } from '../../model/error.ts';
import { compileOwnRegex } from '../../regex/regex.ts';
import { closeCodes } from '../../wire/protocol.ts';
import { bindIpSetting, durationSetting, integerSetting } from '../setting.ts';
import { limits } from './limits/client-limits.ts';
import { limitSettings } from './limits/limit-settings.ts';
import { readNetwork } from './proxies/ip-address.ts';
import { anonymousSetting, usersSetting } from './users/user-settings.ts';

export const settingsSchema = z.strictObject({
  port: integerSetting(0, 65_535).default(17_011).describe('TCP port; 0: any free port'),
  bindIp: bindIpSetting(),
  title: z
    .string()
    .max(60, { error: 'at most 60 characters' })
    .default('')
    .describe('Name of the installation, shown in the console; empty: the host name'),
  documentRoot: z.string().default('').describe('Folder whose files the hub serves below /; empty: none'),
  username: z.string().default('').describe('Username for HTTP Basic authentication; empty: none'),
  password: z.string().default('').describe('Password for HTTP Basic authentication'),
  token: z.string().default('').describe('Base64 text that clients send after "Bearer "; empty: none'),
  users: usersSetting,
  anonymous: anonymousSetting,
  deviceFile: z
    .string()
    .default('')
    .describe(
      'File that stores the signed-in browsers and kiosks, as digests; empty: they are signed out when the connection restarts',
    ),
  webSocketFilters: z
    .array(z.string().superRefine(checkRegex))
    .default([])
    .describe(
      'Regular expressions for addresses; a change passes if its address matches one of them; without filters, all changes pass',
    ),
  allowedHosts: z
    .array(
      z.string().regex(/^[A-Za-z\d_-]+(\.[A-Za-z\d_-]+)*$/, {
        error: 'a name without scheme, port and wildcard, such as hub.example',
      }),
    )
    .default([])
    .describe('Additional host names of this hub'),
  allowedOrigins: z
    .array(
      z.string().regex(/^[Hh][Tt]{2}[Pp][Ss]?:\/\/([A-Za-z\d.-]+|\[[\dA-Fa-f:]+\])(:\d+)?$/, {
        error: 'an origin such as https://panel.example',
      }),
    )
    .default([])
    .describe(
      'Origins of other websites whose pages have the same permissions as pages of this hub: to read, write, embed it in frames, and open sockets',
    ),
  trustedProxies: z
    .array(
      z.string().refine((text) => readNetwork(text) !== undefined, {
        error: ({ input }) => `expected an IP address, or a network such as "10.0.0.0/8", got ${describe(input)}`,
      }),
    )
    .default([])
    .describe(
      'Addresses and networks of trusted proxies. Their headers X-Forwarded-For, X-Forwarded-Proto and Forwarded give the address of the client and whether the client uses HTTPS',
    ),
  getUpdates: z.boolean().default(true).describe('false: no updates by GET, only by POST and WebSocket'),
  maxClients: integerSetting(1, 1_000_000)
    .default(limits.clients.default)
    .describe('Maximum number of WebSocket clients'),
  stallTimeout: durationSetting(1000, 86_400_000)
    .default(limits.stallMs.default)
    .describe(
      `How long a patchbay.v1 client may go without reading before the hub closes its socket with code ${closeCodes.stalled}`,
    ),
  limits: limitSettings,
  console: z.boolean().default(true).describe('false: no console; /hub/ lists all requests instead'),
  dashboards: z.string().default('').describe("Folder with the console's dashboards, *.json5; empty: none"),
  tls: z
    .strictObject({
      certFile: z.string().describe('Certificate chain, PEM'),
      keyFile: z.string().describe('Private key, PEM, without a passphrase'),
      hsts: integerSetting(0, 63_072_000, 's')
        .default(2_592_000)
        .describe('How long browsers must use HTTPS for every port of this host (s); 0: no longer'),
    })
    .optional()
    .describe('Serves HTTPS and WSS with this certificate'),
});

export type Settings = z.output<typeof settingsSchema>;

function checkRegex(pattern: string, context: z.RefinementCtx): void {
  try {
    compileOwnRegex(pattern);
  } catch (error) {
    context.addIssue(`expected a regular expression, got ${JSON.stringify(pattern)}: ${(error as Error).message}`);
  }
}
