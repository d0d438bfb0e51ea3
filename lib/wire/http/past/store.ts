// The store of a hub, as a whole.

import type { IsoTime } from '../../time.ts';

/** `GET /hub/store` answers with `{"folder":"/srv/data","maxBytes":2000000000,"bytes":…,"files":[{"name":"values.db","bytes":…}],…}`. */
export interface StoreStatus {
  /** `***` where the setting comes from the environment or a file. */
  readonly folder: string;
  /** How much room the databases may take. */
  readonly maxBytes: number;
  /** All files of the folder together. */
  readonly bytes: number;
  readonly files: readonly StoreFile[];
  readonly rows: readonly StoreRows[];
  /** How far back it reaches; left out where nothing is recorded. */
  readonly oldest: { readonly history?: IsoTime | undefined; readonly audit?: IsoTime | undefined };
}

export interface StoreFile {
  readonly name: string;
  readonly bytes: number;
}

/** How the writing of a part goes. */
export interface StoreRows {
  readonly part: StorePart;
  /** How many rows were written in a second, over the last ten. */
  readonly perSecond: number;
  /** How old the oldest change is that is not on the disk yet; 0: all of them are. */
  readonly lagMs: number;
  /** How many changes were not recorded since the hub started. */
  readonly lost: number;
}

export type StorePart = 'values' | 'history' | 'audit';
