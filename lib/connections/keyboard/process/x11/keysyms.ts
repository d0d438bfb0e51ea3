// The keysyms for the keys in the key table. An X11 layout identifies keys by keysyms (X Window System Protocol, appendix A; media keys
// have XFree86 keysyms). If a name has several keysyms, all of them are detected and the first available keysym is pressed.

const latin = (character: string) => character.charCodeAt(0);
const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const digits = [...'0123456789'];

export const keysyms: ReadonlyMap<string, readonly number[]> = new Map([
  row('ctrl', 0xffe3),
  row('shift', 0xffe1),
  row('alt', 0xffe9),
  row('meta', 0xffeb),
  row('lctrl', 0xffe3),
  row('rctrl', 0xffe4),
  row('lshift', 0xffe1),
  row('rshift', 0xffe2),
  row('lalt', 0xffe9),
  row('ralt', 0xffea, 0xfe03), // AltGr, if the keyboard has this key
  row('lmeta', 0xffeb),
  row('rmeta', 0xffec),

  ...[...letters, ...digits].map((character) => row(character, latin(character))),
  ...Array.from({ length: 24 }, (_, index) => row(`f${index + 1}`, 0xffbe + index)),

  row('escape', 0xff1b),
  row('tab', 0xff09),
  row('capslock', 0xffe5),
  row('space', latin(' ')),
  row('enter', 0xff0d),
  row('backspace', 0xff08),
  row('insert', 0xff63),
  row('delete', 0xffff),
  row('home', 0xff50),
  row('end', 0xff57),
  row('pageup', 0xff55),
  row('pagedown', 0xff56),
  row('up', 0xff52),
  row('down', 0xff54),
  row('left', 0xff51),
  row('right', 0xff53),
  row('printscreen', 0xff61),
  row('scrolllock', 0xff14),
  row('pause', 0xff13),
  row('menu', 0xff67),
  row('clear', 0xff0b),

  row('minus', latin('-')),
  row('equal', latin('=')),
  row('comma', latin(',')),
  row('period', latin('.')),
  row('slash', latin('/')),
  row('backslash', latin('\\')),
  row('semicolon', latin(';')),
  row('quote', latin("'")),
  row('backquote', latin('`'), 0xfe50), // the dead key, if there is no other key for the character
  row('bracketleft', latin('[')),
  row('bracketright', latin(']')),

  row('numlock', 0xff7f),
  ...digits.map((digit) => row(`numpad${digit}`, 0xffb0 + Number(digit))),
  row('numpaddecimal', 0xffae, 0xffac), // a comma, if the layout has a decimal comma
  row('numpadadd', 0xffab),
  row('numpadsubtract', 0xffad),
  row('numpadmultiply', 0xffaa),
  row('numpaddivide', 0xffaf),
  row('numpadequal', 0xffbd),
  row('numpadenter', 0xff8d),

  row('media-play', 0x1008ff14),
  row('media-pause', 0x1008ff31),
  row('media-stop', 0x1008ff15),
  row('media-next', 0x1008ff17),
  row('media-previous', 0x1008ff16),
  row('media-rewind', 0x1008ff3e),
  row('media-forward', 0x1008ff97),
  row('media-repeat', 0x1008ff98),
  row('media-random', 0x1008ff99),
  row('media-select', 0x1008ff32),
  row('media-eject', 0x1008ff2c),
  row('volume-up', 0x1008ff13),
  row('volume-down', 0x1008ff11),
  row('volume-mute', 0x1008ff12),
]);

/** The key next to the left Shift is named after its position, because its character differs between layouts. */
export const intlBackslash = { name: 'intlbackslash', keycode: 94 } as const;

/**
 * The keycodes of F13 to F24. Most layouts have other keysyms or no keysyms for these keycodes, so such a key can be detected, but programs
 * do not recognize it as F13.
 */
export const functionKeycodes: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 12 }, (_, index) => [`f${index + 13}`, 191 + index]),
);

/** Returns whether X11 has a keysym for the name. Whether the keyboard has such a key depends on the layout. */
export function isKnownToX11(name: string): boolean {
  return keysyms.has(name) || name === intlBackslash.name;
}

function row(name: string, ...keysyms: readonly number[]): readonly [string, readonly number[]] {
  return [name, keysyms];
}
