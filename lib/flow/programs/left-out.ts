// Notes about skipped flows. A flow that stopped the hub is skipped until its content changes; a note in its folder identifies the content.
// These notes are the only files that the hub writes to folders with flow files.

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { record } from '../../model/record-schema.ts';
import { type FlowCode, maxFlowBytes, versionOf } from './flow-code.ts';

/** The name of the file with the notes for the flows in a folder. No flow file can have this name. */
const noteName = '.patchbay-left-out.json';
const maxNoteBytes = 1024 * 1024;

const notesSchema = record(
  z.string(),
  z.strictObject({ reason: z.string(), time: z.string(), files: record(z.string(), z.string()) }),
);

type Notes = z.output<typeof notesSchema>;

/** Writes a note that a flow is to be skipped as long as it has its current content. Throws if the note cannot be written. */
export function leaveOut({ path, files }: FlowCode, reason: string): void {
  const folder = dirname(path);
  const versions = [...files].map(([file, { version }]) => [relative(folder, file), version]);
  const note = { reason, time: new Date().toISOString(), files: Object.fromEntries(versions) };
  writeNotes(folder, { ...readNotes(folder), [basename(path)]: note });
}

/**
 * Returns the reason why a flow is skipped, or undefined if the flow is not skipped. Removes a note about content that the flow no longer
 * has.
 */
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

/** Returns a version that identifies the content of a file, or an empty string if the file cannot be read. */
export function versionOfFile(path: string): string {
  try {
    return versionOf(readRegularFileSync(path, maxFlowBytes));
  } catch {
    return '';
  }
}

function readNotes(folder: string): Notes {
  try {
    return notesSchema.parse(JSON.parse(readRegularFileSync(join(folder, noteName), maxNoteBytes).toString()));
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
  rmSync(`${path}~`, { force: true }); // never write to another kind of object with this name, such as a pipe
  writeFileSync(`${path}~`, `${JSON.stringify(notes, undefined, 2)}\n`, { flag: 'wx' });
  renameSync(`${path}~`, path);
}
