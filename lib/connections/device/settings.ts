// The settings of a device connection: the transport and the description.

import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { httpTransport, withHost } from '../../device/http.ts';
import { secretsOf } from '../../device/http-auth.ts';
import {
  listenTransport,
  serialTransport,
  type TcpTarget,
  type Transport,
  tcpTransport,
  udpTransport,
  wsTransport,
} from '../../device/transport.ts';
import { lossSetting } from '../loss.ts';
import { durationSetting, integerSetting, type ResolvePath, readTlsFile } from '../setting.ts';
import type { Compiled } from './compiled.ts';
import { type TransportName, transportNames } from './description.ts';

const placePattern = /^(?:\[[\da-fA-F:.]+\]|[^\s:/[\]]+)(?::\d{1,5})?$/;
const placeSetting = () =>
  z.string({ error: 'a host, or host:port' }).refine((text) => isPlace(text), {
    error: ({ input }) => `expected a host, or host:port, got ${JSON.stringify(input)}`,
  });

const serialSettings = {
  baudRate: integerSetting(50, 4_000_000).optional().describe('Bits per second; default: from the description'),
  dataBits: z.literal([5, 6, 7, 8]).optional().describe('Data bits; default: from the description'),
  stopBits: z.literal([1, 1.5, 2]).optional().describe('Stop bits; default: from the description'),
  parity: z.enum(['none', 'even', 'odd']).optional().describe('Parity; default: from the description'),
};

const userSetting = () =>
  z.strictObject({
    username: z.string().describe('The username'),
    password: z.string().describe('The password, as { env } or { file }'),
  });

function isAddress(text: string): boolean {
  return addressMistake(text) === '';
}

/** Returns a sentence that describes the mistake in an address in the setting `http`, or '' if the address is valid. */
function addressMistake(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || !/^https?:\/\//i.test(text))
    return `expected an address such as "http://10.0.0.9/", got ${JSON.stringify(text)}`;
  if (url.username !== '' || url.password !== '')
    return 'expected an address without a username or password: set `auth`';
  if (url.search !== '' || url.hash !== '') return `expected an address without ? and #, got ${JSON.stringify(text)}`;
  return '';
}

export const settingsSchema = z
  .strictObject({
    tcp: placeSetting().optional().describe('Connects over TCP to this host, or host:port'),
    udp: placeSetting().optional().describe('Sends over UDP to this host, or host:port'),
    ws: z
      .string({ error: 'an address such as "ws://10.0.0.5:4455"' })
      .regex(/^wss?:\/\/[^\s/]+/, { error: 'an address such as "ws://10.0.0.5:4455"' })
      .optional()
      .describe('Connects over a WebSocket to this address'),
    listen: z
      .union([integerSetting(1, 65_535), placeSetting()], { error: 'a port, or address:port' })
      .optional()
      .describe('The device connects to the hub: the TCP port to listen on, or address:port'),
    serial: z
      .union(
        [
          z.string().min(1),
          z.strictObject({ path: z.string().min(1).describe('The path, such as /dev/ttyUSB0'), ...serialSettings }),
        ],
        { error: 'a path such as "/dev/ttyUSB0", or { path, baudRate, … }' },
      )
      .optional()
      .describe('Uses a serial port: its path, or { path, baudRate, dataBits, stopBits, parity }'),
    http: z
      .string({ error: 'an address such as "http://10.0.0.9/"' })
      .refine(isAddress, { error: ({ input }) => addressMistake(String(input)) })
      .optional()
      .describe(
        'Sends HTTP requests to this base URL (http:// or https://), to which the paths in the description are appended',
      ),
    auth: z
      .strictObject({
        basic: userSetting().optional().describe('HTTP Basic: { username, password }'),
        bearer: z.string().min(1).optional().describe('HTTP Bearer: the token, as { env } or { file }'),
        digest: userSetting().optional().describe('HTTP Digest: { username, password }'),
      })
      .refine((auth) => Object.values(auth).filter((one) => one !== undefined).length === 1, {
        error: 'expected exactly one of `basic`, `bearer` and `digest`',
      })
      .optional()
      .describe('How the hub signs in over HTTP: { basic }, { bearer } or { digest }'),
    hosts: z
      .array(placeSetting(), { error: 'a list of hosts' })
      .max(16)
      .default([])
      .describe('Further hosts of the same device, tried in turn when the host in tcp, udp or http does not answer'),
    tls: z
      .union(
        [
          z.boolean(),
          z.strictObject({
            caFile: z
              .string()
              .optional()
              .describe('Path of the certificates to trust instead of the system certificates'),
            fingerprint: z.string().optional().describe('SHA-256 fingerprint of the only certificate to trust'),
          }),
        ],
        { error: 'true, or { caFile, fingerprint }' },
      )
      .default(false)
      .describe('Encrypts the link; true: verifies the certificate as browsers do. https:// is always encrypted'),
    protocol: z
      .string({ error: 'the name of a protocol, or the path of a description' })
      .min(1)
      .describe('The name of a built-in description, or the path of your own, such as ./my.json5'),
    variables: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .default({})
      .describe('Values for the variables of the description, by name'),
    secrets: z
      .record(z.string(), z.string({ error: 'text, { env } or { file }' }))
      .default({})
      .describe('Values for the secrets of the description, by name; each as { env } or { file }'),
    connectTimeout: durationSetting(100, 60_000)
      .optional()
      .describe('How long connecting may take; default: from the description'),
    idleTimeout: durationSetting(100)
      .optional()
      .describe(
        'How long the device may go without sending an expected message before it counts as offline; default: from the description',
      ),
    onLoss: lossSetting('the device'),
    expect: z
      .union([z.array(z.string({ error: 'a line such as "input/Mic/muted,B"' })).max(10_000), z.string().min(1)], {
        error: 'a list of lines such as "input/Mic/muted,B", or the path of a file written by patchbay types --of',
      })
      .default([])
      .describe(
        'Discovered parameters that flow files may use before the device reports them: input/Mic/muted,B; or a file written by `patchbay types --of`',
      ),
    simulate: z.boolean().default(false).describe('true: run without a device; every write is confirmed immediately'),
  })
  .refine((settings) => transportNames.filter((name) => settings[name] !== undefined).length === 1, {
    error: 'expected exactly one of `tcp`, `udp`, `ws`, `listen`, `serial` and `http`',
  })
  .meta({ oneOf: transportNames.map((name) => ({ required: [name] })) });

export type DeviceSettings = z.output<typeof settingsSchema>;

interface Place {
  readonly host: string;
  readonly port: number | undefined;
}

function isPlace(text: string): boolean {
  if (isIPv6(text)) return true;
  return placePattern.test(text) && (readPlace(text).port ?? 1) >= 1 && (readPlace(text).port ?? 1) <= 65_535;
}

function readPlace(text: string): Place {
  if (isIPv6(text)) return { host: text, port: undefined };
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { host: bracketed ?? plain ?? '', port: port === undefined ? undefined : Number(port) };
}

/** Returns the name of the transport and its settings. */
export function transportOf(settings: DeviceSettings): {
  readonly name: TransportName;
  readonly port: number | undefined;
} {
  const name = transportNames.find((one) => settings[one] !== undefined)!;
  const written = settings[name];
  return {
    name,
    port: typeof written === 'string' && ['tcp', 'udp'].includes(name) ? readPlace(written).port : undefined,
  };
}

/** Returns the local address on which the hub listens for the device, or undefined if the hub connects to the device. */
export function listenTarget({ listen }: DeviceSettings): { readonly host: string; readonly port: number } | undefined {
  if (listen === undefined) return undefined;
  if (typeof listen === 'number') return { host: '', port: listen };
  const { host, port } = readPlace(listen);
  return { host, port: port ?? 0 };
}

/** Creates a transport for each host in the settings. Errors: `cannot-start` if a certificate file cannot be read. */
export function createTransports(
  settings: DeviceSettings,
  compiled: Compiled,
  resolvePath: ResolvePath,
): readonly Transport[] {
  const { tcp, udp, ws, serial, http, auth = {}, hosts } = settings;
  const tls = tlsOf(settings, resolvePath);
  const placesOf = (first: string) =>
    [first, ...hosts].map((text) => {
      const { host, port } = readPlace(text);
      return { host, port: port ?? readPlace(first).port ?? compiled.port ?? 0 };
    });
  if (tcp !== undefined) return placesOf(tcp).map(({ host, port }) => tcpTransport({ host, port, tls }));
  if (udp !== undefined) return placesOf(udp).map(({ host, port }) => udpTransport(host, port));
  if (http !== undefined) {
    const url = new URL(http);
    const connections = compiled.window + (compiled.events === undefined ? 0 : 1);
    const connectTimeoutMs = settings.connectTimeout ?? compiled.connectTimeoutMs;
    return [url, ...hosts.map((text) => withHost(url, readPlace(text)))].map((one) =>
      httpTransport({ url: one, tls, credentials: auth, connections, connectTimeoutMs }),
    );
  }
  if (ws !== undefined) return [wsTransport(ws, compiled.subprotocol, tls)];
  const target = listenTarget(settings);
  if (target !== undefined) return [listenTransport(target.port, target.host)];
  const { path, ...own } = typeof serial === 'string' ? { path: serial } : serial!;
  return [
    serialTransport({
      baudRate: 9600,
      dataBits: 8,
      stopBits: 1,
      parity: 'none',
      ...defined(compiled.serial),
      ...defined(own),
      path,
    }),
  ];
}

/** Returns the settings that are not undefined. */
function defined<Settings extends object>(
  settings: Settings,
): { [Key in keyof Settings]: Exclude<Settings[Key], undefined> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never;
}

/** Returns the secrets that must be masked in logs and traces, including their encodings in queries, forms and headers. */
export function secretsIn({ secrets, auth = {} }: DeviceSettings): readonly string[] {
  return [...Object.values(secrets), ...secretsOf(auth)].flatMap((secret) => {
    const encoded = encodeURIComponent(secret.toWellFormed());
    return encoded === secret ? [secret] : [secret, encoded];
  });
}

function tlsOf({ tls, ws, http }: DeviceSettings, resolvePath: ResolvePath): TcpTarget['tls'] {
  if (tls === false && /^(?:wss|https):/i.test(ws ?? http ?? '') !== true) return undefined;
  const { caFile, fingerprint } = typeof tls === 'boolean' ? {} : tls;
  return { ca: readTlsFile('caFile', caFile, resolvePath), fingerprint };
}
