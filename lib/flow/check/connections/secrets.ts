// Strings in settings that are stored outside the flow file: `{ env: 'NAME' }` in the environment, `{ file: 'path' }` in a file. These
// strings are secrets, so no error shows them.

import { statSync } from 'node:fs';
import { env, platform } from 'node:process';
import type { z } from 'zod';
import type { DeclaredAddresses, ServedFolder } from '../../../connections/connection.ts';
import type { PrivateFiles } from '../../../connections/persistence.ts';
import { asFileError, decodeUtf8, nothing, readRegularFileSync } from '../../../files/regular-file.ts';
import { type SettingPath, unreadable } from '../../../json5/mistake.ts';
import { nearestName } from '../../../json5/nearest-name.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import { shownPath } from '../../../model/secret.ts';
import { privateFilesIn } from '../../private-files.ts';
import type { SourceLocation } from '../source-location.ts';
import { type FoundConnection, resolver, type SecretFile } from './declarations.ts';

const maxFileBytes = 64 * 1024;

interface Reference {
  readonly path: SettingPath;
  readonly kind: 'env' | 'file';
  readonly name: string;
}

/** The settings of a connection, in which the secret strings are filled in. */
interface ReadSettings {
  /** The location of the settings. Errors at this location do not show the secrets. */
  readonly location: SourceLocation;
  readonly data: unknown;
  readonly secrets: readonly string[];
  /** The files from which secrets were read, including those that could not be read. */
  readonly secretFiles: readonly SecretFile[];
}

/** Reads the secret strings in settings. An unreadable secret is an error. Settings in `shown` are public and contain no secrets. */
export function readSecrets(
  location: SourceLocation,
  data: unknown,
  schema: z.ZodType,
  shown: readonly string[] = [],
): ReadSettings {
  const none = { location, data, secrets: [], secretFiles: [] };
  const candidates = [...referencesIn(data, [])].filter(({ path }) => !shown.includes(String(path[0])));
  if (candidates.length === 0) return none;
  const { error } = schema.safeParse(data);
  const references = candidates.filter(({ path }) => error?.issues.some((issue) => wantsText(issue, path)));
  if (references.length === 0) return none;
  const pathOf = resolver(location.file.folder);
  let read = data;
  const secrets: string[] = [];
  for (const reference of references) {
    const text = readText(location.at(...reference.path), reference, pathOf);
    read = replaceAt(read, reference.path, text ?? unreadable);
    if (text !== undefined) secrets.push(text);
  }
  const secretFiles = references
    .filter(({ kind }) => kind === 'file')
    .map(({ path, name }) => ({ path: [...path, 'file'], file: pathOf(name) }));
  const paths = references.map(({ path }) => path);
  return { location: location.hiding(paths, secrets), data: read, secrets, secretFiles };
}

function* referencesIn(data: unknown, path: SettingPath): Generator<Reference> {
  if (Array.isArray(data)) {
    for (const [index, item] of data.entries()) if (hasParts(item)) yield* referencesIn(item, [...path, index]);
    return;
  }
  if (!isJsonObject(data)) return;
  const [[kind, name] = [], ...others] = Object.entries(data);
  if (others.length === 0 && (kind === 'env' || kind === 'file') && typeof name === 'string')
    yield { path, kind, name };
  else for (const [key, item] of Object.entries(data)) if (hasParts(item)) yield* referencesIn(item, [...path, key]);
}

/** Returns whether the data may contain a reference. Most settings are plain strings, and a list may have thousands of entries. */
function hasParts(data: unknown): boolean {
  return typeof data === 'object' && data !== null;
}

/** Returns whether a schema issue reports a missing string at a path. */
function wantsText(issue: z.core.$ZodIssue, path: SettingPath): boolean {
  const isAbove = issue.path.every((part, index) => part === path[index]);
  if (issue.code === 'invalid_union') return isAbove && issue.path.length > 0;
  return isAbove && issue.path.length === path.length && issue.code === 'invalid_type' && issue.expected === 'string';
}

const notShown = '(not shown: it may be the secret itself)';

/** Reads a secret string from the environment or a file. If this fails, adds the error and returns undefined. */
function readText(
  location: SourceLocation,
  { kind, name }: Reference,
  pathOf: (path: string) => string,
): string | undefined {
  const text = kind === 'env' ? textOfEnvironment(name) : readTextFile(location.at('file'), name, pathOf(name));
  if (text === undefined && kind === 'env') {
    const nearest = nearestName(name, Object.keys(env));
    const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
    const isName = nearest !== undefined || /^[A-Z_][A-Z\d_]*$/.test(name);
    const message = isName
      ? `expected "${name}" in the hub's environment, but it is not set${hint}`
      : `expected the name of a variable in the hub's environment, but no variable has this name ${notShown}`;
    location.at('env').add(message);
  }
  if (text !== '') return text;
  location
    .at(kind)
    .add(kind === 'env' ? `expected text in "${name}", but it is empty` : 'expected a file with text, but it is empty');
  return undefined;
}

/**
 * Returns the value of an environment variable. Only own properties count, because `env`, like every object, also inherits `constructor`.
 */
function textOfEnvironment(name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

function readTextFile(location: SourceLocation, name: string, path: string): string | undefined {
  try {
    return decodeUtf8(readRegularFileSync(path, maxFileBytes)).replace(/\r?\n$/, '');
  } catch (error) {
    const { message } = asFileError(error);
    if (message !== nothing)
      location.add(`expected a file with text of at most ${maxFileBytes / 1024} kB in "${name}", got ${message}`);
    else if (isPath(name)) location.add(`expected a file "${name}", but it does not exist`);
    else location.add(`expected the path of a file, but no file has this name ${notShown}`);
  }
  return undefined;
}

/** Returns whether a string may be a file path; otherwise the string may be the secret that should be in the file. */
function isPath(text: string): boolean {
  return /^[^\r\n]*[./\\][^\r\n]*$/.test(text) && shownPath(text) === text;
}

function replaceAt(data: unknown, [part, ...rest]: SettingPath, value: unknown): unknown {
  if (part === undefined) return value;
  if (Array.isArray(data)) return data.map((item, index) => (index === part ? replaceAt(item, rest, value) : item));
  const object = data as Record<string, unknown>;
  return { ...object, [part]: replaceAt(object[part as string], rest, value) };
}

// Hints: settings of connections that work but are probably not intended. They do not prevent a start, and only `patchbay check` looks for
// them.

const othersRead = 0o004;
/** The maximum number of files that a hint names. */
const shownFiles = 5;

/** Returns the hints about a connection, one line each. Call this after all connections have been added. */
export function hintsOf(
  connection: FoundConnection,
  declared: DeclaredAddresses,
  privateFiles: readonly PrivateFiles[],
): string[] {
  const { location, data, secrets, secretFiles, type, settings, folder } = connection;
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
  return hints.map(({ path, message }) => location.at(...path).line(message));
}

const plainPassword =
  'expected { env }, { file } or, for a user, a hash from "patchbay password", got a password in plain text';

function hintOfServed({ setting: path, path: folder }: ServedFolder, privateFiles: readonly PrivateFiles[]) {
  const found = privateFilesIn(folder, privateFiles);
  if (found.length === 0) return [];
  const shown =
    found.slice(0, shownFiles).join(', ') + (found.length > shownFiles ? ` and ${found.length - shownFiles} more` : '');
  return [{ path, message: `expected a folder without files of the installation, which are never served: ${shown}` }];
}

function fileForAll(file: string): string {
  return `expected a file that only the hub can read (chmod o-r), but everybody on this machine can read ${file}`;
}

/** Returns whether every user of this machine may read a file. Returns false if the file mode does not show this. */
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
