// A list of histories in pieces, each with those of some parameters, as they are sent: threads can share the work.

import type { HistoryQuestion } from '../../../archive.ts';
import type { Moment } from '../past.ts';
import { csvHead, csvLinesOf } from './csv.ts';
import { historyOf } from './history-of.ts';

/** A piece has so many parameters; the last one may have fewer. */
const pieceParameters = 8;

export interface Piece {
  readonly text: string;
  /** There was no time for all of it, nor for what comes after it. */
  readonly isCut: boolean;
}

/** Reads the pieces of a list, up to one that is cut. Errors: those of SQLite, `unavailable`. */
export type ReadPieces = (moment: Moment, question: HistoryQuestion) => readonly Piece[];

export const readPieces: ReadPieces = (moment, question) => {
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
export function joinPieces(pieces: readonly Piece[], format: HistoryQuestion['format'], hasMore: boolean): string {
  const texts = pieces.map(({ text }) => text).filter((text) => text !== '');
  if (format === 'csv') return csvHead + texts.join('');
  const more = hasMore || pieces.at(-1)?.isCut ? ',"more":true' : '';
  return `{"histories":[${texts.join(',')}]${more}}\n`;
}
