// A second thread that reads, as far as it gets, pieces of a list that is long. It is there from the first long list on, as long as the
// first thread is. What it does not hand over, whatever the reason, the first thread reads itself.
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import type { HistoryQuestion } from '../../persistence.ts';
import { startThread } from '../store-thread.ts';
import { type Piece, piecesOf, readPiece } from './histories/histories.ts';
import type { Mark } from './past-database.ts';
import type { Moment } from './past-moment.ts';
import { type HandedList, handListOver } from './reader-messages.ts';

/** A list of fewer parameters is read by the first thread alone. */
const longList = 100;
/** The first thread waits for a piece no longer than it takes to read it. */
const patienceMs = 50;

export class SecondReader {
  #worker: Worker | undefined;
  #port: MessagePort | undefined;
  #number = 0;
  #handed = 0;
  /** Of the question before: until the second thread is done with it, it is asked nothing else. */
  #desk: SharedState | undefined;

  /** How many pieces the second thread has handed over. */
  get handed(): number {
    return this.#handed;
  }

  /** Reads the pieces of a list, up to one that is cut; `now` is that of the moment. Errors: those of reading a piece. */
  read(path: string, now: number, moment: Moment, question: HistoryQuestion): Piece[] {
    const count = piecesOf(question);
    const shared = createSharedState();
    const isShared = question.parameters.length >= longList && this.#isFree;
    if (isShared)
      this.#ask({
        number: ++this.#number,
        path,
        question: handListOver(question),
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

  /** Ends the thread, if it is there. */
  end(): void {
    void this.#worker?.terminate();
    this.#forget();
  }

  get #isFree(): boolean {
    return this.#desk === undefined || hasEnded(this.#desk);
  }

  #ask(request: ShareRequest): void {
    this.#port ??= this.#start();
    this.#desk = request.shared;
    this.#port.postMessage(request);
  }

  #start(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const worker = startThread('second-reader-thread', { workerData: port2, transferList: [port2] });
    worker.once('exit', () => {
      if (worker === this.#worker) this.#forget();
    });
    worker.on('error', () => {}); // the first thread reads alone, and a long list brings another one
    this.#worker = worker;
    return port1;
  }

  #forget(): void {
    this.#port?.close();
    [this.#worker, this.#port, this.#desk] = [undefined, undefined, undefined];
  }

  /** Takes what is handed over, and waits for what the second thread has taken. */
  #collect(shared: SharedState, pieces: (Piece | undefined)[]): void {
    for (;;) {
      const [handed, isOver] = [countHanded(shared), hasEnded(shared)];
      for (let got = receiveMessageOnPort(this.#port!); got !== undefined; got = receiveMessageOnPort(this.#port!)) {
        const { number, place, text } = got.message as SharedPiece;
        if (number !== this.#number) continue; // it came too late
        pieces[place] = { text, isCut: false };
        this.#handed++;
      }
      const isWhole = isOver || !pieces.includes(undefined);
      if (isWhole || !awaitHanded(shared, handed, patienceMs)) return;
    }
  }
}

// How two threads share the pieces of a list: each takes the next one that nobody has taken, and the second hands over what it has read.

/** What the second thread is asked to help with. */
export interface ShareRequest {
  readonly number: number;
  /** The path of the database. */
  readonly path: string;
  readonly question: HandedList;
  /** When it is asked; together with the mark that is the moment which the whole answer is of. */
  readonly now: number;
  readonly mark: Mark;
  /** How long the question may still take. */
  readonly leftMs: number;
  readonly shared: SharedState;
}

/** A piece that the second thread has read. */
export interface SharedPiece {
  readonly number: number;
  readonly place: number;
  readonly text: string;
}

/** Where pieces are taken, in memory that both threads see. */
type SharedState = Int32Array<SharedArrayBuffer>;

const [nextPlace, handed, ended] = [0, 1, 2];

function createSharedState(): SharedState {
  return new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
}

/** The place of the next piece; it may be behind the last one. */
export function takePlace(shared: SharedState): number {
  return Atomics.add(shared, nextPlace, 1);
}

/** Nobody is to take any more of so many pieces. */
function closeSharedState(shared: SharedState, pieces: number): void {
  Atomics.store(shared, nextPlace, pieces);
}

/** The second thread says that it has handed over a piece. */
export function answerHanded(shared: SharedState): void {
  Atomics.add(shared, handed, 1);
  Atomics.notify(shared, handed);
}

/** The second thread says that it hands over no more. */
export function reportEnded(shared: SharedState): void {
  Atomics.store(shared, ended, 1);
  answerHanded(shared);
}

function hasEnded(shared: SharedState): boolean {
  return Atomics.load(shared, ended) === 1;
}

function countHanded(shared: SharedState): number {
  return Atomics.load(shared, handed);
}

/** Waits until more is handed over than was counted. Returns false when it took too long. */
function awaitHanded(shared: SharedState, counted: number, mostMs: number): boolean {
  return Atomics.wait(shared, handed, counted, mostMs) !== 'timed-out';
}
