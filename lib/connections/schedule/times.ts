// Times of a day, in milliseconds since midnight.

const hour = String.raw`(?:[01]\d|2[0-3])`;
const below60 = String.raw`[0-5]\d`;

/** What a time looks like in text, and times of which `*` stands for each hour or minute. */
export const clockPattern = `^(?:${hour}:${below60}(?::${below60})?|24:00)$`;
export const timesPattern = String.raw`^(?:\*|${hour}):(?:\*|${below60})(?::${below60})?$`;

/** Reads a time: `'06:00'`, `'21:59:30'`, `'24:00'`; undefined if it is none. */
export function readClock(text: string): number | undefined {
  if (!new RegExp(clockPattern).test(text)) return undefined;
  const [hours, minutes, seconds = 0] = text.split(':').map(Number);
  return ((hours! * 60 + minutes!) * 60 + seconds) * 1000;
}

/** Reads times: `'06:00'`, `'*:00'`, `'08:*'`; undefined if it is none. */
export function readTimes(text: string): number[] | undefined {
  if (!new RegExp(timesPattern).test(text)) return undefined;
  const [hours, minutes, seconds = '00'] = text.split(':');
  return each(hours!, 24).flatMap((one) =>
    each(minutes!, 60).map((other) => ((one * 60 + other) * 60 + Number(seconds)) * 1000),
  );
}

function each(text: string, count: number): number[] {
  return text === '*' ? Array.from({ length: count }, (_, index) => index) : [Number(text)];
}
