// The time of the hub, which may not be that of the machine on which the page is read.

let aheadMs = 0;

/** The time of the hub in milliseconds since 1970, as far as its answers have told. */
export function hubNow(): number {
  return Date.now() + aheadMs;
}

/** A time of the page as the hub would tell it. */
export function toHubTime(time: number): number {
  return time + aheadMs;
}

export function toPageTime(time: number): number {
  return time - aheadMs;
}

/** Hears that the hub told its time between two times of the page. Returns by how much that was news. */
export function setHubTime(time: number, askedAt: number, answeredAt: number): number {
  const before = aheadMs;
  aheadMs = time - (askedAt + answeredAt) / 2;
  return Math.abs(aheadMs - before);
}
