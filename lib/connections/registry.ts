// Every connection type of the hub, by the name that flow files use.

import type { z } from 'zod';
import type { AnyConnectionType } from './connection.ts';
import { dummy, type config as dummySettings } from './dummy/dummy.ts';
import { keyboard } from './keyboard/keyboard.ts';
import type { settings as keyboardSettings } from './keyboard/settings.ts';
import { restApi } from './rest-api/rest-api.ts';
import type { settingsSchema as restApiSettings } from './rest-api/settings.ts';
import type { commonSettings } from './setting.ts';
import { timer, type config as timerSettings } from './timer/timer.ts';
import type { config as coreSettings } from './virtual-core/settings.ts';
import { virtualCore } from './virtual-core/virtual-core.ts';
import { xmlFileOutput, type config as xmlSettings } from './xml-file-output/xml-file-output.ts';

const types: readonly AnyConnectionType[] = [restApi, dummy, timer, xmlFileOutput, keyboard, virtualCore];

/** The connection types, in the order of the README's table. */
export const connectionTypes: ReadonlyMap<string, AnyConnectionType> = new Map(types.map((type) => [type.type, type]));

type Settings<Type extends string, Schema extends z.ZodType> = { readonly type: Type } & z.input<Schema> &
  z.input<z.ZodObject<typeof commonSettings>>;

/** The settings of a connection as flow files write them, for each type. */
export type ConnectionSettings =
  | Settings<'rest-api', typeof restApiSettings>
  | Settings<'dummy', typeof dummySettings>
  | Settings<'timer', typeof timerSettings>
  | Settings<'xml-file-output', typeof xmlSettings>
  | Settings<'keyboard', typeof keyboardSettings>
  | Settings<'virtual-core', typeof coreSettings>;
