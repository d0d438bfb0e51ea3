// The keyboard layout of an X server: which key has which name from the key table in the active layout (X Keyboard Extension, protocol
// 1.0). Hotkeys and presses both use this layout, so that a name stands for the same key in both cases.
import { functionKeycodes, intlBackslash, keysyms } from './keysyms.ts';
import type { XServer } from './x-server.ts';

const without = 'the names of the keys are unknown';
const request = { use: 0, selectEvents: 1, getState: 4, getMap: 8 } as const;
/** The XKB event codes, which are in the second byte of each XKB event. */
const event = { newKeyboard: 0, map: 1, state: 2 } as const;
const coreKeyboard = 0x100;
const allMapParts = 0xff;
const keySyms = 0x02;
const mapHeadBytes = 40;
const keyHeadBytes = 8;
/** The cost of an inactive layout. Its keys are used only if the active layout has no key with the name. */
const otherLayout = 1000;

/** The keysyms of a key: a list for each layout, in the order of the shift levels. */
interface KeySyms {
  readonly keycode: number;
  readonly layouts: readonly (readonly number[])[];
  /** The rule that determines the layout for a key with fewer layouts than the keyboard. */
  readonly outOfRange: number;
}

export class Layout {
  readonly #server: XServer;
  readonly #opcode: number;
  /** Called when names may refer to other keys than before. */
  changed: () => void = () => {};
  #keys: readonly KeySyms[] = [];
  #active = 0;
  #reading: Promise<void> | undefined;
  #isOutdated = false;
  /** The keycodes of the keys with each name. */
  #keycodes: ReadonlyMap<string, readonly number[]> = new Map();
  #names: ReadonlyMap<number, readonly string[]> = new Map();

  private constructor(server: XServer, opcode: number) {
    this.#server = server;
    this.#opcode = opcode;
  }

  /**
   * Reads the layout of a server and follows its changes. Errors: `Error` with a readable message if the server does not support XKEYBOARD.
   */
  static async open(server: XServer): Promise<Layout> {
    const { opcode, firstEvent } = await server.extension('XKEYBOARD', without);
    await server.ask(Buffer.from([opcode, request.use, 0, 0, 1, 0, 0, 0]));
    const layout = new Layout(server, opcode);
    const events = (1 << event.newKeyboard) | (1 << event.map) | (1 << event.state);
    const select = Buffer.alloc(16);
    select.set([opcode, request.selectEvents]);
    for (const [index, word] of [coreKeyboard, events, 0, events, allMapParts, allMapParts].entries())
      select.writeUInt16LE(word, 4 + 2 * index);
    server.send(select);
    server.onEvent((message) => {
      if (message[0] !== firstEvent) return;
      const isKnown = message[1] === event.state && layout.#reading === undefined;
      if (isKnown) layout.#activate(message[13]!);
      else layout.#read().catch(() => {});
    });
    await layout.#read();
    return layout;
  }

  /** Resolves as soon as the layout is up to date: immediately, or after a changed layout has been read again. */
  async ready(): Promise<void> {
    await this.#reading?.catch(() => {}); // the end of the server connection is reported elsewhere
  }

  /** Returns the keycode to press for a name, or undefined if the layout has no such key. */
  pressedFor(name: string): number | undefined {
    return this.#keycodes.get(name)?.[0];
  }

  /** Returns the keycodes that are detected under a name. */
  detectedAs(name: string): readonly number[] {
    const place = functionKeycodes.get(name);
    return this.#keycodes.get(name) ?? (place === undefined ? [] : [place]);
  }

  /** Returns all names of the key with a keycode. For example, `6` and `minus` are the same key on a French keyboard. */
  namesOf(keycode: number): readonly string[] {
    return this.#names.get(keycode) ?? [];
  }

  /** Reads the layout, one request at a time, and repeats this until the layout has not changed in the meantime. */
  #read(): Promise<void> {
    this.#isOutdated = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    while (this.#isOutdated) {
      this.#isOutdated = false;
      const [state, map] = await Promise.all([
        this.#ask(request.getState, 8),
        this.#ask(request.getMap, 28, keySyms), // the complete map, which is only a few kilobytes
      ]);
      this.#active = state[12]!;
      this.#keys = [...keysIn(map)];
    }
    this.#name();
  }

  #ask(minor: number, bytes: number, parts = 0): Promise<Buffer> {
    const question = Buffer.alloc(bytes);
    question.set([this.#opcode, minor]);
    question.writeUInt16LE(coreKeyboard, 4);
    question.writeUInt16LE(parts, 6);
    return this.#server.ask(question);
  }

  #activate(layout: number): void {
    if (layout === this.#active) return;
    this.#active = layout;
    this.#name();
  }

  /** Determines the keys for each name: those that have the name at the lowest shift level, in the active layout if possible. */
  #name(): void {
    const places = new Map<number, { cost: number; keycode: number }[]>();
    const count = Math.max(1, ...this.#keys.map(({ layouts }) => layouts.length));
    const order = [this.#active, ...Array.from({ length: count }, (_, index) => index)];
    for (const key of this.#keys)
      for (const [rank, layout] of order.entries())
        for (const [shifts, keysym] of layoutOf(key, layout).entries()) {
          const cost = rank * otherLayout + (isOfPad(keysym) && shifts === 1 ? 0 : shifts);
          const known = places.get(keysym);
          if (known === undefined) places.set(keysym, [{ cost, keycode: key.keycode }]);
          else known.push({ cost, keycode: key.keycode });
        }
    const keycodes = new Map<string, readonly number[]>();
    for (const [name, wanted] of keysyms) {
      const found = wanted.flatMap((keysym) => places.get(keysym) ?? []);
      const least = Math.min(...found.map(({ cost }) => cost));
      const best = found.filter(({ cost }) => cost === least).map(({ keycode }) => keycode);
      if (best.length > 0) keycodes.set(name, [...new Set(best)]);
    }
    const { name, keycode } = intlBackslash;
    if (this.#keys.some((key) => key.keycode === keycode && layoutOf(key, this.#active).some(Boolean)))
      keycodes.set(name, [keycode]);
    this.#keycodes = keycodes;
    const names = new Map<number, string[]>();
    for (const name of [...keycodes.keys(), ...functionKeycodes.keys()])
      for (const code of this.detectedAs(name)) names.set(code, [...new Set([...(names.get(code) ?? []), name])]);
    this.#names = names;
    this.changed();
  }
}

/**
 * Returns the keysyms of a key in a layout. A key with fewer layouts states which of its layouts to use instead (X Keyboard Extension
 * library specification, section 10.4).
 */
function layoutOf({ layouts, outOfRange }: KeySyms, layout: number): readonly number[] {
  if (layout < layouts.length || layouts.length === 0) return layouts[layout] ?? [];
  const way = outOfRange & 0xc0;
  if (way === 0x40) return layouts.at(-1)!;
  if (way === 0x80) return layouts[(outOfRange >> 4) & 3] ?? layouts[0]!;
  return layouts[layout % layouts.length]!;
}

/** Returns whether a keysym belongs to a numpad key. Such a key has two names, with and without NumLock. */
function isOfPad(keysym: number): boolean {
  return keysym >= 0xff80 && keysym <= 0xffbd;
}

function* keysIn(answer: Buffer): Iterable<KeySyms> {
  const first = answer[17]!;
  const count = answer[20]!;
  let at = mapHeadBytes;
  for (let index = 0; index < count && at + keyHeadBytes <= answer.length; index++) {
    const info = answer[at + 4]!;
    const width = answer[at + 5]!;
    const keysymCount = answer.readUInt16LE(at + 6);
    const keysym = (place: number) => answer.readUInt32LE(at + keyHeadBytes + 4 * place);
    const layouts = Array.from({ length: info & 0x0f }, (_, layout) =>
      Array.from({ length: width }, (_, shifts) => keysym(layout * width + shifts)),
    );
    yield { keycode: first + index, layouts, outOfRange: info };
    at += keyHeadBytes + 4 * keysymCount;
  }
}
