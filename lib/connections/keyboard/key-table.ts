// The table of all keys. Each key has one name, which flow files use. On Windows and macOS, uiohook-napi detects keys and nut-js presses
// keys, and each library has its own codes; under X11, the keysym serves both purposes. The names follow the codes in W3C UI Events, in
// lower case. Because hyphens join keys, only the names of media keys and volume keys contain a hyphen.

import { isKnownToX11 } from './process/x11/keysyms.ts';

/** `input` for keys that are detected, `output` for keys that are pressed. */
export type Side = 'input' | 'output';

/**
 * A key in the table. A library's code is missing if the library does not know the key. Without X11, such a key can only be detected or
 * only be pressed.
 */
export interface Key {
  readonly name: string;
  /** The codes that uiohook-napi reports for the key. A numpad key has two codes, with and without NumLock. */
  readonly detectedAs: readonly number[];
  /** The name of the key in nut-js; undefined if nut-js cannot press the key. */
  readonly pressedAs: string | undefined;
}

/** The names of modifiers without a side, each with the names of its left and right keys. */
export const eitherSide: ReadonlyMap<string, readonly string[]> = new Map(
  ['ctrl', 'shift', 'alt', 'meta'].map((name): [string, string[]] => [name, [`l${name}`, `r${name}`]]),
);

/** The names of all modifiers, with and without a side. */
export const modifiers: ReadonlySet<string> = new Set([...eitherSide].flat(2));

const withoutNumLock = 0xee00;
const letterCodes = [
  0x1e, 0x30, 0x2e, 0x20, 0x12, 0x21, 0x22, 0x23, 0x17, 0x24, 0x25, 0x26, 0x32, 0x31, 0x18, 0x19, 0x10, 0x13, 0x1f,
  0x14, 0x16, 0x2f, 0x11, 0x2d, 0x15, 0x2c,
];
const digitCodes = [0x0b, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a];
const functionCodes = [
  0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0x40, 0x41, 0x42, 0x43, 0x44, 0x57, 0x58, 0x5b, 0x5c, 0x5d, 0x63, 0x64, 0x65, 0x66,
  0x67, 0x68, 0x69, 0x6a, 0x6b,
];
const padCodes = [0x52, 0x4f, 0x50, 0x51, 0x4b, 0x4c, 0x4d, 0x47, 0x48, 0x49];

/** The keys in the order in which `patchbay keys` prints them. */
export const keys: readonly Key[] = [
  key('ctrl', [0x1d, 0x0e1d], 'LeftControl'),
  key('shift', [0x2a, 0x36], 'LeftShift'),
  key('alt', [0x38, 0x0e38], 'LeftAlt'),
  key('meta', [0x0e5b, 0x0e5c], 'LeftSuper'),
  key('lctrl', 0x1d, 'LeftControl'),
  key('rctrl', 0x0e1d, 'RightControl'),
  key('lshift', 0x2a, 'LeftShift'),
  key('rshift', 0x36, 'RightShift'),
  key('lalt', 0x38, 'LeftAlt'),
  key('ralt', 0x0e38, 'RightAlt'),
  key('lmeta', 0x0e5b, 'LeftSuper'),
  key('rmeta', 0x0e5c, 'RightSuper'),
  key('fn', undefined, 'Fn'),

  ...letterCodes.map((code, index) => {
    const letter = String.fromCharCode('a'.charCodeAt(0) + index);
    return key(letter, code, letter.toUpperCase());
  }),
  ...digitCodes.map((code, digit) => key(`${digit}`, code, `Num${digit}`)),
  ...functionCodes.map((code, index) => key(`f${index + 1}`, code, `F${index + 1}`)),

  key('escape', 0x01, 'Escape'),
  key('tab', 0x0f, 'Tab'),
  key('capslock', 0x3a, 'CapsLock'),
  key('space', 0x39, 'Space'),
  key('enter', 0x1c, 'Return'),
  key('backspace', 0x0e, 'Backspace'),
  key('insert', 0x0e52, 'Insert'),
  key('delete', 0x0e53, 'Delete'),
  key('home', 0x0e47, 'Home'),
  key('end', 0x0e4f, 'End'),
  key('pageup', 0x0e49, 'PageUp'),
  key('pagedown', 0x0e51, 'PageDown'),
  key('up', 0xe048, 'Up'),
  key('down', 0xe050, 'Down'),
  key('left', 0xe04b, 'Left'),
  key('right', 0xe04d, 'Right'),
  key('printscreen', 0x0e37, 'Print'),
  key('scrolllock', 0x46, 'ScrollLock'),
  key('pause', 0x0e45, undefined),
  key('menu', 0x0e5d, 'Menu'),
  key('clear', 0xe04c, 'Clear'),

  key('minus', 0x0c, 'Minus'),
  key('equal', 0x0d, 'Equal'),
  key('comma', 0x33, 'Comma'),
  key('period', 0x34, 'Period'),
  key('slash', 0x35, 'Slash'),
  key('backslash', 0x2b, 'Backslash'),
  key('semicolon', 0x27, 'Semicolon'),
  key('quote', 0x28, 'Quote'),
  key('backquote', 0x29, 'Grave'),
  key('bracketleft', 0x1a, 'LeftBracket'),
  key('bracketright', 0x1b, 'RightBracket'),
  key('intlbackslash', 0x0e46, undefined),

  key('numlock', 0x45, 'NumLock'),
  ...padCodes.map((code, digit) => key(`numpad${digit}`, [code, withoutNumLock | code], `NumPad${digit}`)),
  key('numpaddecimal', [0x53, withoutNumLock | 0x53], 'Decimal'),
  key('numpadadd', 0x4e, 'Add'),
  key('numpadsubtract', 0x4a, 'Subtract'),
  key('numpadmultiply', 0x37, 'Multiply'),
  key('numpaddivide', 0x0e35, 'Divide'),
  key('numpadequal', 0x0e0d, 'NumPadEqual'),
  key('numpadenter', 0x0e1c, 'Enter'),

  key('media-play', 0xe022, 'AudioPlay'),
  key('media-pause', undefined, 'AudioPause'),
  key('media-stop', 0xe024, 'AudioStop'),
  key('media-next', 0xe019, 'AudioNext'),
  key('media-previous', 0xe010, 'AudioPrev'),
  key('media-rewind', undefined, 'AudioRewind'),
  key('media-forward', undefined, 'AudioForward'),
  key('media-repeat', undefined, 'AudioRepeat'),
  key('media-random', undefined, 'AudioRandom'),
  key('media-select', 0xe06d, undefined),
  key('media-eject', 0xe02c, undefined),
  key('volume-up', 0xe030, 'AudioVolUp'),
  key('volume-down', 0xe02e, 'AudioVolDown'),
  key('volume-mute', 0xe020, 'AudioMute'),
];

export const keyByName: ReadonlyMap<string, Key> = new Map(keys.map((row) => [row.name, row]));

/** Returns the keys that a name stands for. `ctrl` stands for `lctrl` and `rctrl`; a name with a side stands for itself. */
export function physicalKeys(name: string): readonly string[] {
  return eitherSide.get(name) ?? [name];
}

/** The platforms on which a key can be detected or pressed. The keyboard itself may still lack the key. */
export type Support = 'yes' | 'no' | 'not under X11' | 'only under X11';

/**
 * Returns where a key can be detected or pressed: `supportOf('pause', 'output')` returns `only under X11`. Returns `no` for an unknown
 * name.
 */
export function supportOf(name: string, side: Side): Support {
  const key = keyByName.get(name);
  const isKnownElsewhere = side === 'input' ? (key?.detectedAs.length ?? 0) > 0 : key?.pressedAs !== undefined;
  if (isKnownToX11(name)) return isKnownElsewhere ? 'yes' : 'only under X11';
  return isKnownElsewhere ? 'not under X11' : 'no';
}

/** A row in the output of `patchbay keys`, such as `{key: 'pause', input: 'yes', output: 'only under X11'}`. */
export interface KeyRow {
  readonly key: string;
  readonly input: Support;
  readonly output: Support;
}

/** Returns the rows in the output of `patchbay keys`, one for each key. */
export function keyRows(): KeyRow[] {
  return keys.map(({ name }) => ({ key: name, input: supportOf(name, 'input'), output: supportOf(name, 'output') }));
}

function key(name: string, detectedAs: number | readonly number[] | undefined, pressedAs: string | undefined): Key {
  return { name, detectedAs: detectedAs === undefined ? [] : [detectedAs].flat(), pressedAs };
}
