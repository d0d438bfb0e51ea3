// The values that clients of patchbay.v1 hold for many parameters, by number. A frame that many sockets receive is parsed only once.

import { FrameCache } from './frame-cache.ts';
import { parameterNumberOf } from './many-parameters.ts';
import { readMessage, type V1Message } from './v1-socket.ts';

/** A message, its values by the numbers of their parameters. */
interface PictureMessage extends Omit<V1Message, 'set' | 'def'> {
  readonly parameters: Int32Array;
  readonly values: Float64Array;
}

/** The ids that a hub has given to parameters of `many-parameters.ts`, and its frames as messages. */
export class PictureReader {
  readonly cache = new FrameCache((text) => this.#read(text));
  readonly #numbers = new Map<number, number>();
  readonly #ids: number[] = [];

  /** The id of a parameter, for writing. Errors: when its definition has not come. */
  idOf(parameter: number): number {
    const id = this.#ids[parameter];
    if (id === undefined) throw new Error(`expected a definition of parameter ${parameter}`);
    return id;
  }

  #read(text: string): PictureMessage {
    const { def = [], set = [], ...message } = readMessage(text);
    for (const [id, address] of def) {
      const number = parameterNumberOf(address);
      this.#numbers.set(id, number);
      this.#ids[number] = id;
    }
    return {
      ...message,
      parameters: Int32Array.from(set, ([id]) => {
        const number = this.#numbers.get(id);
        if (number === undefined) throw new Error(`expected a definition before the first value of ${id}`);
        return number;
      }),
      values: Float64Array.from(set, ([, value]) => value),
    };
  }
}
