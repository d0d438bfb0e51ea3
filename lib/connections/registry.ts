// The connection types that the hub has. To add one, import it and put it on the list: flow files, their JSON Schema and
// their types in TypeScript follow from that.

import type { z } from 'zod';
import { alarms } from './alarms/alarms.ts';
import type { AnyConnectionType } from './connection.ts';
import { dummy } from './dummy/dummy.ts';
import { keyboard } from './keyboard/keyboard.ts';
import { nats } from './nats/nats.ts';
import { restApi } from './rest-api/rest-api.ts';
import { schedule } from './schedule/schedule.ts';
import type { commonSettings } from './setting.ts';
import { store } from './store/store.ts';
import { timer } from './timer/timer.ts';
import { virtualCore } from './virtual-core/virtual-core.ts';
import { xmlFileOutput } from './xml-file-output/xml-file-output.ts';

/** In the order in which documents and schemas list them. */
const types = [restApi, dummy, timer, schedule, xmlFileOutput, keyboard, virtualCore, alarms, store, nats] as const;

/** The connection types by name. */
export const connectionTypes: ReadonlyMap<string, AnyConnectionType> = new Map(types.map((type) => [type.type, type]));

type SettingsOf<Type> = Type extends { readonly type: infer Name; readonly settingsSchema: infer Schema }
  ? { readonly type: Name } & WithTexts<z.input<Schema>> & z.input<z.ZodObject<typeof commonSettings>>
  : never;

/** A text that is in the environment, or in a file. */
type TextElsewhere = { readonly env: string } | { readonly file: string };

/** Settings whose texts may be elsewhere. */
type WithTexts<Settings> = Settings extends string
  ? string extends Settings
    ? Settings | TextElsewhere
    : Settings
  : Settings extends object
    ? { [Key in keyof Settings]: WithTexts<Settings[Key]> }
    : Settings;

/** The settings of a connection as flow files write them, for each type. */
export type ConnectionSettings = SettingsOf<(typeof types)[number]>;
