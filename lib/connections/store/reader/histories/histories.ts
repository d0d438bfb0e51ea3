// Answers a question for the history of one parameter or of several.

import { unknownName } from '../../../../json5/nearest-name.ts';
import { HubError } from '../../../../model/error.ts';
import type { HistoryQuestion } from '../../../archive.ts';
import type { Moment } from '../past.ts';
import type { PastDatabase } from '../past-database.ts';
import { createSight, type Sees } from '../sight.ts';
import { csvHead, csvLinesOf } from './csv.ts';
import { historyOf } from './history-of.ts';
import { joinPieces, type ReadPieces, readPieces } from './pieces.ts';

/**
 * The text of the answer; `read` reads the pieces of a list. Errors: those of SQLite, `unknown-parameter` with the nearest address,
 * `unavailable` when it takes too long.
 */
export function answerHistories(moment: Moment, question: HistoryQuestion, read: ReadPieces = readPieces): string {
  const { parameters, list, format } = question;
  if (list !== undefined) return joinPieces(read(moment, question), format, list.hasMore);
  const history = historyOf(moment, parameters[0]!, question);
  if (history === undefined)
    throw unknownParameter(moment.database, parameters[0]!.address, createSight(question.sight));
  return format === 'csv' ? csvHead + csvLinesOf([history]) : `${JSON.stringify(history)}\n`;
}

/** Names the nearest address that may be seen. */
export function unknownParameter(database: PastDatabase, address: string, sees: Sees): HubError {
  const known = [...database.addresses()].filter(sees);
  return new HubError(
    'unknown-parameter',
    `${unknownName('parameter', address, known)}: neither the hub nor its history knows it`,
  );
}
