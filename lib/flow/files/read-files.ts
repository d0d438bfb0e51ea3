// Reads flow files: parses JSON5 and imports TypeScript. An unreadable file is an error in the report and does not end the hub.
import { dirname, resolve } from 'node:path';
import { decodeUtf8, EncodingError } from '../../files/regular-file.ts';
import type { MistakeList } from '../../json5/mistake.ts';
import { Json5Error, type Json5Text, readJson5 } from '../../json5/read-json5.ts';
import { rereadJson5, withSameParts } from '../../json5/reread.ts';
import { messageOf } from '../../model/error.ts';
import { versionOf } from '../programs/flow-code.ts';
import type { FlowPrograms } from '../programs/flow-programs.ts';
import { placeOfSetting } from '../programs/program-places.ts';
import { findFlowFiles, whyNotRead } from './find.ts';
import { type FlowFile, valueAt } from './flow-file.ts';
import { isTemplate, type ReadFile, readFromDisk } from './flow-template.ts';
import { expandFlowFile } from './instances.ts';

const programPattern = /\.[mc]?[tj]s$/;

/** A JSON5 flow file as it was when last read. */
interface KeptFile {
  readonly json: Json5Text;
  /** The flow file itself under the key undefined, and its instances under their names. */
  readonly files: ReadonlyMap<string | undefined, FlowFile>;
}

/** The flow files as last read, keyed by name. When a file is read again, its unchanged parts remain the same objects. */
export type KeptFiles = Map<string, KeptFile>;

/** How to read flow files that are not saved yet. `added` contains the names of files that are not on disk yet. */
export interface ReadOptions {
  readonly read?: ReadFile;
  readonly added?: readonly string[];
}

/** Reads all flow files at the given paths, each file once, in the order of the paths. A folder stands for all flow files below it. */
export async function readFlowFiles(
  paths: readonly string[],
  programs: FlowPrograms,
  mistakes: MistakeList,
  kept: KeptFiles = new Map(),
  links: string[] = [],
  { read = readFromDisk, added = [] }: ReadOptions = {},
): Promise<FlowFile[]> {
  const names = [...new Set([...(await findFlowFiles(paths, mistakes, links)), ...added])];
  for (const name of kept.keys()) if (!names.includes(name)) kept.delete(name);
  const files: FlowFile[] = [];
  for (const name of names) files.push(...(await readFlowFile(name, programs, mistakes, kept, read)));
  return files;
}

/** Reads a flow file. Returns the file and its instances. If the file cannot be read, adds the reason and returns an empty list. */
async function readFlowFile(
  name: string,
  programs: FlowPrograms,
  mistakes: MistakeList,
  kept: KeptFiles,
  read: ReadFile,
): Promise<FlowFile[]> {
  let content: Buffer;
  let text: string;
  try {
    content = await read(name);
    text = decodeUtf8(content);
  } catch (error) {
    mistakes.addFile(name, whyNotRead(error), error instanceof EncodingError ? error.position : undefined);
    return [];
  }
  const version = versionOf(content);
  const file = { name, folder: dirname(resolve(name)), version };
  if (!programPattern.test(name)) return parseFlowFile(file, content, text, mistakes, kept, read);
  const program = await programs.read(name, version, mistakes);
  if (program === undefined) return [];
  const { exported: data } = program;
  const positionOf: FlowFile['positionOf'] = (path, offset, value = valueAt(data, path)) =>
    placeOfSetting(text, path, value, offset);
  return [{ ...file, version: program.version, data, positionOf }];
}

async function parseFlowFile(
  named: Omit<FlowFile, 'data' | 'positionOf'>,
  content: Buffer,
  text: string,
  mistakes: MistakeList,
  kept: KeptFiles,
  read: ReadFile,
): Promise<FlowFile[]> {
  const before = kept.get(named.name);
  try {
    const json = before === undefined ? readJson5(text) : rereadJson5(text, before.json);
    const { data, duplicates, positionOf } = json;
    const file: FlowFile = { ...named, data, positionOf };
    for (const { path, message, position } of duplicates) mistakes.add(file, path, message, position);
    if (isTemplate(named.name) && text.includes('${')) {
      mistakes.add(file, [], 'expected a flow file, got a template: load a file that creates instances of it');
      return [];
    }
    const files = (await expandFlowFile(file, text, mistakes, read)).map((one) => withPartsOf(before, one));
    kept.set(named.name, { json, files: new Map(files.map((one) => [one.instance, one])) });
    void json.source.pack(content);
    return files;
  } catch (error) {
    mistakes.addFile(named.name, messageOf(error), error instanceof Json5Error ? error.position : undefined);
    return [];
  }
}

/** Returns the flow file as read again. Parts that have not changed are the same objects as before. */
function withPartsOf(before: KeptFile | undefined, file: FlowFile): FlowFile {
  const known = before?.files.get(file.instance);
  return known === undefined ? file : { ...file, data: withSameParts(known.data, file.data) };
}
