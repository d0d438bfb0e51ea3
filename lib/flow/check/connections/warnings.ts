// What works in the settings of a connection and is hardly meant. It is said at each load, and keeps nothing from running.

import { type Stats, statSync } from 'node:fs';
import { platform } from 'node:process';
import type { DeclaredAddresses } from '../../../connections/connection.ts';
import type { SettingPath } from '../../../json5/mistake.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import { type FoundConnection, resolver } from './found-connection.ts';

const othersRead = 0o004;

/** Adds the warnings of a connection, now that all connections are known. */
export function warnOf({ spot, data, secrets, type, settings, folder }: FoundConnection, declared: DeclaredAddresses) {
  for (const { path, text } of textsIn(data, type.declaring ?? [])) {
    const name = path.at(-1);
    if (name === 'password' && text !== '' && !text.startsWith('$scrypt$') && !secrets.includes(text))
      spot
        .at(...path)
        .warn(
          'expected { env } or { file }, or of a user what "patchbay password" prints, got a password in plain text',
        );
    if (name === 'keyFile' && isFileForAll(resolver(folder)(text))) spot.at(...path).warn(fileForAll(text));
  }
  for (const { path, message } of type.warnings?.(settings, declared) ?? []) spot.at(...path).warn(message);
}

/** Whether everybody on this machine may read a file; where that is not told by its mode, nobody knows. */
export function isForAll({ mode }: Stats): boolean {
  return platform !== 'win32' && (mode & othersRead) !== 0;
}

export function fileForAll(name: string): string {
  return `expected a file that only the hub can read (chmod o-r), everybody on this machine can read "${name}"`;
}

function isFileForAll(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && isForAll(found);
}

function* textsIn(
  data: unknown,
  without: readonly string[],
  path: SettingPath = [],
): Generator<{ path: SettingPath; text: string }> {
  if (!isJsonObject(data)) return;
  for (const [key, item] of Object.entries(data))
    if (typeof item === 'string') yield { path: [...path, key], text: item };
    else if (!without.includes(key)) yield* textsIn(item, [], [...path, key]);
}
