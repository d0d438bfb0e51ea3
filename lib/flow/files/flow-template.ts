// Reads templates: flow files with variables that are set by instances. The names of templates begin with an underscore.
import { basename, dirname, isAbsolute, join } from 'node:path';
import { decodeUtf8, EncodingError, FileError, readRegularFile } from '../../files/regular-file.ts';
import type { CheckedFile, MistakeList, SettingPath } from '../../json5/mistake.ts';
import { unknownName } from '../../json5/nearest-name.ts';
import { Json5Error, readJson5 } from '../../json5/read-json5.ts';
import { describe, messageOf } from '../../model/error.ts';
import { isJsonObject } from '../../model/json-object.ts';
import { describeSetting } from '../../model/secret.ts';
import { maxFlowBytes, versionOf } from '../programs/flow-code.ts';
import { whyNotRead } from './find.ts';
import type { FlowFile } from './flow-file.ts';

const sections = ['$schema', 'variables', 'connections', 'rules', 'tests'];

/** A template as read. `data` is the flow file from which each instance is created. */
export interface Template extends FlowFile {
  readonly text: string;
  /** Default values for variables that an instance does not set, keyed by variable name. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** Reads a file and returns its content. Errors: `FileError`. */
export type ReadFile = (path: string) => Promise<Buffer>;

export const readFromDisk: ReadFile = (path) => readRegularFile(path, maxFlowBytes);

/** Returns whether a file with this name is a template. */
export function isTemplate(path: string): boolean {
  return /^_.*\.json5$/.test(basename(path));
}

/** Reads the template that a flow file names at a path. If this fails, adds the errors and returns undefined. */
export async function readTemplate(
  file: FlowFile,
  path: SettingPath,
  given: string,
  mistakes: MistakeList,
  read: ReadFile,
): Promise<Template | undefined> {
  const name = isAbsolute(given) ? given : join(dirname(file.name), given);
  if (!isTemplate(given)) {
    mistakes.add(
      file,
      path,
      `expected a file whose name begins with _, such as './_studio.json5', got ${describe(given)}`,
    );
    return undefined;
  }
  try {
    const content = await read(name);
    return parseTemplate({ name, folder: file.folder, version: versionOf(content) }, decodeUtf8(content), mistakes);
  } catch (error) {
    if (error instanceof Json5Error) mistakes.addFile(name, error.message, error.position);
    else if (error instanceof EncodingError) mistakes.addFile(name, whyNotRead(error), error.position);
    else mistakes.add(file, path, error instanceof FileError ? `${name}: ${whyNotRead(error)}` : messageOf(error));
    return undefined;
  }
}

function parseTemplate(
  named: Pick<FlowFile, 'name' | 'folder' | 'version'>,
  text: string,
  mistakes: MistakeList,
): Template | undefined {
  const { data: whole, duplicates, positionOf } = readJson5(text);
  const file = { ...named, data: whole, positionOf };
  for (const { path, message, position } of duplicates) mistakes.add(file, path, message, position);
  if (!isJsonObject(whole)) {
    mistakes.add(
      file,
      [],
      `expected an object such as { connections: { … }, rules: [ … ] }, got ${describeSetting(whole)}`,
    );
    return undefined;
  }
  for (const key of Object.keys(whole))
    if (key === 'instances') mistakes.add(file, [key], 'expected no instances in a template');
    else if (!sections.includes(key)) mistakes.add(file, [key], unknownName('setting', key, sections));
  const { variables = {}, $schema, instances, ...data } = whole;
  const defaults = readVariables(file, variables, mistakes);
  if (defaults === undefined) return undefined;
  const known = Object.entries(data).filter(([key]) => sections.includes(key));
  return { ...file, data: Object.fromEntries(known), text, defaults };
}

/** Reads the `variables` section of a flow file or template. If this fails, adds the errors and returns undefined. */
export function readVariables(
  file: CheckedFile,
  variables: unknown,
  mistakes: MistakeList,
): Template['defaults'] | undefined {
  if (!isJsonObject(variables)) {
    const got = describeSetting(variables);
    mistakes.add(file, ['variables'], `expected an object of variables, such as { port: 80 }, got ${got}`);
    return undefined;
  }
  if ('instance' in variables)
    mistakes.add(
      file,
      ['variables', 'instance'],
      'expected a different name, because ${instance} stands for the name of the instance or file',
    );
  return variables;
}
