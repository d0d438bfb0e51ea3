// Answers a question for the history of one parameter or of several.
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

// A list of histories in pieces, each with those of some parameters, as they are sent: threads can share the work.

/** A piece has so many parameters; the last one may have fewer. */
const pieceParameters = 8;

export interface Piece {
  readonly text: string;
  /** There was no time for all of it, nor for what comes after it. */
  readonly isCut: boolean;
}

/** Reads the pieces of a list, up to one that is cut. Errors: those of SQLite, `unavailable`. */
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

/** Reads a piece by its place; `isFirst`: it has a history in any case. Errors: those of SQLite, `unavailable`. */
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

/** The answer that the pieces of a list make together. */
function joinPieces(pieces: readonly Piece[], format: HistoryQuestion['format'], hasMore: boolean): string {
  const texts = pieces.map(({ text }) => text).filter((text) => text !== '');
  if (format === 'csv') return csvHead + texts.join('');
  const more = hasMore || pieces.at(-1)?.isCut ? ',"more":true' : '';
  return `{"histories":[${texts.join(',')}]${more}}\n`;
}

// Histories as CSV (RFC 4180), for spreadsheets: one line for each point, the same columns whatever is asked for.

const columns = ['address', 'time', 'value', 'min', 'mean', 'max', 'count'];
const lineEnd = '\r\n';

/** The first line. */
const csvHead = columns.join(',') + lineEnd;

/** Columns that a point does not have are empty, and so is a value that is unknown. */
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
 * A text that a spreadsheet would take for a formula begins with an apostrophe: `=1+1` becomes `'=1+1`. Numbers stay as they are.
 */
function field(value: Value | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
