// What the hub's thread asks of the thread that reads, and what it is answered: some questions at once, and the answers to as many
// of them, from the first on, as are ready soon.

import type { ErrorCode } from '../../../model/error.ts';
import type { PastQuestion } from '../../archive.ts';

export interface ReadRequest {
  /** The path of the database that has the answer. */
  readonly path: string;
  readonly question: PastQuestion;
}

export type ReadAnswer =
  | { readonly body: Uint8Array<ArrayBuffer>; readonly tag: string }
  | { readonly code: ErrorCode; readonly message: string }
  /** The database is damaged: who writes it should know. */
  | { readonly damage: string }
  | { readonly failure: string };
