// What the hub's thread asks of the thread that makes a backup, and what it is answered: one question at a time.

import type { NamedFile } from '../../installation.ts';

export interface BackupRequest {
  readonly ask: 'begin';
  /** Where copies stand until they are sent; it is created. */
  readonly work: string;
  /** The folder of the databases. */
  readonly folder: string;
  readonly isAbsolute: boolean;
  /** The folder that the hub was started in. */
  readonly startedIn: string;
  /** Flow files and folders, as they were given. */
  readonly paths: readonly string[];
  readonly named: readonly NamedFile[];
  /** The version of the hub. */
  readonly patchbay: string;
}

export type BackupQuestion = BackupRequest | { readonly ask: 'next' };

export type BackupAnswer =
  /** How long the backup is, in bytes. */
  | { readonly begun: number }
  /** The next piece; undefined: it is whole. */
  | { readonly piece: Uint8Array<ArrayBuffer> | undefined }
  | { readonly failed: string };
