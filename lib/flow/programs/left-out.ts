// Flows that are left out because they have stopped the hub: noted beside them, with the content that did it, so that a
// changed file is tried again. Its own notes are the only files that the hub writes beside flow files.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { type FlowCode, versionOf } from './flow-code.ts';

/** Beside the flow files of a folder; a name that no flow file has. */
const noteName = '.patchbay-left-out.json';

const notesSchema = z.record(
  z.string(),
  z.strictObject({ reason: z.string(), time: z.string(), files: z.record(z.string(), z.string()) }),
);

type Notes = z.output<typeof notesSchema>;

/** Notes that a flow, with the content that it has by now, is to be left out. Errors: when the note cannot be written. */
export function leaveOut({ path, files }: FlowCode, reason: string): void {
  const folder = dirname(path);
  const versions = [...files].map(([file, { version }]) => [relative(folder, file), version]);
  const note = { reason, time: new Date().toISOString(), files: Object.fromEntries(versions) };
  writeNotes(folder, { ...readNotes(folder), [basename(path)]: note });
}

/** Why a flow is left out; undefined: it is not. A note on other content than that of today is taken away. */
export function whyLeftOut({ path }: Pick<FlowCode, 'path'>): string | undefined {
  const folder = dirname(path);
  const { [basename(path)]: note, ...others } = readNotes(folder);
  if (note === undefined) return undefined;
  const isSame = Object.entries(note.files).every(
    ([file, version]) => versionOfFile(resolve(folder, file)) === version,
  );
  if (isSame) return `${note.reason}, on ${note.time}`;
  writeNotes(folder, others);
  return undefined;
}

/** Names the content of a file; empty: the file cannot be read. */
export function versionOfFile(path: string): string {
  try {
    return versionOf(readFileSync(path));
  } catch {
    return '';
  }
}

function readNotes(folder: string): Notes {
  try {
    return notesSchema.parse(JSON.parse(readFileSync(join(folder, noteName), 'utf8')));
  } catch {
    return {};
  }
}

function writeNotes(folder: string, notes: Notes): void {
  const path = join(folder, noteName);
  if (Object.keys(notes).length === 0) {
    rmSync(path, { force: true });
    return;
  }
  writeFileSync(`${path}~`, `${JSON.stringify(notes, undefined, 2)}\n`);
  renameSync(`${path}~`, path);
}
