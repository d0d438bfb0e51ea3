// What connections have under way, as it is to be written: as JSON, and only where it is another than on the disk.

import type { KeepingPort } from '../../keeping.ts';
import type { Batch } from '../thread/values/messages.ts';

type Rows = Batch['memories'];

export class Memories {
  readonly #keeping: KeepingPort;
  /** What is on the disk, by connection and name. */
  readonly #texts = new Map<string, string>();

  constructor(keeping: KeepingPort) {
    this.#keeping = keeping;
  }

  /** What is to be written; until it has been, `renew` makes it so again. */
  take(): Rows {
    const rows: [connection: string, name: string, memory: string | undefined][] = [];
    for (const { connection, name, memory } of this.#keeping.takeMemories()) {
      const text = memory === undefined ? undefined : JSON.stringify(memory);
      if (text === undefined || this.#texts.get(keyOf(connection, name)) !== text) rows.push([connection, name, text]);
    }
    return rows;
  }

  written(rows: Rows): void {
    for (const [connection, name, text] of rows)
      if (text === undefined) this.#texts.delete(keyOf(connection, name));
      else this.#texts.set(keyOf(connection, name), text);
  }

  /** Nothing is known to be on the disk. */
  renew(): void {
    this.#texts.clear();
    this.#keeping.renewMemories();
  }
}

function keyOf(connection: string, name: string): string {
  return `${connection}/${name}`;
}
