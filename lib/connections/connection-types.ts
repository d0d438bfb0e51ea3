// The connection types of the registry, from which flow files, their JSON Schema and their TypeScript types are derived.

import type { z } from 'zod';
import type { AnyConnectionType } from './connection.ts';
import * as registry from './registry.ts';
import type { commonSettings } from './setting.ts';
import { storeRehearsal } from './store/store.ts';

/** The connection types by name. */
export const connectionTypes: ReadonlyMap<string, AnyConnectionType> = new Map(
  Object.values(registry).map((type) => [type.type, type]),
);

/** By name of a type that works with each change: a type that does the same without threads and files, for the warm-up. */
export const rehearsals: ReadonlyMap<string, AnyConnectionType> = new Map([[registry.store.type, storeRehearsal]]);

type SettingsOf<Type> = Type extends { readonly type: infer Name; readonly settingsSchema: infer Schema }
  ? { readonly type: Name } & WithTexts<z.input<Schema>> & z.input<z.ZodObject<typeof commonSettings>>
  : never;

/** A text from the environment, or from a file. */
type TextElsewhere = { readonly env: string } | { readonly file: string };

/** Settings whose texts may come from the environment or a file. */
type WithTexts<Settings> = Settings extends string
  ? string extends Settings
    ? Settings | TextElsewhere
    : Settings
  : Settings extends object
    ? { [Key in keyof Settings]: WithTexts<Settings[Key]> }
    : Settings;

/** The settings of a connection as in a flow file, for each type. */
export type ConnectionSettings = SettingsOf<(typeof registry)[keyof typeof registry]>;
