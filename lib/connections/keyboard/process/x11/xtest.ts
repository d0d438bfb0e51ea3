// Presses keys under X11 by their keycodes (XTEST Extension Protocol, version 2.2). The keycode of a name is looked up in the
// layout once per press. So the key that was pressed is the key that is released, even if the layout changes in between.

import type { Presser } from '../presser.ts';
import { keysyms } from './keysyms.ts';
import { padded, type XServer } from './server.ts';

/** Opcodes of the requests. */
const opcode = { getInputFocus: 43, queryExtension: 98, getKeyboardMapping: 101 } as const;
const fakeInput = 2;
const fakeInputBytes = 36;
const keyPress = 2;
const keyRelease = 3;

/** Errors: one sentence, when the server has no XTEST. */
export async function openXTest(server: XServer): Promise<Presser> {
  const major = await queryExtension(server, 'XTEST');
  const send = async (event: number, keycode: number) => {
    const request = Buffer.alloc(fakeInputBytes);
    request.set([major, fakeInput]);
    request.set([event, keycode], 4);
    server.send(request);
    await server.ask(Buffer.from([opcode.getInputFocus, 0, 0, 0])); // once it answers it has made the event
  };
  return {
    find: async (names) => {
      const layout = await readLayout(server);
      return names.map((name) => findKeycode(layout, name));
    },
    press: (keycode) => send(keyPress, keycode),
    release: (keycode) => send(keyRelease, keycode),
  };
}

async function queryExtension(server: XServer, name: string): Promise<number> {
  const head = Buffer.from([opcode.queryExtension, 0, 0, 0, name.length, 0, 0, 0]);
  const answer = await server.ask(Buffer.concat([head, padded(Buffer.from(name))]));
  if (answer[8] !== 1) throw new Error(`the X server has no extension ${name}, without which no key can be pressed`);
  return answer[9]!;
}

/** The keysyms of a layout: those of the first keycode, those of the next, … each in the order of its shifts. */
interface Layout {
  readonly firstKeycode: number;
  readonly keysymsPerKeycode: number;
  readonly keysyms: Uint32Array;
}

async function readLayout(server: XServer): Promise<Layout> {
  const { first, last } = server.keycodes;
  const answer = await server.ask(Buffer.from([opcode.getKeyboardMapping, 0, 0, 0, first, last - first + 1, 0, 0]));
  const keysyms = Uint32Array.from({ length: (answer.length - 32) / 4 }, (_, index) =>
    answer.readUInt32LE(32 + index * 4),
  );
  return { firstKeycode: first, keysymsPerKeycode: answer[1]!, keysyms };
}

/** The key that bears a name; one that bears it without a shift comes first. Errors: the layout has no such key. */
function findKeycode({ firstKeycode, keysymsPerKeycode, keysyms: ofLayout }: Layout, name: string): number {
  for (const keysym of keysyms.get(name) ?? [])
    for (let shift = 0; shift < keysymsPerKeycode; shift++)
      for (let index = shift; index < ofLayout.length; index += keysymsPerKeycode)
        if (ofLayout[index] === keysym) return firstKeycode + (index - shift) / keysymsPerKeycode;
  throw new Error(`the keyboard layout has no key "${name}"`);
}
