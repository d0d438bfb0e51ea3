// A second reader thread that takes over pieces of long lists. The second thread starts with the first long list and ends with the first
// thread. The first thread reads all pieces that the second thread does not deliver.
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import type { HistoryQuestion } from '../../persistence.ts';
import { startThread } from '../store-thread.ts';
import { type Piece, piecesOf, readPiece } from './histories/histories.ts';
import type { Mark } from './past-database.ts';
import type { Moment } from './past-moment.ts';
import { type PackedList, packList } from './reader-messages.ts';

/** The minimum number of parameters in a list that both threads share. The first thread reads shorter lists alone. */
const longList = 100;
/** The maximum time that the first thread waits for a piece, in milliseconds: no longer than it would take to read the piece. */
const patienceMs = 50;

export class SecondReader {
  #worker: Worker | undefined;
  #port: MessagePort | undefined;
  #number = 0;
  #delivered = 0;
  /** The state of the last query for the second thread, which gets no further query before it has finished. */
  #shared: SharedState | undefined;

  /** The number of pieces that the second thread has delivered. */
  get delivered(): number {
    return this.#delivered;
  }

  /**
   * Reads the pieces of a list, up to and including the first incomplete piece. `path` is the path of the database and `now` the current
   * time. Errors: any error from reading a piece.
   */
  read(path: string, now: number, moment: Moment, question: HistoryQuestion): Piece[] {
    const count = piecesOf(question);
    const shared = createSharedState();
    const isShared = question.parameters.length >= longList && this.#isFree;
    if (isShared)
      this.#ask({
        number: ++this.#number,
        path,
        question: packList(question),
        now,
        mark: moment.mark,
        leftMs: moment.deadline.leftMs,
        shared,
      });
    const pieces: (Piece | undefined)[] = new Array(count);
    const read = (place: number) => {
      const isFirst = !pieces.some((piece) => piece !== undefined && piece.text !== '');
      const piece = readPiece(moment, question, place, isFirst);
      pieces[place] = piece;
      return piece;
    };
    try {
      for (let place = takePlace(shared); place < count; place = takePlace(shared)) if (read(place).isCut) break;
    } finally {
      closeSharedState(shared, count);
    }
    if (isShared) this.#collect(shared, pieces);
    for (let place = 0; place < count; place++)
      if ((pieces[place] ?? read(place)).isCut) return pieces.slice(0, place + 1) as Piece[];
    return pieces as Piece[];
  }

  /** Ends the second thread if it is running. */
  end(): void {
    void this.#worker?.terminate();
    this.#forget();
  }

  get #isFree(): boolean {
    return this.#shared === undefined || hasEnded(this.#shared);
  }

  #ask(request: ShareRequest): void {
    this.#port ??= this.#start();
    this.#shared = request.shared;
    this.#port.postMessage(request);
  }

  #start(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const worker = startThread('second-reader-thread', port2, [port2]);
    worker.once('exit', () => {
      if (worker === this.#worker) this.#forget();
    });
    worker.on('error', () => {}); // the first thread then reads alone, and the next long list starts another thread
    this.#worker = worker;
    return port1;
  }

  #forget(): void {
    this.#port?.close();
    [this.#worker, this.#port, this.#shared] = [undefined, undefined, undefined];
  }

  /** Takes the pieces that the second thread has delivered, and waits for pieces that it is still reading. */
  #collect(shared: SharedState, pieces: (Piece | undefined)[]): void {
    for (;;) {
      const [delivered, isOver] = [countDelivered(shared), hasEnded(shared)];
      for (let got = receiveMessageOnPort(this.#port!); got !== undefined; got = receiveMessageOnPort(this.#port!)) {
        const { number, place, text } = got.message as SharedPiece;
        if (number !== this.#number) continue; // a late piece from an earlier query
        pieces[place] = { text, isCut: false };
        this.#delivered++;
      }
      const isWhole = isOver || !pieces.includes(undefined);
      if (isWhole || !awaitDelivered(shared, delivered, patienceMs)) return;
    }
  }
}

// Two threads share the pieces of a list. Each thread takes the next free piece, and the second thread delivers the pieces that it has
// read.

/** A request to the second thread to share the pieces of a list. */
export interface ShareRequest {
  readonly number: number;
  /** The path of the database. */
  readonly path: string;
  readonly question: PackedList;
  /** The time of the query, in milliseconds since 1970. Together with the mark, it determines the state that the whole answer shows. */
  readonly now: number;
  readonly mark: Mark;
  /** The remaining time for the query, in milliseconds. */
  readonly leftMs: number;
  readonly shared: SharedState;
}

/** A piece that the second thread has read; `number` is the number of the request. */
export interface SharedPiece {
  readonly number: number;
  readonly place: number;
  readonly text: string;
}

/**
 * The index of the next free piece, the number of delivered pieces, and whether the second thread has ended its work, in memory that both
 * threads share.
 */
type SharedState = Int32Array<SharedArrayBuffer>;

const [nextPlace, delivered, ended] = [0, 1, 2];

function createSharedState(): SharedState {
  return new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
}

/** Claims the next piece and returns its index, which may be past the last piece. */
export function takePlace(shared: SharedState): number {
  return Atomics.add(shared, nextPlace, 1);
}

/** Prevents both threads from claiming another piece. */
function closeSharedState(shared: SharedState, pieces: number): void {
  Atomics.store(shared, nextPlace, pieces);
}

/** Signals that the second thread has delivered a piece. Called by the second thread. */
export function notifyDelivered(shared: SharedState): void {
  Atomics.add(shared, delivered, 1);
  Atomics.notify(shared, delivered);
}

/** Signals that the second thread will deliver no more pieces. Called by the second thread. */
export function reportEnded(shared: SharedState): void {
  Atomics.store(shared, ended, 1);
  notifyDelivered(shared);
}

function hasEnded(shared: SharedState): boolean {
  return Atomics.load(shared, ended) === 1;
}

function countDelivered(shared: SharedState): number {
  return Atomics.load(shared, delivered);
}

/** Waits until the number of delivered pieces is no longer `counted`. Returns false after `mostMs`. */
function awaitDelivered(shared: SharedState, counted: number, mostMs: number): boolean {
  return Atomics.wait(shared, delivered, counted, mostMs) !== 'timed-out';
}
