// Reads flow files: finds them below files and folders, parses JSON5, has TypeScript imported. What cannot be
// read is a mistake, not a crash.

import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { MistakeList, SettingPath } from '../../json5/mistake.ts';
import type { Position } from '../../json5/positions.ts';
import { Json5Error, readJson5 } from '../../json5/read.ts';
import { messageOf } from '../../model/error.ts';
import type { FlowPrograms } from '../programs/flow-programs.ts';

/** One flow file, parsed but not checked. `name` is the path as given, `folder` what its relative paths start from. */
export interface FlowFile {
  readonly name: string;
  readonly folder: string;
  readonly data: unknown;
  /** Names the content of the file. */
  readonly version?: string;
  positionOf(path: SettingPath): Position | undefined;
}

/** What counts as a flow file in a folder; others are read when they are named. */
const flowFilePattern = /(?:\.json5|(?<!\.d|\.spec|\.test)\.ts)$/;
/** Hidden files, files and folders that start with an underscore, packages, and folders of dashboards. */
const skippedPattern = /(^|[\\/])([._]|(node_modules|dashboards)([\\/]|$))/;
const programPattern = /\.[mc]?[tj]s$/;

/** Whether nothing is read at a path within a folder, nor below it. */
export function isSkipped(path: string): boolean {
  return skippedPattern.test(path);
}

/** Whether a file in a folder is a flow file, by its name. */
export function isFlowFile(path: string): boolean {
  return flowFilePattern.test(path);
}

/** Reads all flow files of the paths, folders with all below them, each file once, in the order given. */
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

/** Finds all flow files of the paths, folders with all below them, each file once, in the order given. */
export async function findFlowFiles(paths: readonly string[], mistakes: MistakeList): Promise<string[]> {
  const nameOfReal = new Map<string, string>();
  for (const path of paths)
    for (const name of await listFlowFiles(path, mistakes)) {
      const real = await realpath(name);
      if (!nameOfReal.has(real)) nameOfReal.set(real, name);
    }
  return [...nameOfReal.values()];
}

async function listFlowFiles(path: string, mistakes: MistakeList): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path, { recursive: true }))
      .filter((name) => isFlowFile(name) && !isSkipped(name))
      .sort();
    if (names.length === 0) mistakes.addFile(path, 'expected a folder with flow files (*.json5, *.ts), got none');
    return names.map((name) => join(path, name));
  } catch (error) {
    mistakes.addFile(path, cannotRead(error));
    return [];
  }
}

async function readFlowFile(
  name: string,
  programs: FlowPrograms,
  mistakes: MistakeList,
): Promise<FlowFile | undefined> {
  return programPattern.test(name) ? readProgram(name, programs, mistakes) : parseFlowFile(name, mistakes);
}

async function readProgram(name: string, programs: FlowPrograms, mistakes: MistakeList): Promise<FlowFile | undefined> {
  let version: string;
  try {
    version = versionOf(await readFile(name));
  } catch (error) {
    mistakes.addFile(name, cannotRead(error));
    return undefined;
  }
  return programs.read(name, version, mistakes);
}

async function parseFlowFile(name: string, mistakes: MistakeList): Promise<FlowFile | undefined> {
  let text: string;
  try {
    text = await readFile(name, 'utf8');
  } catch (error) {
    mistakes.addFile(name, cannotRead(error));
    return undefined;
  }
  try {
    const { data, duplicates, positionOf } = readJson5(text);
    const file: FlowFile = { name, folder: dirname(resolve(name)), data, version: versionOf(text), positionOf };
    for (const { path, message, position } of duplicates) mistakes.add(file, path, message, position);
    return file;
  } catch (error) {
    mistakes.addFile(name, messageOf(error), error instanceof Json5Error ? error.position : undefined);
    return undefined;
  }
}

function versionOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function cannotRead(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT'
    ? 'expected a file or folder, there is none of this name'
    : `cannot be read: ${messageOf(error)}`;
}
