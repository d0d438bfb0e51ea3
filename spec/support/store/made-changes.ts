// Changes that a spec makes up, as a recorder hands them over: parameters get numbers as they come, and rows fill columns.

import { Columns, columnRows } from '../../../lib/connections/store/history/columns.ts';
import type { Changes, JumpRow, ParameterRow } from '../../../lib/connections/store/history/history-messages.ts';
import type { ValueType } from '../../../lib/model/value.ts';

/** A change of a parameter, which is told from its address on: `['desk/level', 'F', 1000, 0.5]`. */
export type MadeChange = readonly [address: string, type: ValueType, time: number, value: number | string];

export class MadeChanges {
  readonly #numbers = new Map<string, number>();
  #revision = 0;
  #jumps: JumpRow[] = [];

  /** No older ones come later than `until`. */
  hand(changes: readonly MadeChange[], until: number): Changes {
    const parameters: ParameterRow[] = [];
    const all = [new Columns()];
    for (const change of changes) {
      const [address, type] = change;
      if (!this.#numbers.has(address)) parameters.push([this.#newNumber(address), address, type, 0]);
      if (all.at(-1)!.length === columnRows) all.push(new Columns());
      this.#fill(all.at(-1)!, change);
    }
    const columns = changes.length === 0 ? [] : all.map((one) => one.hand());
    return { columns, parameters, writers: [['client', 'spec', '']], until, jumps: this.#jumps.splice(0) };
  }

  /** The clock jumps before the changes that are handed next. */
  jump(before: number, after: number): void {
    this.#jumps.push({ before, after, revision: this.#revision });
  }

  /** The thread that is told next knows no parameter; revisions go on. */
  forget(): void {
    this.#numbers.clear();
  }

  #fill(columns: Columns, [address, , time, value]: MadeChange): void {
    const row = columns.length++;
    columns.time[row] = time;
    columns.revision[row] = ++this.#revision;
    columns.value[row] = typeof value === 'string' ? columns.addText(value) : value;
    columns.parameter[row] = this.#numbers.get(address)!;
    columns.writer[row] = 1;
    columns.source[row] = 1;
  }

  #newNumber(address: string): number {
    const number = this.#numbers.size + 1;
    this.#numbers.set(address, number);
    return number;
  }
}
