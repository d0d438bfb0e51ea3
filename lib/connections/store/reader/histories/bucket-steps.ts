// How long buckets are: as people count time, so that a bucket is made of whole minutes or whole hours.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Each of them has whole ones of a unit: a minute has whole seconds of them, an hour whole minutes, a day whole hours. */
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 28].map((n) => n * day),
];

/** The shortest step that is at least so long. */
export function stepOf(leastMs: number): number {
  const step = steps.find((one) => one >= leastMs);
  if (step !== undefined) return step;
  let longest = steps.at(-1)!;
  while (longest < leastMs) longest *= 2;
  return longest;
}

/** The beginning of the step that a time is in. */
export function floorTo(step: number, time: number): number {
  return Math.floor(time / step) * step;
}
