// What happened in a test, for people: each change with its time, the value before, and who made it, and a mark where the test
// failed. It keeps a bounded number of lines, the newest of each parameter. A failure shows those that led to it.

import { formatValue } from '../flow/test-plan.ts';
import type { Change, Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';

/** How many lines a timeline shows, and how many of them of one parameter; others are only counted. */
export const maxTimelineLines = 200;
export const maxLinesOfParameter = 20;
/** How many lines it keeps before it shows some of them. */
const maxKeptLines = 10 * maxTimelineLines;

const widestColumn = 40;

interface Line {
  readonly isMark: boolean;
  /** The parameter that has changed; undefined: the line has to be shown. */
  readonly address?: string;
  /** There are many newer ones of its parameter. */
  isLeft?: true;
  readonly timeMs: number;
  readonly columns: readonly string[];
}

export class Timeline {
  #lines: Line[] = [];
  readonly #values = new Map<string, Value>();
  readonly #linesOf = new Map<string, Line[]>();
  #count = 0;
  /** What may have led to what was not as expected; undefined: anything. */
  #relevant: Set<string> | undefined;

  /** Takes note of a value that was there before anything happened. */
  addKnown(address: string, value: Value): void {
    this.#values.set(address, value);
  }

  addChange(timeMs: number, { parameter: { address, type }, value, origin }: Change): void {
    const isTrigger = type === 'T';
    const before = this.#values.get(address);
    if (!isTrigger) this.#values.set(address, value);
    const what = isTrigger ? 'fired' : `${formatValue(before)} → ${formatValue(value)}`;
    this.#add({ isMark: false, timeMs, address, columns: [address, what, formatOrigin(origin)] });
  }

  /** Adds a line of the log, such as a rule that failed on a value. */
  addNote(timeMs: number, text: string): void {
    this.#add({ isMark: false, timeMs, columns: [text] });
  }

  /** Marks the moment at which something was not as expected. Of other parameters than the relevant ones no change is shown. */
  addMark(timeMs: number, address: string, text: string, relevant?: ReadonlySet<string>): void {
    if (relevant !== undefined) this.#relevant = new Set([...(this.#relevant ?? []), ...relevant]);
    this.#add({ isMark: true, timeMs, columns: [address, text] });
  }

  /** The lines in columns; a mark starts with `>>`. */
  format(): string {
    const shown = this.#lines.filter((line) => this.#isShown(line)).slice(-maxTimelineLines);
    const others = this.#count - shown.length;
    const table = shown.map(({ isMark, timeMs, columns }) => ({
      mark: isMark ? '>>' : '  ',
      cells: [formatTime(timeMs), ...columns],
    }));
    const widthOf = (column: number) =>
      Math.min(
        widestColumn,
        Math.max(
          0,
          ...table.filter(({ cells }) => cells.length > column + 1).map(({ cells }) => cells[column]!.length),
        ),
      );
    const widths = [0, 1, 2].map(widthOf);
    const lines = table.map(({ mark, cells }) =>
      [mark, ...cells.map((cell, column) => (column < cells.length - 1 ? cell.padEnd(widths[column]!) : cell))].join(
        '  ',
      ),
    );
    return [...(others > 0 ? [`    … ${others} others …`] : []), ...lines].join('\n');
  }

  #add(line: Line): void {
    this.#count++;
    this.#lines.push(line);
    if (line.address !== undefined) {
      const ofParameter = this.#linesOf.get(line.address) ?? [];
      this.#linesOf.set(line.address, ofParameter);
      if (ofParameter.push(line) > maxLinesOfParameter) ofParameter.shift()!.isLeft = true;
    }
    if (this.#lines.length >= 2 * maxKeptLines)
      this.#lines = this.#lines.filter(({ isLeft }) => !isLeft).slice(-maxKeptLines);
  }

  #isShown({ address, isLeft }: Line): boolean {
    return !isLeft && (address === undefined || (this.#relevant?.has(address) ?? true));
  }
}

/** Who made a change: `rule "lamp off"`, `connection "clock"`, `test`. */
export function formatOrigin({ kind, name }: Origin): string {
  return kind === 'client' ? name : `${kind} "${name}"`;
}

/** Milliseconds as hours, minutes and seconds: 3500 → `0:00:03.500`. */
export function formatTime(timeMs: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const seconds = Math.floor(timeMs / 1000);
  const clock = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${clock}.${String(Math.floor(timeMs % 1000)).padStart(3, '0')}`;
}
