// Reads flow files: parses JSON5, has TypeScript imported. A file that cannot be read is a mistake, not a crash.

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { MistakeList, SettingPath } from '../../json5/mistake.ts';
import { Json5Error, readJson5 } from '../../json5/read.ts';
import { messageOf } from '../../model/error.ts';
import { versionOf } from '../programs/flow-code.ts';
import type { FlowPrograms } from '../programs/flow-programs.ts';
import { placeOfSetting } from '../programs/places.ts';
import { cannotRead, findFlowFiles } from './find.ts';
import type { FlowFile } from './flow-file.ts';

const programPattern = /\.[mc]?[tj]s$/;

/** Reads all flow files of the paths, each file once, in the order given; a folder stands for all flow files below it. */
export async function readFlowFiles(
  paths: readonly string[],
  programs: FlowPrograms,
  mistakes: MistakeList,
): Promise<FlowFile[]> {
  const files: FlowFile[] = [];
  for (const name of await findFlowFiles(paths, mistakes)) {
    const file = await readFlowFile(name, programs, mistakes);
    if (file !== undefined) files.push(file);
  }
  return files;
}

async function readFlowFile(
  name: string,
  programs: FlowPrograms,
  mistakes: MistakeList,
): Promise<FlowFile | undefined> {
  let content: Buffer;
  try {
    content = await readFile(name);
  } catch (error) {
    mistakes.addFile(name, cannotRead(error));
    return undefined;
  }
  const version = versionOf(content);
  const file = { name, folder: dirname(resolve(name)), version };
  if (!programPattern.test(name)) return parseFlowFile(file, content.toString(), mistakes);
  const program = await programs.read(name, version, mistakes);
  if (program === undefined) return undefined;
  const { exported: data } = program;
  const text = content.toString();
  return {
    ...file,
    version: program.version,
    data,
    positionOf: (path) => placeOfSetting(text, path, valueAt(data, path)),
  };
}

/** What stands at a path of data. */
function valueAt(data: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<string | number, unknown> | undefined)?.[part], data);
}

function parseFlowFile(
  named: Omit<FlowFile, 'data' | 'positionOf'>,
  text: string,
  mistakes: MistakeList,
): FlowFile | undefined {
  try {
    const { data, duplicates, positionOf } = readJson5(text);
    const file: FlowFile = { ...named, data, positionOf };
    for (const { path, message, position } of duplicates) mistakes.add(file, path, message, position);
    return file;
  } catch (error) {
    mistakes.addFile(named.name, messageOf(error), error instanceof Json5Error ? error.position : undefined);
    return undefined;
  }
}
