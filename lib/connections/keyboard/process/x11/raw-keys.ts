// Detects keys on an X server, regardless of which window is focused and even if a program has grabbed the keyboard (X Input Extension 2.1,
// raw events). Keys are reported by their names in the layout that is active at the time.
import type { KeyListener, Presser } from '../hotkeys.ts';
import type { Layout } from './keyboard-layout.ts';
import type { XServer } from './x-server.ts';

const selectEvents = 46;
const queryVersion = 47;
const allMasterDevices = 1;
const genericEvent = 35;
const rawKey = { press: 13, release: 14 } as const;

/** Starts to detect keys. Errors: `Error` with a readable message if the server does not support XInputExtension. */
export async function listenToRawKeys(server: XServer, layout: Layout, listener: KeyListener): Promise<void> {
  const { opcode } = await server.extension('XInputExtension', 'no key can be detected');
  const version = Buffer.alloc(8);
  version.set([opcode, queryVersion]);
  version.writeUInt16LE(2, 4);
  version.writeUInt16LE(1, 6);
  await server.ask(version);
  const select = Buffer.alloc(20);
  select.set([opcode, selectEvents]);
  select.writeUInt32LE(server.root, 4);
  select.writeUInt16LE(1, 8); // a single mask of four bytes
  select.writeUInt16LE(allMasterDevices, 12);
  select.writeUInt16LE(1, 14);
  select.writeUInt32LE((1 << rawKey.press) | (1 << rawKey.release), 16);
  let work = Promise.resolve();
  server.onEvent((message) => {
    if (message[0] !== genericEvent || message[1] !== opcode) return;
    const [kind, keycode] = [message.readUInt16LE(8), message.readUInt32LE(16)];
    work = work.then(async () => {
      await layout.ready();
      if (kind === rawKey.press) listener.down(keycode, layout.namesOf(keycode));
      else if (kind === rawKey.release) listener.up(keycode);
    });
  });
  server.send(select);
}

// Presses keys under X11 by keycode (XTEST Extension Protocol, version 2.2). The keycode for a name is looked up only once for each press,
// so that the same key is released even if the layout changes in between.

const getInputFocus = 43;
const fakeInput = 2;
const fakeInputBytes = 36;
const keyPress = 2;
const keyRelease = 3;

/** Returns a presser that uses the XTEST extension. Errors: `Error` with a readable message if the server does not support XTEST. */
export async function openXTest(server: XServer, layout: Layout): Promise<Presser> {
  const { opcode } = await server.extension('XTEST', 'no key can be pressed');
  const send = async (event: number, keycode: number) => {
    const request = Buffer.alloc(fakeInputBytes);
    request.set([opcode, fakeInput]);
    request.set([event, keycode], 4);
    server.send(request);
    await server.ask(Buffer.from([getInputFocus, 0, 0, 0])); // when the answer arrives, the server has already generated the event
  };
  return {
    find: async (names) => {
      await server.ask(Buffer.from([getInputFocus, 0, 0, 0])); // the layout may just have changed
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
