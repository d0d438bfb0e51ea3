// The manifest of a backup: the last file in the archive, with the size and SHA-256 of all other files. An archive without a manifest is
// incomplete.

import { z } from 'zod';
import { describe, HubError } from '../model/error.ts';
import { readJsonObject } from '../model/json-object.ts';

export const manifestName = 'patchbay-backup.json';
const format = 1;
/** The maximum length of a manifest, in bytes. */
export const maxManifestBytes = 16 * 1024 * 1024;
/** The maximum number of files that a manifest may list. */
export const maxFiles = 20_000;

export interface Manifest {
  readonly format: typeof format;
  /** The version of Patchbay that created the backup. */
  readonly patchbay: string;
  /** When the backup started, in ISO 8601 format. */
  readonly time: string;
  /** The paths of the flow files and folders that the hub was running. */
  readonly run: readonly string[];
  /** Absolute paths that are named in flow files. A restored hub uses the same files. */
  readonly absolute: readonly string[];
  readonly files: readonly BackupFile[];
}

export interface BackupFile {
  /** The file's path relative to the installation's folder, with slashes. */
  readonly path: string;
  readonly size: number;
  /** The SHA-256 hash of the file's content, in hexadecimal digits. */
  readonly sha256: string;
}

export type ManifestHead = Omit<Manifest, 'format' | 'files'>;

export function writeManifest(head: ManifestHead, files: readonly BackupFile[]): Buffer {
  const manifest: Manifest = { format, ...head, files };
  return Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
}

const schema: z.ZodType<Manifest> = z.object({
  format: z.literal(format),
  patchbay: z.string(),
  time: z.string(),
  run: z.array(z.string()),
  absolute: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), size: z.number(), sha256: z.string() })),
});

/** Parses the bytes of a manifest. Errors: `bad-request`. */
export function readManifest(bytes: Buffer): Manifest {
  const data = readJsonObject(bytes.toString(), { where: manifestName });
  if (data.format !== format)
    throw new HubError('bad-request', `${manifestName}: expected format ${format}, got ${describe(data.format)}`);
  const { data: manifest, error } = schema.safeParse(data, { reportInput: true });
  if (error === undefined) return manifest;
  const { path, input } = error.issues[0]!;
  const expected = 'expected a value as written by patchbay backup';
  throw new HubError('bad-request', `${manifestName}: ${path.join('.')}: ${expected}, got ${describe(input)}`);
}
