// What works in the settings of connections and is probably not meant. It keeps nothing from running, and only `patchbay check` looks for it.

import { statSync } from 'node:fs';
import { platform } from 'node:process';
import type { DeclaredAddresses, ServedFolder } from '../../../connections/connection.ts';
import type { PrivateFiles } from '../../../connections/installation.ts';
import type { SettingPath } from '../../../json5/mistake.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import { privateFilesIn } from '../../private-files.ts';
import { type FoundConnection, resolver } from './found-connection.ts';

const othersRead = 0o004;
/** So many files are named. */
const shownFiles = 5;

/** The hints about a connection, a line each; all connections are known by now. */
export function hintsOf(
  connection: FoundConnection,
  declared: DeclaredAddresses,
  privateFiles: readonly PrivateFiles[],
): string[] {
  const { spot, data, secrets, secretFiles, type, settings, folder } = connection;
  const texts = [...textsIn(data, type.declaring ?? [])];
  const isPlain = (text: string) => text !== '' && !text.startsWith('$scrypt$') && !secrets.includes(text);
  const plain = texts.filter(({ path, text }) => path.at(-1) === 'password' && isPlain(text));
  const keys = texts
    .filter(({ path }) => path.at(-1) === 'keyFile')
    .map(({ path, text }) => ({ path, file: resolver(folder)(text) }));
  const open = [...secretFiles, ...keys].filter(({ file }) => isForAll(file));
  const hints = [
    ...plain.map(({ path }) => ({ path, message: plainPassword })),
    ...open.map(({ path, file }) => ({ path, message: fileForAll(file) })),
    ...(type.servedFolders?.(settings, resolver(folder)) ?? []).flatMap((served) => hintOfServed(served, privateFiles)),
    ...(type.hints?.(settings, declared, resolver(folder)) ?? []),
  ];
  return hints.map(({ path, message }) => spot.at(...path).line(message));
}

const plainPassword =
  'expected { env } or { file }, or of a user what "patchbay password" prints, got a password in plain text';

function hintOfServed({ setting: path, path: folder }: ServedFolder, privateFiles: readonly PrivateFiles[]) {
  const found = privateFilesIn(folder, privateFiles);
  if (found.length === 0) return [];
  const shown =
    found.slice(0, shownFiles).join(', ') + (found.length > shownFiles ? ` and ${found.length - shownFiles} more` : '');
  return [{ path, message: `expected a folder without files of the installation, which are never served: ${shown}` }];
}

function fileForAll(file: string): string {
  return `expected a file that only the hub can read (chmod o-r), everybody on this machine can read ${file}`;
}

/** Whether everybody on this machine may read a file; where its mode does not tell, nobody knows. */
function isForAll(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return platform !== 'win32' && found?.isFile() === true && (found.mode & othersRead) !== 0;
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
