// Live values by address, updated once per animation frame, because a page with hundreds of changing values would otherwise render
// thousands of times per second.

import { type Accessor, batch, createSignal, onCleanup, type Setter, untrack } from 'solid-js';
import type { About, Value, ValueType } from '../../client/index.ts';
import type { Access } from '../../model/parameter.ts';

/** The maximum number of updates per second on pages that show values as text. */
export const readableRate = 10;
/** The minimum time between two updates of a text, in milliseconds. Nobody can read numbers that change faster. */
const leastTextMs = 200;
/** The fraction of the texts of fast values that change in one frame, so that no frame takes much longer than another. */
const textShare = 0.2;
const leastTexts = 10;
/**
 * The minimum time between two updates, in milliseconds. The eye can follow 30 pictures per second, and changes from several subscriptions
 * are drawn together.
 */
const leastDrawMs = 25;
/** The maximum time between two updates, in milliseconds, on a machine that is so slow that drawing takes longer than pausing. */
const mostDrawMs = 100;

export interface LiveParameter {
  /** The value; undefined if the value is unknown. The value of a trigger that has fired is 1. */
  readonly value: Accessor<Value | undefined>;
  /** The same value as text for display, updated no more often than a person can read. The last value always appears. */
  readonly readable: Accessor<Value | undefined>;
  /** The number of changes and firings after the first value. Each increment causes an animation on the page. */
  readonly moves: Accessor<number>;
  /** When contact with the owning hub was lost, in milliseconds since 1970; undefined if the value is fresh. */
  readonly staleSince: Accessor<number | undefined>;
  /** The written value that the device has not confirmed yet; undefined if no value is pending. */
  readonly wanted: Accessor<Value | undefined>;
  /** The label, unit, range and other metadata; undefined if there are no metadata. */
  readonly about: Accessor<About | undefined>;
  /** The type and access of the parameter. Undefined if no parameter has this address, or if the hub has not reported the parameter yet. */
  readonly kind: Accessor<Kind | undefined>;
}

export interface Kind {
  readonly type: ValueType;
  readonly access: Access;
}

interface Cell extends LiveParameter {
  readonly setReadable: Setter<Value | undefined>;
  /** The time of the frame in which `readable` was last set. */
  readMs: number;
  /** Whether the value changed again before its text was updated. */
  isFast: boolean;
  readonly setValue: Setter<Value | undefined>;
  readonly setMoves: Setter<number>;
  readonly setKind: Setter<Kind | undefined>;
  readonly setStaleSince: Setter<number | undefined>;
  readonly setWanted: Setter<Value | undefined>;
  readonly setAbout: Setter<About | undefined>;
}

export interface LiveCells {
  of(address: string): LiveParameter;
  drop(address: string): void;
  /** Sets the type and access of the parameter at an address immediately, not in the next frame. */
  define(address: string, kind: Kind | undefined): void;
  /** Sets the time at which a value became stale immediately, not in the next frame. */
  age(address: string, staleSince: number | undefined): void;
  /** Sets the pending value and the metadata of a parameter immediately, not in the next frame. */
  mark(address: string, marks: { readonly wanted: Value | undefined; readonly about: About | undefined }): void;
  /** Sets the value of a parameter in the next animation frame. */
  put(address: string, value: Value | undefined, isMove: boolean): void;
}

/** Creates cells for live values, owned by the calling reactive scope. `onMoves` receives the addresses that changed within one frame. */
export function createLiveCells(onMoves: (moved: ReadonlySet<string>) => void): LiveCells {
  const cells = new Map<string, Cell>(); // limited by the number of addresses in use
  const pending = new Map<string, Value | undefined>();
  const moved = new Set<string>();
  /** The cells whose text is older than their value. */
  const unread = new Set<Cell>();
  let frame = 0;
  let drawnMs = 0;
  /**
   * The time between two updates: three times the time that the last one took, from its script to its pixels, so that most of the time
   * remains for input and scrolling.
   */
  let drawMs = leastDrawMs;
  const { port1: drawn, port2: drawing } = new MessageChannel();
  drawn.onmessage = ({ data: startMs }) => {
    drawMs = Math.min(mostDrawMs, Math.max(leastDrawMs, 3 * (performance.now() - startMs)));
  };
  /** Whether a change is waiting for a frame. */
  let isAwaited = false;
  onCleanup(() => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    drawn.close();
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Draws in a frame that is at least `delayMs` away, because a frame without changes would cost as much as a small frame. */
  const drawAfter = (delayMs: number) => {
    clearTimeout(timer);
    if (delayMs > 0) timer = setTimeout(() => drawAfter(0), delayMs);
    else frame ||= requestAnimationFrame(flush);
  };
  const flush = (now: number) => {
    frame = 0;
    drawnMs = now;
    isAwaited = false; // first of all: after a failure, later changes are drawn
    drawing.postMessage(performance.now()); // received after the page has been drawn
    const [values, movers] = [[...pending], new Set(moved)];
    pending.clear();
    moved.clear();
    batch(() => {
      for (const [address, value] of values) {
        const cell = cells.get(address);
        if (!cell) continue;
        cell.setValue(() => value);
        cell.isFast = unread.has(cell);
        unread.add(cell);
      }
      let texts = Math.max(leastTexts, textShare * cells.size);
      let waitMs = leastTextMs;
      for (const cell of unread) {
        const restMs = now - cell.readMs;
        if (restMs < leastTextMs || (cell.isFast && --texts < 0)) {
          waitMs = Math.min(waitMs, leastTextMs - restMs);
          continue;
        }
        cell.readMs = now;
        cell.setReadable(() => untrack(cell.value));
        unread.delete(cell);
      }
      for (const address of movers) cells.get(address)?.setMoves((count) => count + 1);
      if (movers.size > 0) onMoves(movers);
      if (unread.size > 0 && !isAwaited) drawAfter(Math.max(drawMs, waitMs));
    });
  };
  return {
    of(address) {
      const present = cells.get(address);
      if (present) return present;
      const cell = createCell();
      cells.set(address, cell);
      return cell;
    },
    drop: (address) => cells.delete(address),
    define: (address, kind) => cells.get(address)?.setKind(kind),
    mark(address, { wanted, about }) {
      const cell = cells.get(address);
      cell?.setWanted(() => wanted);
      cell?.setAbout(about);
    },
    age: (address, staleSince) => cells.get(address)?.setStaleSince(staleSince),
    put(address, value, isMove) {
      if (!cells.has(address)) return; // a pattern may match more than its own address
      pending.set(address, value);
      if (isMove) moved.add(address);
      if (isAwaited) return;
      isAwaited = true;
      drawAfter(drawnMs + drawMs - performance.now());
    },
  };
}

function createCell(): Cell {
  const [value, setValue] = createSignal<Value | undefined>();
  const [readable, setReadable] = createSignal<Value | undefined>();
  const [moves, setMoves] = createSignal(0);
  const [kind, setKind] = createSignal<Kind | undefined>();
  const [staleSince, setStaleSince] = createSignal<number | undefined>();
  const [wanted, setWanted] = createSignal<Value | undefined>();
  const [about, setAbout] = createSignal<About | undefined>();
  const marks = { staleSince, setStaleSince, wanted, setWanted, about, setAbout };
  return {
    value,
    setValue,
    readable,
    setReadable,
    readMs: Number.NEGATIVE_INFINITY,
    isFast: false,
    moves,
    setMoves,
    kind,
    setKind,
    ...marks,
  };
}
