// Answers a query for the history of one or more parameters.
import { unknownName } from '../../../../json5/nearest-name.ts';
import { HubError } from '../../../../model/error.ts';
import type { Value } from '../../../../model/value.ts';
import type { History } from '../../../../wire/http/past-shapes.ts';
import { toIsoTime } from '../../../../wire/time.ts';
import type { HistoryQuestion } from '../../../persistence.ts';
import type { PastDatabase } from '../past-database.ts';
import { createSight, type Moment, type Sees } from '../past-moment.ts';
import { historyOf } from './history-of.ts';

/**
 * Returns the answer to a history query as a string, JSON or CSV. `read` reads the pieces of a list. Errors: any SQLite error;
 * `unknown-parameter`, which suggests the most similar address; `unavailable` if the query takes too long.
 */
export function answerHistories(moment: Moment, question: HistoryQuestion, read: ReadPieces = readPieces): string {
  const { parameters, list, format } = question;
  if (list !== undefined) return joinPieces(read(moment, question), format, list.hasMore);
  const history = historyOf(moment, parameters[0]!, question);
  if (history === undefined)
    throw unknownParameter(moment.database, parameters[0]!.address, createSight(question.sight));
  return format === 'csv' ? csvHead + csvLinesOf([history]) : `${JSON.stringify(history)}\n`;
}

/** Creates the error for an address that is unknown or hidden. The error suggests the most similar address that the reader may see. */
export function unknownParameter(database: PastDatabase, address: string, sees: Sees): HubError {
  const known = [...database.addresses()].filter(sees);
  return new HubError(
    'unknown-parameter',
    `${unknownName('parameter', address, known)}: neither the hub nor its history contains it`,
  );
}

// A list of histories is produced in pieces, so that two threads can share the work. Each piece contains the answers for a few parameters.

/** The number of parameters in a piece; the last piece of a list may have fewer. */
const pieceParameters = 8;

export interface Piece {
  readonly text: string;
  /** Whether the time ran out during this piece, so that no other piece follows. */
  readonly isCut: boolean;
}

/** Reads the pieces of a list, up to and including the first incomplete piece. Errors: any SQLite error, `unavailable`. */
type ReadPieces = (moment: Moment, question: HistoryQuestion) => readonly Piece[];

const readPieces: ReadPieces = (moment, question) => {
  const pieces: Piece[] = [];
  for (let place = 0; place < piecesOf(question) && !pieces.at(-1)?.isCut; place++)
    pieces.push(readPiece(moment, question, place, !pieces.some(({ text }) => text !== '')));
  return pieces;
};

export function piecesOf({ parameters }: HistoryQuestion): number {
  return Math.ceil(parameters.length / pieceParameters);
}

/**
 * Reads the piece at an index. If `isFirst` is set, the piece contains at least one history, even if the deadline has passed. Errors: any
 * SQLite error, `unavailable`.
 */
export function readPiece(moment: Moment, question: HistoryQuestion, place: number, isFirst: boolean): Piece {
  const { parameters, format } = question;
  const histories = [];
  let isCut = false;
  for (const parameter of parameters.slice(place * pieceParameters, (place + 1) * pieceParameters)) {
    isCut = moment.deadline.isOver && !(isFirst && histories.length === 0);
    if (isCut) break;
    const history = historyOf(moment, parameter, question);
    if (history !== undefined) histories.push(history);
  }
  const text = format === 'csv' ? csvLinesOf(histories) : histories.map((one) => JSON.stringify(one)).join(',');
  return { text, isCut };
}

/** Joins the pieces of a list to the answer. `hasMore` means that there are more parameters than the list contains. */
function joinPieces(pieces: readonly Piece[], format: HistoryQuestion['format'], hasMore: boolean): string {
  const texts = pieces.map(({ text }) => text).filter((text) => text !== '');
  if (format === 'csv') return csvHead + texts.join('');
  const more = hasMore || pieces.at(-1)?.isCut ? ',"more":true' : '';
  return `{"histories":[${texts.join(',')}]${more}}\n`;
}

// CSV for spreadsheets (RFC 4180): one line per point, and the same columns for every query.

const columns = ['address', 'time', 'value', 'min', 'mean', 'max', 'count'];
const lineEnd = '\r\n';

const csvHead = columns.join(',') + lineEnd;

/** Returns one CSV line per point. Columns that a point does not have, and values that are unknown, are empty. */
function csvLinesOf(histories: readonly History[]): string {
  const lines: string[] = [];
  for (const history of histories) {
    const { address, type, times, values, min, mean, max, counts } = history;
    const name = field(address);
    for (const [index, time] of times.entries()) {
      const value = values?.[index] ?? (type === 'T' && counts === undefined ? 1 : null);
      const figures = [min, mean, max, counts].map((column) => column?.[index] ?? '');
      lines.push([name, toIsoTime(time), field(value), ...figures].join(',') + lineEnd);
    }
  }
  return lines.join('');
}

/**
 * Formats a value as a CSV field. A string that a spreadsheet would evaluate as a formula gets an apostrophe: `=1+1` becomes `'=1+1`.
 * Numbers remain unchanged.
 */
function field(value: Value | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
