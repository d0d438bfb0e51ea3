// Counts the frames sent to a client, or published on a topic.

export class Tally {
  frames = 0;
  bytes = 0;

  add(bytes: number): void {
    this.frames++;
    this.bytes += bytes;
  }

  /** Returns the difference from earlier counts of `frames` and `bytes`. */
  since({ frames, bytes }: Sent): Sent {
    return { frames: this.frames - frames, bytes: this.bytes - bytes };
  }
}

export interface Sent {
  readonly frames: number;
  readonly bytes: number;
}
