// A saved change to the access to a REST API or to users is on probation: unless the author, who might have lost access, confirms the
// change in time, it is undone. If the hub stops before then, it undoes the change at its next start.

import type { EditRights } from '../connections/editing.ts';
import { HubError } from '../model/error.ts';
import { noteProbation } from './edit-files.ts';

interface OnProbation {
  readonly revision: number;
  readonly rights: EditRights;
  /** The folder that contains the note for the next start. */
  readonly folder: string;
  readonly timer: NodeJS.Timeout;
}

export class Probation {
  readonly #ms: number;
  #change: OnProbation | undefined;

  /** Creates the probation. A change has to be confirmed within `ms`. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** The time within which a change has to be confirmed, in seconds. */
  get seconds(): number {
    return this.#ms / 1000;
  }

  /** The revision on probation; undefined if there is none. */
  get revision(): number | undefined {
    return this.#change?.revision;
  }

  /** Checks that no other change is on probation. Errors: `conflict`. */
  expectNone(): void {
    if (this.#change === undefined) return;
    const { revision } = this.#change;
    throw new HubError('conflict', `expected revision ${revision} to be confirmed first: it is still on probation`);
  }

  /**
   * Puts a revision on probation. `noteProbation` must already have recorded the change in the folder. Calls `rollBack` if the revision is
   * not confirmed in time, and returns that time in milliseconds since 1970.
   */
  begin(revision: number, rights: EditRights, folder: string, rollBack: () => void): number {
    this.#change = { revision, rights, folder, timer: setTimeout(rollBack, this.#ms) };
    return Date.now() + this.#ms;
  }

  /**
   * Makes the change permanent. Errors: `not-found`; `forbidden` if the confirmation comes from somebody else or over another connection.
   */
  confirm(revision: number, { user, via }: EditRights): void {
    if (this.#change?.revision !== revision)
      throw new HubError('not-found', `revision ${revision}: expected a change on probation, got none`);
    const { rights } = this.#change;
    if (rights.user !== user)
      throw new HubError(
        'forbidden',
        `revision ${revision}: expected a confirmation from the user who made the change`,
      );
    if (rights.via !== via)
      throw new HubError(
        'forbidden',
        `revision ${revision}: expected a confirmation over the connection "${rights.via}"`,
      );
    this.end();
  }

  /** Ends the probation of a change that has been confirmed or undone. */
  end(): void {
    if (this.#change === undefined) return;
    const { timer, folder } = this.#change;
    clearTimeout(timer);
    noteProbation(folder, undefined); // first, because a hub that stops right after the confirmation must not undo the change
    this.#change = undefined;
  }

  /** Stops waiting. The next start of the hub undoes the change. */
  stop(): void {
    clearTimeout(this.#change?.timer);
  }
}
