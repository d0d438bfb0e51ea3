// The connection types in the registry, from which flow files, their JSON Schema and their TypeScript types are derived.

import type { z } from 'zod';
import type { AnyConnectionType } from './connection.ts';
import { registry, rehearsals } from './registry.ts';
import type { commonSettings } from './setting.ts';

/** The connection types, keyed by name, in registry order. */
export type ConnectionTypes = ReadonlyMap<string, AnyConnectionType>;

/**
 * Loads the connection types with these names. Loads all types if no names are given, or if a name is unknown, so that the error message
 * can list the known types.
 */
export async function loadConnectionTypes(names?: ReadonlySet<unknown>): Promise<ConnectionTypes> {
  const known: Readonly<Record<string, () => Promise<AnyConnectionType>>> = registry;
  const isEachKnown = names !== undefined && [...names].every((name) => Object.hasOwn(known, String(name)));
  const wanted = Object.entries(known).filter(([name]) => !isEachKnown || names.has(name));
  return new Map(await Promise.all(wanted.map(async ([name, load]) => [name, await load()] as const)));
}

/**
 * Loads the rehearsals, the substitutes for connection types in the warm-up, for the types with these names. Types without a rehearsal are
 * skipped.
 */
export function loadRehearsals(names: ReadonlySet<string>): Promise<readonly AnyConnectionType[]> {
  const wanted = Object.entries(rehearsals).filter(([name]) => names.has(name));
  return Promise.all(wanted.map(([, load]) => load()));
}

type SettingsOf<Type> = Type extends { readonly type: infer Name; readonly settingsSchema: infer Schema }
  ? { readonly type: Name } & WithTexts<z.input<Schema>> & z.input<z.ZodObject<typeof commonSettings>>
  : never;

/** A string setting whose value comes from an environment variable or from a file. */
type TextElsewhere = { readonly env: string } | { readonly file: string };

/** The settings in a form in which every string may come from the environment or from a file. */
type WithTexts<Settings> = Settings extends string
  ? string extends Settings
    ? Settings | TextElsewhere
    : Settings
  : Settings extends object
    ? { [Key in keyof Settings]: WithTexts<Settings[Key]> }
    : Settings;

/** The settings of a connection as written in a flow file, for each connection type. */
export type ConnectionSettings = SettingsOf<Awaited<ReturnType<(typeof registry)[keyof typeof registry]>>>;
