// Every connection type of the hub, by the name that flow files use.

import type { AnyConnectionType } from './connection.ts';
import { dummy } from './dummy.ts';
import { keyboard } from './keyboard/keyboard.ts';
import { restApi } from './rest-api/rest-api.ts';
import { timer } from './timer.ts';
import { virtualCore } from './virtual-core/virtual-core.ts';
import { xmlFileOutput } from './xml-file-output/xml-file-output.ts';

const types: readonly AnyConnectionType[] = [restApi, dummy, timer, xmlFileOutput, keyboard, virtualCore];

/** The connection types, in the order of the README's table. */
export const connectionTypes: ReadonlyMap<string, AnyConnectionType> = new Map(types.map((type) => [type.type, type]));
