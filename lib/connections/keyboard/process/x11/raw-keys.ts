// Hears the keys of an X server, whichever window has the focus and whoever has grabbed the keyboard (X Input Extension 2.1, raw
// events), by the names that they bear in the layout of that moment.

import type { KeyListener } from '../hotkeys.ts';
import type { Layout } from './layout.ts';
import type { XServer } from './server.ts';

const selectEvents = 46;
const queryVersion = 47;
const allMasterDevices = 1;
const genericEvent = 35;
const rawKey = { press: 13, release: 14 } as const;

/** Begins to listen. Errors: one sentence, when the server has no XInputExtension. */
export async function hearRawKeys(server: XServer, layout: Layout, listener: KeyListener): Promise<void> {
  const { opcode } = await server.extension('XInputExtension', 'no key can be heard');
  const version = Buffer.alloc(8);
  version.set([opcode, queryVersion]);
  version.writeUInt16LE(2, 4);
  version.writeUInt16LE(1, 6);
  await server.ask(version);
  const select = Buffer.alloc(20);
  select.set([opcode, selectEvents]);
  select.writeUInt32LE(server.root, 4);
  select.writeUInt16LE(1, 8); // one mask, of four bytes
  select.writeUInt16LE(allMasterDevices, 12);
  select.writeUInt16LE(1, 14);
  select.writeUInt32LE((1 << rawKey.press) | (1 << rawKey.release), 16);
  let work = Promise.resolve();
  server.hear((message) => {
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
