// Presses keys under X11 by their keycodes (XTEST Extension Protocol, version 2.2). The keycode of a name is looked up in the
// layout once per press. So the key that was pressed is the key that is released, even if the layout changes in between.

import type { Presser } from '../presser.ts';
import type { Layout } from './layout.ts';
import type { XServer } from './server.ts';

const getInputFocus = 43;
const fakeInput = 2;
const fakeInputBytes = 36;
const keyPress = 2;
const keyRelease = 3;

/** Errors: one sentence, when the server has no XTEST. */
export async function openXTest(server: XServer, layout: Layout): Promise<Presser> {
  const { opcode } = await server.extension('XTEST', 'no key can be pressed');
  const send = async (event: number, keycode: number) => {
    const request = Buffer.alloc(fakeInputBytes);
    request.set([opcode, fakeInput]);
    request.set([event, keycode], 4);
    server.send(request);
    await server.ask(Buffer.from([getInputFocus, 0, 0, 0])); // once it answers it has made the event
  };
  return {
    find: async (names) => {
      await server.ask(Buffer.from([getInputFocus, 0, 0, 0])); // the layout may have changed a moment ago
      await layout.ready();
      return names.map((name) => {
        const keycode = layout.pressedFor(name);
        if (keycode === undefined) throw new Error(`the keyboard layout has no key "${name}"`);
        return keycode;
      });
    },
    press: (keycode) => send(keyPress, keycode),
    release: (keycode) => send(keyRelease, keycode),
  };
}
