// What a hub was made of, as files: what a backup has beside the databases.

/** Flow files, and what their settings name. */
export interface Installation {
  /** The folder that the hub was started in. */
  readonly startedIn: string;
  /** Flow files and folders, as they were given at the start. */
  readonly paths: readonly string[];
  readonly files: readonly NamedFile[];
}

/** A file, or a folder whose files are meant; there may be none. */
export interface NamedFile {
  readonly path: string;
  /** Whether a setting names it by an absolute path, so that a copy of the installation would use it as well. */
  readonly isAbsolute: boolean;
}
