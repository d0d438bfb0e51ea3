// Reads flow files: parses JSON5, has TypeScript imported. A file that cannot be read is a mistake, not a crash.

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { MistakeList } from '../../json5/mistake.ts';
import { Json5Error, readJson5 } from '../../json5/read.ts';
import { messageOf } from '../../model/error.ts';
import { versionOf } from '../programs/flow-code.ts';
import type { FlowPrograms } from '../programs/flow-programs.ts';
import { placeOfSetting } from '../programs/places.ts';
import { cannotRead, findFlowFiles } from './find.ts';
import { type FlowFile, valueAt } from './flow-file.ts';
import { expandFlowFile } from './instances.ts';
import { isTemplate } from './template.ts';

const programPattern = /\.[mc]?[tj]s$/;

/** Reads all flow files of the paths, each file once, in the order given; a folder stands for all flow files below it. */
export async function readFlowFiles(
  paths: readonly string[],
  programs: FlowPrograms,
  mistakes: MistakeList,
): Promise<FlowFile[]> {
  const files: FlowFile[] = [];
  for (const name of await findFlowFiles(paths, mistakes))
    files.push(...(await readFlowFile(name, programs, mistakes)));
  return files;
}

/** The file, and an instance each of what it makes of templates; nothing after it has added why it cannot be read. */
async function readFlowFile(name: string, programs: FlowPrograms, mistakes: MistakeList): Promise<FlowFile[]> {
  let content: Buffer;
  try {
    content = await readFile(name);
  } catch (error) {
    mistakes.addFile(name, cannotRead(error));
    return [];
  }
  const version = versionOf(content);
  const file = { name, folder: dirname(resolve(name)), version };
  if (!programPattern.test(name)) return parseFlowFile(file, content.toString(), mistakes);
  const program = await programs.read(name, version, mistakes);
  if (program === undefined) return [];
  const { exported: data } = program;
  const text = content.toString();
  const positionOf: FlowFile['positionOf'] = (path, offset, value = valueAt(data, path)) =>
    placeOfSetting(text, path, value, offset);
  return [{ ...file, version: program.version, data, positionOf }];
}

function parseFlowFile(named: Omit<FlowFile, 'data' | 'positionOf'>, text: string, mistakes: MistakeList): FlowFile[] {
  try {
    const { data, duplicates, positionOf } = readJson5(text);
    const file: FlowFile = { ...named, data, positionOf };
    for (const { path, message, position } of duplicates) mistakes.add(file, path, message, position);
    if (!isTemplate(named.name) || !text.includes('${')) return expandFlowFile(file, text, mistakes);
    mistakes.add(file, [], 'expected a flow file, got a template: name a file that has instances of it');
    return [];
  } catch (error) {
    mistakes.addFile(named.name, messageOf(error), error instanceof Json5Error ? error.position : undefined);
    return [];
  }
}
