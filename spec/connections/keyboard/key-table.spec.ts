// The table of keys against what the two libraries say themselves.

import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'ava';
import { eitherSide, keyByName, keyRows, keys } from '../../../lib/connections/keyboard/key-table.ts';
import { needs } from '../../support/programs.ts';

needs('keyboard');

// Asked in a process of its own: without a display, a process that has loaded the libraries does not exit well.
const question = 'JSON.stringify([require("uiohook-napi").UiohookKey, require("@nut-tree-fork/nut-js").Key])';
const [UiohookKey, Key] = JSON.parse(spawnSync(process.execPath, ['-p', question], { encoding: 'utf8' }).stdout) as [
  Record<string, number>,
  Record<string, number | string>,
];

/** Names of nut-js that press the same key as another name, or, as its provider says, none. */
const otherNames = ['LeftWin', 'LeftCmd', 'LeftMeta', 'RightWin', 'RightCmd', 'RightMeta'];
const pressesNothing = ['Pause'];

/** The key codes of the C library, which reports more keys than uiohook-napi has names for. */
async function headerCodes(): Promise<Set<number>> {
  const folder = dirname(createRequire(import.meta.url).resolve('uiohook-napi/package.json'));
  const header = await readFile(join(folder, 'libuiohook/include/uiohook.h'), 'utf8');
  const codes = new Map<string, number>();
  for (const [, name, value] of header.matchAll(/#define (VC_\w+)\s+((?:0x\w+|VC_\w+)(?: \| VC_\w+)?)/g))
    codes.set(
      name!,
      value!.split(' | ').reduce((code, part) => code | (codes.get(part) ?? Number(part)), 0),
    );
  return new Set(codes.values());
}

test('names are unique, and only media and volume keys have a hyphen', (t) => {
  t.is(keyByName.size, keys.length);
  for (const { name } of keys) t.regex(name, /^([a-z]+|[a-z]*\d{1,2}|(media|volume)-[a-z]+)$/);
});

test('every key of uiohook-napi is in the table, by its code', (t) => {
  const heard = new Set(keys.flatMap(({ detectedAs }) => detectedAs));
  for (const [name, code] of Object.entries(UiohookKey)) t.true(heard.has(code), name);
});

test('every code of the table is one of uiohook-napi or of its C library, and means one key', async (t) => {
  const known = new Set([...(await headerCodes()), ...Object.values(UiohookKey)]);
  t.true(known.size > 100);
  const codes = keys.filter(({ name }) => !eitherSide.has(name)).flatMap(({ detectedAs }) => detectedAs);
  for (const code of codes) t.true(known.has(code), code.toString(16));
  t.is(new Set(codes).size, codes.length);
});

test('letters, digits and function keys are heard as the keys of the same name', (t) => {
  for (const [name, code] of Object.entries(UiohookKey))
    if (/^([A-Z]|\d|F\d+)$/.test(name)) t.deepEqual(keyByName.get(name.toLowerCase())?.detectedAs, [code], name);
  for (let digit = 0; digit < 10; digit++)
    t.true(keyByName.get(`numpad${digit}`)?.detectedAs.includes(UiohookKey[`Numpad${digit}`]!), `${digit}`);
});

test('every key of nut-js is in the table, and each name of the table is one of its own', (t) => {
  const pressed = keys.flatMap(({ pressedAs }) => pressedAs ?? []);
  const names = Object.keys(Key).filter((name) => Number.isNaN(Number(name)));
  const expected = names.filter((name) => ![...otherNames, ...pressesNothing].includes(name));
  t.deepEqual([...new Set(pressed)].sort(), expected.sort());
});

test('a modifier without side is its two sides, and presses the left one', (t) => {
  for (const [name, [left, right]] of eitherSide) {
    const [either, l, r] = [name, left!, right!].map((key) => keyByName.get(key)!);
    t.deepEqual(either!.detectedAs, [...l!.detectedAs, ...r!.detectedAs]);
    t.is(either!.pressedAs, l!.pressedAs);
  }
});

test('the rows for people say on which side a key works', (t) => {
  const rows = new Map(keyRows().map((row) => [row.key, row]));
  t.is(rows.size, keys.length);
  t.deepEqual(rows.get('ctrl'), { key: 'ctrl', input: 'yes', output: 'yes' });
  t.deepEqual(rows.get('pause'), { key: 'pause', input: 'yes', output: 'only under X11' });
  t.deepEqual(rows.get('intlbackslash'), { key: 'intlbackslash', input: 'yes', output: 'only under X11' });
  t.deepEqual(rows.get('media-pause'), { key: 'media-pause', input: 'only under X11', output: 'yes' });
  t.deepEqual(rows.get('media-play'), { key: 'media-play', input: 'yes', output: 'yes' });
  t.deepEqual(rows.get('fn'), { key: 'fn', input: 'no', output: 'not under X11' });
});
