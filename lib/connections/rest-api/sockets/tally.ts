// Counts the frames and bytes that are sent to a client, or published on a topic.

export class Tally {
  frames = 0;
  bytes = 0;

  add(bytes: number): void {
    this.frames++;
    this.bytes += bytes;
  }

  /** Returns how many frames and bytes have been counted since an earlier state. */
  since({ frames, bytes }: Sent): Sent {
    return { frames: this.frames - frames, bytes: this.bytes - bytes };
  }
}

export interface Sent {
  readonly frames: number;
  readonly bytes: number;
}
