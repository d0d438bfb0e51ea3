// What happened in a test, for people: each change with its time, the value before, and who made it, and a mark where the test
// failed. It keeps a bounded number of lines, the newest.

import { formatValue } from '../flow/test-plan.ts';
import type { Change, Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';

/** How many lines a timeline keeps; older lines are only counted. */
export const maxTimelineLines = 200;

const widestColumn = 40;

interface Line {
  readonly isMark: boolean;
  readonly timeMs: number;
  readonly columns: readonly string[];
}

export class Timeline {
  readonly #lines: Line[] = [];
  readonly #values = new Map<string, Value>();
  #left = 0;

  /** Takes note of a value that was there before anything happened. */
  addKnown(address: string, value: Value): void {
    this.#values.set(address, value);
  }

  addChange(timeMs: number, { parameter: { address, type }, value, origin }: Change): void {
    const isTrigger = type === 'T';
    const before = this.#values.get(address);
    if (!isTrigger) this.#values.set(address, value);
    const what = isTrigger ? 'fired' : `${formatValue(before)} → ${formatValue(value)}`;
    this.#add({ isMark: false, timeMs, columns: [address, what, formatOrigin(origin)] });
  }

  /** Adds a line of the log, such as a rule that failed on a value. */
  addNote(timeMs: number, text: string): void {
    this.#add({ isMark: false, timeMs, columns: [text] });
  }

  /** Marks the moment at which something was not as expected. */
  addMark(timeMs: number, address: string, text: string): void {
    this.#add({ isMark: true, timeMs, columns: [address, text] });
  }

  /** The lines in columns; a mark starts with `>>`. */
  format(): string {
    const table = this.#lines.map(({ isMark, timeMs, columns }) => ({
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
    return [...(this.#left > 0 ? [`    … ${this.#left} earlier …`] : []), ...lines].join('\n');
  }

  #add(line: Line): void {
    this.#lines.push(line);
    if (this.#lines.length <= maxTimelineLines) return;
    this.#lines.shift();
    this.#left++;
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
