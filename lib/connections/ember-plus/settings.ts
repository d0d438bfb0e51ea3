// The settings of an Ember+ connection. The hub is either a consumer, which connects to a provider, or a provider, which listens on a port.

import { z } from 'zod';
import type { Place } from '../../device/ports.ts';
import { isAddress } from '../../model/address.ts';
import { describe } from '../../model/error.ts';
import { record } from '../../model/record-schema.ts';
import { expectSetting } from '../expected.ts';
import { combinationsOf, filled, readTemplate } from '../id-template.ts';
import { lossSetting } from '../loss.ts';
import { listeningPlace, networksSetting, placeExpected, placeSetting, portSetting } from '../places.ts';
import { durationSetting, integerSetting, type SettingMistake } from '../setting.ts';
import { maxSignals } from './glow.ts';

const globs = (about: string, example: string) =>
  z
    .array(z.string({ error: `a glob such as "${example}"` }).min(1), { error: `a list of globs such as "${example}"` })
    .max(1000)
    .default([])
    .describe(about);

const identifierExpected = { error: 'text of 1 to 64 characters without / and .' };

/** The schema for the identifier of a node or matrix in the tree. */
const identifier = () =>
  z
    .string(identifierExpected)
    .regex(/^[^/.]{1,64}$/, identifierExpected)
    .refine((text) => !/\p{Cc}/u.test(text), identifierExpected);

const matrixSchema = z.strictObject({
  targets: z
    .string({ error: 'addresses such as "router/out/{n:0..39}"' })
    .describe('The addresses of the parameters for the targets, in order: router/out/{n:0..39}'),
  sources: integerSetting(1, maxSignals).describe('The number of sources'),
  first: integerSetting(-1_000_000, 1_000_000).default(0).describe('The value that means the first source'),
  none: integerSetting(-1_000_000, 1_000_000)
    .optional()
    .describe('The value that means "no source"; default: targets cannot be disconnected'),
  label: z.string({ error: 'text' }).optional().describe('The display name'),
});

export const settingsSchema = z
  .strictObject({
    tcp: placeSetting().optional().describe('Connect to the provider at this host:port; the usual port is 9000'),
    hosts: z
      .array(placeSetting(), { error: `a list of ${placeExpected}` })
      .max(16)
      .default([])
      .describe('Further addresses of the same provider, tried in turn when the address in `tcp` does not answer'),
    listen: portSetting('Act as a provider for consumers on this port, or address:port'),
    allowFrom: networksSetting('Which consumers may connect to `listen`: addresses and networks; default: everyone'),
    include: globs('Globs for the Parameter IDs that the hub mirrors; default: everything', 'Mixer/**'),
    exclude: globs('Globs for Parameter IDs that the hub leaves out even if `include` matches them', '**/Setup/**'),
    expect: expectSetting(
      'Parameters that flow files may use before the provider reports them: Mixer/Gain,F; or a file written by `patchbay types --of`',
    ),
    maxDiscovered: integerSetting(1, 100_000)
      .default(20_000)
      .describe('The maximum number of parameters that the hub mirrors'),
    timeout: durationSetting(100, 60_000).default(3000).describe('How long the answer to a request may take'),
    name: identifier().default('patchbay').describe("A provider: the identifier of the tree's root"),
    read: globs('A provider: globs for the addresses that consumers may read', 'desk/**'),
    write: globs(
      'A provider: globs for the addresses that consumers may write; these may be read as well',
      'desk/level',
    ),
    matrices: record(identifier(), matrixSchema)
      .default({})
      .describe('A provider: matrices whose targets are parameters of the hub, by identifier'),
    streamEvery: durationSetting(10, 10_000)
      .default(40)
      .describe('A provider: the minimum time between two values of a meter'),
    streamFormat: z
      .enum(['value', 'float32'], { error: 'value or float32' })
      .default('value')
      .describe(
        'A provider: how meters of type F are sent. value: as real numbers; float32: as bytes with a descriptor, for consumers that cannot read real numbers',
      ),
    requestsPerSecond: integerSetting(1, 1_000_000)
      .default(10_000)
      .describe(
        'A provider: how many requests from one consumer are answered per second; further requests are refused and counted',
      ),
    connectTimeout: durationSetting(100, 60_000).default(5000).describe('How long connecting may take'),
    idleTimeout: durationSetting(300, 600_000)
      .default(10_000)
      .describe('How long the peer may be silent. The hub sends a keep-alive after each third of this time'),
    onLoss: lossSetting('the provider'),
    simulate: z.boolean().default(false).describe('true: run without a network; every write is confirmed immediately'),
  })
  .superRefine(({ tcp, listen, hosts }, context) => {
    const add = (message: string) => context.addIssue({ code: 'custom', message });
    if ((tcp === undefined) === (listen === undefined)) add('expected exactly one of `tcp` and `listen`');
    else if (hosts !== undefined && hosts.length > 0 && tcp === undefined) add('expected `hosts` only if `tcp` is set');
  });

export type EmberPlusSettings = z.output<typeof settingsSchema>;
export type MatrixSettings = z.output<typeof matrixSchema>;

/** Returns the local address on which the provider listens. Returns undefined if the hub is a consumer. */
export function listenPlace({ listen }: EmberPlusSettings): Place | undefined {
  return listen === undefined ? undefined : listeningPlace(listen, []);
}

/**
 * Returns the parameter addresses for the targets of a matrix, in target order. If the setting is invalid, returns a sentence that
 * describes the mistake.
 */
export function targetsOf({ targets }: MatrixSettings): readonly string[] | string {
  const template = readTemplate(targets, true);
  if (typeof template === 'string') return template;
  const addresses: string[] = [];
  for (const values of combinationsOf(template)) {
    if (addresses.length >= maxSignals) return `expected at most ${maxSignals} targets`;
    addresses.push(filled(template, values));
  }
  const wrong = addresses.find((address) => !isAddress(address));
  return wrong === undefined ? addresses : `expected addresses such as router/out/1, got ${describe(wrong)}`;
}

const ofProvider = ['read', 'write', 'matrices'] as const;
const ofConsumer = ['include', 'exclude', 'expect'] as const;

/** Returns the mistakes in the settings: settings that are valid only in the other role, and invalid matrix targets. */
export function roleMistakes(settings: EmberPlusSettings): readonly SettingMistake[] {
  const isProvider = settings.listen !== undefined;
  const mistakes: SettingMistake[] = [];
  for (const name of isProvider ? ofConsumer : ofProvider)
    if (Object.keys(settings[name]).length > 0)
      mistakes.push({
        path: [name],
        message: `expected \`${name}\` only if \`${isProvider ? 'tcp' : 'listen'}\` is set`,
      });
  for (const [name, matrix] of Object.entries(settings.matrices)) {
    const targets = targetsOf(matrix);
    if (typeof targets === 'string') mistakes.push({ path: ['matrices', name, 'targets'], message: targets });
  }
  return mistakes;
}
