// What a hub was made of, as files: what a backup has beside the databases, and what nobody is served.

/** Flow files, and what their settings name. */
export interface Installation {
  /** The folder that the hub was started in. */
  readonly startedIn: string;
  /** Flow files and folders, as they were given at the start. */
  readonly paths: readonly string[];
  readonly files: readonly NamedFile[];
  /** What is never served, by its full path. */
  readonly privateFiles: readonly PrivateFiles[];
}

/** A file; with `names` the files in a folder whose names match, and where it `isDeep`, those in folders below it. */
export interface PrivateFiles {
  readonly path: string;
  readonly names?: RegExp;
  readonly isDeep?: boolean;
}

/** A file, or a folder whose files are meant; there may be none. */
export interface NamedFile {
  readonly path: string;
  /** Whether a setting names it by an absolute path, so that a copy of the installation would use it as well. */
  readonly isAbsolute: boolean;
}
