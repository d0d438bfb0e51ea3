// The setting `expect`: parameters that flow files may name before the connection's peer has reported these parameters.

import { z } from 'zod';
import { readRegularFileSync } from '../files/regular-file.ts';
import { messageOf } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import { type ValueType, valueTypes } from '../model/value.ts';
import type { ResolvePath, SettingMistake } from './setting.ts';

/** The maximum size of a file that lists expected parameters, in bytes. */
const maxFileBytes = 1_048_576;

/**
 * Returns the schema for a setting that lists expected parameters as lines such as `lamp/state,B`, or that names a file with such a list.
 */
export function expectSetting(about: string) {
  return z
    .union([z.array(z.string({ error: 'a line such as "lamp/state,B"' })).max(10_000), z.string().min(1)], {
      error: 'a list of lines such as "lamp/state,B", or the path of a file written by patchbay types --of',
    })
    .default([])
    .describe(about);
}

type Expect = z.output<ReturnType<typeof expectSetting>>;

export interface Expected {
  readonly id: string;
  readonly type: ValueType;
  /** The path of the setting that contains the parameter. */
  readonly path: SettingMistake['path'];
}

/** Parses the setting `expect`. `whyNot` returns what is wrong with an ID and its type, or undefined if they are valid. */
export function readExpected(
  expect: Expect,
  resolvePath: ResolvePath,
  whyNot: (id: string, type: ValueType) => string | undefined,
): { readonly list: readonly Expected[]; readonly mistakes: readonly SettingMistake[] } {
  const list = new Map<string, Expected>();
  const mistakes: SettingMistake[] = [];
  const lines = typeof expect === 'string' ? linesOfFile(expect, resolvePath) : expect;
  if (typeof lines === 'string') return { list: [], mistakes: [{ path: ['expect'], message: lines }] };
  for (const [index, line] of lines.entries()) {
    const path = typeof expect === 'string' ? ['expect'] : ['expect', index];
    const at = line.lastIndexOf(',');
    const [id, type] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    const isType = (text: string): text is ValueType => valueTypes.includes(text as ValueType);
    const message = !isType(type)
      ? `expected a value type S, B, I, F or T after the comma, got "${type}"`
      : (whyNot(id, type) ?? (list.has(id) ? `expected each parameter once, got "${id}" twice` : undefined));
    if (message !== undefined) mistakes.push({ path, message });
    else list.set(id, { id, type: type as ValueType, path });
  }
  return { list: [...list.values()], mistakes };
}

/** Returns the parameters in a file such as `{"lamp/state":"B"}` as lines. Returns a message if the file is invalid. */
function linesOfFile(file: string, resolvePath: ResolvePath): readonly string[] | string {
  try {
    const data: unknown = JSON.parse(readRegularFileSync(resolvePath(file), maxFileBytes).toString());
    if (!isJsonObject(data)) return `expected an object of value types by Parameter ID in ${file}`;
    return Object.entries(data).map(([id, type]) => `${id},${String(type)}`);
  } catch (error) {
    return `expected the output of patchbay types --of in ${file}, got ${messageOf(error)}`;
  }
}
