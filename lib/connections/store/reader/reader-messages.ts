// What the hub's thread asks of the thread that reads, and what it is answered: some questions at once, and the answers to as many
// of them, from the first on, as are ready soon. A list of 10,000 parameters is handed over as one text: to copy so many objects takes
// the hub's thread 5 ms.
import type { ErrorCode } from '../../../model/error.ts';
import type { ValueType } from '../../../model/value.ts';
import type { AskedParameter, HistoryQuestion, PastQuestion } from '../../persistence.ts';

export interface ReadRequest {
  /** The path of the database that has the answer. */
  readonly path: string;
  readonly question: HandedQuestion;
}

/** A question whose parameters are the text, if it is for a list. */
export type HandedQuestion = PastQuestion | HandedList;
export type HandedList = Omit<HistoryQuestion, 'parameters'> & { readonly text: string };

export function handListOver({ parameters, ...question }: HistoryQuestion): HandedList {
  return { ...question, text: JSON.stringify(parameters.flatMap(({ address, type }) => [address, type ?? ''])) };
}

export function isHandedList(question: HandedQuestion): question is HandedList {
  return 'text' in question && question.ask === 'history';
}

export function takeListOver({ text, ...question }: HandedList): HistoryQuestion {
  const fields = JSON.parse(text) as string[];
  const parameters: AskedParameter[] = [];
  for (let at = 0; at < fields.length; at += 2)
    parameters.push({ address: fields[at]!, type: (fields[at + 1] || undefined) as ValueType | undefined });
  return { ...question, parameters };
}

export type ReadAnswer =
  | { readonly body: Uint8Array<ArrayBuffer>; readonly tag: string }
  | { readonly code: ErrorCode; readonly message: string }
  /** The database is damaged: who writes it should know. */
  | { readonly damage: string }
  | { readonly failure: string };
