// The messages between the hub's thread and the reader thread: a batch of queries, and the answers to as many of the first queries as are
// ready soon. A list of parameters is sent as one string, because copying 10,000 objects would block the hub's thread for 5 ms.
import type { ErrorCode } from '../../../model/error.ts';
import type { ValueType } from '../../../model/value.ts';
import type { AskedParameter, HistoryQuestion, PastQuestion } from '../../persistence.ts';

export interface ReadRequest {
  /** The path of the database to which the query refers. */
  readonly path: string;
  readonly question: PackedQuestion;
}

/** A query in the form in which it is sent to the thread. A list query contains its parameters as one string. */
export type PackedQuestion = PastQuestion | PackedList;
export type PackedList = Omit<HistoryQuestion, 'parameters'> & { readonly text: string };

export function packList({ parameters, ...question }: HistoryQuestion): PackedList {
  return { ...question, text: JSON.stringify(parameters.flatMap(({ address, type }) => [address, type ?? ''])) };
}

export function isPackedList(question: PackedQuestion): question is PackedList {
  return 'text' in question && question.ask === 'history';
}

export function unpackList({ text, ...question }: PackedList): HistoryQuestion {
  const fields = JSON.parse(text) as string[];
  const parameters: AskedParameter[] = [];
  for (let at = 0; at < fields.length; at += 2)
    parameters.push({ address: fields[at]!, type: (fields[at + 1] || undefined) as ValueType | undefined });
  return { ...question, parameters };
}

export type ReadAnswer =
  | { readonly body: Uint8Array<ArrayBuffer>; readonly tag: string }
  | { readonly code: ErrorCode; readonly message: string }
  /** The database is damaged, for this reason. The hub notifies the part that writes the database. */
  | { readonly damage: string }
  | { readonly failure: string };
