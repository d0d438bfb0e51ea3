// How much has been sent: to a client, or to all that hear a topic.

export class Tally {
  frames = 0;
  bytes = 0;

  add(bytes: number): void {
    this.frames++;
    this.bytes += bytes;
  }

  /** What has been added since it stood at `frames` and `bytes`. */
  since({ frames, bytes }: Sent): Sent {
    return { frames: this.frames - frames, bytes: this.bytes - bytes };
  }
}

export interface Sent {
  readonly frames: number;
  readonly bytes: number;
}
