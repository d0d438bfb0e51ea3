// Editing flow files through a gateway: the operations that a hub offers, and the rights that it checks.

import { HubError } from '../model/error.ts';
import type { NamedAddress } from '../model/named-address.ts';
import type { Origin } from '../model/parameter.ts';
import type { Reload, ShadowReport } from '../model/reports/reload-report.ts';
import type { RuleOutcome } from '../model/reports/rule-status.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { Rename } from './persistence.ts';

/** The rights of a user who edits files. */
export interface EditRights {
  /** The name of the user; '' if the client has no username. */
  readonly user: string;
  /** The Connection ID of the REST API through which the user is connected. */
  readonly via: string;
  /** Whether the user has full access to all addresses, files and settings. */
  readonly isOwner: boolean;
  /** Returns whether the user may edit a file. `names` contains the file's name as listed by the hub and its name below the flow folder. */
  mayEdit(names: readonly string[]): boolean;
  mayRead(address: string): boolean;
  mayWrite(address: string): boolean;
}

/** An edit to a file; see `EditOp` in the engine. */
export interface FileOp {
  readonly path: string;
  readonly set?: unknown;
  readonly insert?: unknown;
  readonly remove?: true | undefined;
  readonly move?: string | undefined;
  readonly text?: string | undefined;
}

export interface FileEdit {
  readonly file: string;
  /** The ETag of the text that the edits are based on; '' for a new file. */
  readonly base: string;
  readonly ops: readonly FileOp[];
}

export interface EditRequest {
  readonly files: readonly FileEdit[];
  /** `check` changes nothing, `shadow` runs the changed rules in shadow, and `save` writes and runs the files. */
  readonly mode: 'check' | 'shadow' | 'save';
  readonly comment: string;
  /** The renamed parameters, which keep their values and their history. */
  readonly renames?: readonly Rename[];
  /** Rehearses the edited rule on the most recent runs of the live rule. Only with the mode `check`. */
  readonly rehearse?: { readonly rule: string; readonly recorded: readonly RehearsedEvent[] };
}

/** A recorded change to a parameter. `time` is in milliseconds since 1970. */
export interface RehearsedEvent {
  readonly address: string;
  readonly value: Value;
  readonly time: number;
}

export interface RehearsedResult {
  readonly outcome: RuleOutcome;
  readonly result?: Value;
  readonly error?: string;
}

/**
 * A run of the live rule and the run of the edited rule on the same event. A run is missing if the rule did not run or would not have run.
 */
export interface RehearsedRun {
  readonly time: number;
  readonly source?: string;
  readonly value?: Value;
  readonly was?: RehearsedResult;
  readonly would?: RehearsedResult;
}

export interface Rehearsal {
  /** The runs that were rehearsed, newest first. */
  readonly runs: readonly RehearsedRun[];
  /** The addresses whose past values are unknown. Their current values were used instead. */
  readonly assumed: readonly string[];
  /** The reason why there are no runs or why some runs are missing; '' if no runs are missing. */
  readonly reason: string;
}

/** A file, and whether the user may edit it. */
export interface EditableFile {
  readonly file: string;
  readonly canEdit: boolean;
  /** A sentence that states why the file may not be edited; '' if it may be edited. */
  readonly reason: string;
}

/** A value in the text of a file, with its location. Offsets are in UTF-16 code units. */
export interface SourceNode {
  readonly path: string;
  readonly key?: string;
  readonly kind: 'object' | 'list' | 'text' | 'number' | 'boolean' | 'null';
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
  /** The offsets of the value together with everything that belongs to it: comments, key and comma. */
  readonly lead: number;
  readonly tail: number;
  readonly value?: string | number | boolean | null;
  readonly children?: readonly SourceNode[];
}

/** The rules and connections that a template has created from one of its items. */
export interface MadeItems {
  readonly path: string;
  readonly by: 'each' | 'instances';
  readonly names: readonly string[];
}

export interface Source extends EditableFile {
  readonly etag: string;
  /** The text of the file, with `***` in place of secrets. */
  readonly text: string;
  /** The parsed text. Omitted if the text is not JSON5. */
  readonly tree?: SourceNode;
  readonly made: readonly MadeItems[];
}

export interface EditMistake {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly path: string;
  readonly message: string;
}

export interface EditedFile {
  readonly file: string;
  readonly etag: string;
  readonly text: string;
  /** The changes in the unified diff format; '' if nothing has changed. */
  readonly difference: string;
  /** Whether the file had changed on disk in the meantime and the result contains this change as well as the edit. */
  readonly isMerged: boolean;
}

/** The part of a test run that the user may see. */
export interface ShownPart {
  mayRead(address: string): boolean;
  /** Returns whether the name of a rule may be shown to the user. */
  mayName(rule: string): boolean;
}

export interface TestResults {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly place: string; readonly timeline: string }[];
  /** The number of tests that did not run because the time limit was reached. */
  readonly left: number;
}

export interface EditAnswer {
  readonly mode: EditRequest['mode'];
  readonly isSaved: boolean;
  readonly errors: readonly EditMistake[];
  readonly warnings: readonly string[];
  readonly files: readonly EditedFile[];
  readonly restarts: Reload & { readonly notes: readonly string[] };
  readonly tests: TestResults;
  readonly rehearsal?: Rehearsal;
  readonly shadow?: ShadowReport;
  readonly revision?: number;
  /** The time by which the change must be confirmed, in milliseconds since 1970. */
  readonly probation?: { readonly until: number };
}

/** The versions of a file with overlapping edits. */
export interface EditConflict {
  readonly file: string;
  /** The ETag of the text in `theirs`. */
  readonly etag: string;
  /** The text that the edit and the conflicting change are based on. Omitted if the hub no longer has this text. */
  readonly base?: string;
  readonly yours?: string;
  readonly theirs: string;
}

/** The error for overlapping edits to a file. */
export class EditConflictError extends HubError {
  readonly conflicts: readonly EditConflict[];

  constructor(conflicts: readonly EditConflict[]) {
    const files = conflicts.map(({ file }) => file).join(', ');
    super(
      'conflict',
      `${files}: the file has been changed in the same place in the meantime: compare both texts and edit again`,
    );
    this.conflicts = conflicts;
  }
}

/** A saved change set, which can be reverted. */
export interface Revision {
  readonly revision: number;
  /** The time at which the change set was saved, in milliseconds since 1970. */
  readonly time: number;
  readonly user: string;
  readonly comment: string;
  readonly files: readonly { readonly file: string; readonly difference: string }[];
}

/** The places in which a parameter is used. */
export interface Uses {
  readonly rules: readonly {
    readonly name: string;
    readonly file: string;
    readonly place: string;
    readonly as: readonly ('from' | 'to' | 'reads')[];
  }[];
  readonly connections: readonly {
    readonly id: string;
    readonly type: string;
    readonly file: string;
    readonly as: readonly string[];
  }[];
  readonly tests: readonly { readonly name: string; readonly file: string; readonly place: string }[];
}

/** A rule that another user has open. `since` is in milliseconds since 1970. */
export interface OtherSheet {
  readonly user: string;
  readonly rule: string;
  readonly since: number;
}

/** The mistakes in a document, and the addresses that it uses. */
export interface DocumentFindings {
  readonly mistakes: readonly EditMistake[];
  readonly addresses: readonly NamedAddress[];
}

/** A folder of files that a running connection shows and that users may edit, such as dashboards. */
export interface DocumentFolder {
  /** The absolute path of the documents' folder. */
  readonly path: string;
  /** Matches the names of the files that belong to the folder. A name is matched as a whole, without its folder. */
  readonly names: RegExp;
  readonly maxFiles: number;
  /** The usual order of the keys in the objects of a document. */
  readonly keys: readonly string[];
  /** Checks the text of a document. Errors: `bad-dashboard` if the text cannot be checked. */
  findings(file: string, text: string): Promise<DocumentFindings>;
}

/** A folder of documents, as seen by a user with edit rights. */
export interface EditableFolder {
  /** The prefix of the folder's file names. */
  readonly folder: string;
  /** Whether files can be added to the folder, or the reason why they cannot. */
  readonly canEdit: boolean;
  readonly reason: string;
  readonly files: readonly EditableFile[];
}

/** The operations through which users edit the hub's flow files. */
export interface Editing {
  files(rights: EditRights): Promise<readonly EditableFile[]>;
  /** Returns a folder of documents with the files that the user may edit, or undefined if users cannot edit the folder. */
  documents(folder: string, rights: EditRights): Promise<EditableFolder | undefined>;
  /** Returns the text of a file and the data that a page needs for editing it. Errors: `forbidden`, `not-found`. */
  source(file: string, rights: EditRights): Promise<Source>;
  /** Edits files. Errors: `bad-request`; `forbidden`, which names the location; `not-found`; `conflict` as an `EditConflictError`. */
  edit(request: EditRequest, by: Origin, rights: EditRights): Promise<EditAnswer>;
  /**
   * Returns the change set for `edit` that turns an instance of a template into a separate file, and the location of the opened item in
   * that file. `path` is the path of an item in the template; `made` selects one of the items created from it. Errors: `bad-request`,
   * `forbidden`, `not-found`, `conflict`.
   */
  separate(
    item: { readonly file: string; readonly path: string; readonly made: number },
    rights: EditRights,
  ): Promise<{ readonly files: readonly FileEdit[]; readonly place: string }>;
  /**
   * Records that a user has opened or closed a rule. Returns the other rules in the file that users have open. Errors: `forbidden`,
   * `not-found`.
   */
  noteSheet(
    sheet: { readonly file: string; readonly rule: string; readonly sheet: string; readonly isOpen: boolean },
    by: string,
    rights: EditRights,
  ): Promise<readonly OtherSheet[]>;
  /** Returns the names of a file: its name as listed by the hub, and its name below the flow folder. */
  namesOf(file: string): readonly string[];
  /** Confirms a change that is on probation, so that it is kept. Errors: `not-found`, `forbidden`. */
  confirm(revision: number, rights: EditRights): void;
  /** Returns the saved change sets, newest first. */
  revisions(rights: EditRights): readonly Revision[];
  /** Reverts a change set. Later edits are kept. Errors: the same as for `edit`. */
  revert(
    revision: number,
    mode: EditRequest['mode'],
    comment: string,
    by: Origin,
    rights: EditRights,
  ): Promise<EditAnswer>;
}

/** A cookbook recipe and the variables to fill in. */
export interface RecipeForm {
  /** The name of the recipe, such as `tally/two-microphones`. */
  readonly name: string;
  /** The first three lines of the recipe's description. */
  readonly about: readonly string[];
  readonly variables: readonly {
    readonly name: string;
    readonly about: string;
    readonly usual: string;
    readonly isAddress?: true;
    /** The value type that the parameter must have, if the variable is an address. */
    readonly type?: ValueType;
  }[];
}
