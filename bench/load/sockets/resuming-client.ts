// A patchbay.v1 client whose link is killed and which resumes on each new link. It keeps the values of all parameters in `picture`.

import { connectionId } from '../../../spec/support/load/many-parameters.ts';
import type { PictureReader } from '../../../spec/support/load/picture.ts';
import { openV1Socket } from '../../../spec/support/load/v1-socket.ts';
import type { Watch } from '../../../spec/support/load/watch.ts';

/** One connection to the hub. */
interface ClientLink {
  /** Resolves to the number of bytes received until the picture was complete. */
  readonly complete: Promise<number>;
  isComplete: boolean;
  /** The revision at which the picture was complete, and the time. */
  completeAt: number;
  completeMs: number;
}

export class ResumingClient {
  readonly picture: Float64Array;
  /** The epoch and revision from which the client resumes. */
  known: { readonly epoch: string; readonly rev: number } | undefined;
  /** Describes the error in a picture that is complete up to a revision. */
  judge: (revision: number, picture: Float64Array) => string | undefined = () => undefined;
  readonly #port: number;
  readonly #reader: PictureReader;
  readonly #watch: Watch;
  #kill = () => {};

  constructor(port: number, parameters: number, reader: PictureReader, watch: Watch) {
    this.picture = new Float64Array(parameters);
    this.#port = port;
    this.#reader = reader;
    this.#watch = watch;
  }

  /** Opens a link and subscribes to all parameters, resuming from `known`. */
  async connect(): Promise<ClientLink> {
    const { promise: complete, resolve } = Promise.withResolvers<number>();
    const link: ClientLink = { complete, isComplete: false, completeAt: 0, completeMs: 0 };
    const since = this.known;
    let isKilled = false;
    const onText = this.#receiver(link, since !== undefined, () => resolve(socket.receivedBytes()));
    const onEnd = (reason: string) => isKilled || this.#watch.fail(reason);
    const socket = await openV1Socket(this.#port, onText, onEnd);
    socket.send({ sub: 1, include: [`${connectionId}/**`], ...(since && { since }) });
    this.#kill = () => {
      isKilled = true;
      socket.socket.resetAndDestroy();
    };
    return link;
  }

  /** Resets the current link without a closing handshake. */
  kill(): void {
    this.#kill();
  }

  /** Creates the receiver for the messages of one link. */
  #receiver(link: ClientLink, resumes: boolean, completed: () => void): (payload: Buffer) => void {
    let next = 0;
    let epoch = '';
    return (payload) => {
      const place = this.#reader.cache.find(payload, next);
      next = place + 1;
      const { hello, mode, parameters, values, rev, end } = this.#reader.cache.parsedAt(place);
      if (hello !== undefined) epoch = hello.epoch;
      if (mode !== undefined && mode !== (resumes ? 'resume' : 'snapshot'))
        throw new Error(`expected a resume, got ${mode}`);
      for (const [index, parameter] of parameters.entries()) this.picture[parameter] = values[index]!;
      if (end !== undefined) {
        Object.assign(link, { isComplete: true, completeAt: rev!, completeMs: performance.now() });
        const difference = resumes ? this.judge(rev!, this.picture) : undefined;
        if (difference !== undefined) throw new Error(difference);
        completed();
      }
      if (link.isComplete && rev !== undefined) this.known = { epoch, rev };
    };
  }
}
