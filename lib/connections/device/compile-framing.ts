// Compiles the framing of a device description: how messages begin and end in a stream of bytes.

import type { Framing, LengthRule } from '../../device/frames.ts';
import type { SettingPath } from '../../json5/mistake.ts';
import { describe } from '../../model/error.ts';
import type { Description } from './description.ts';

type DescribedFrame = NonNullable<Description['frame']>;
type Report = (path: SettingPath, message: string) => void;

/** Returns the framing; undefined if the description has none. `isOfBytes` states whether marks are written as hexadecimal digits. */
export function compileFraming(
  frame: DescribedFrame | undefined,
  isOfBytes: boolean,
  report: Report,
): Framing | undefined {
  if (frame === undefined) return undefined;
  const marks = (key: string, written: readonly string[]) =>
    written.map((mark, index) =>
      compileMark(['frame', key, ...(written.length > 1 ? [index] : [])], mark, isOfBytes, report),
    );
  if (frame.start !== undefined && frame.end !== undefined) {
    const escapeByte = frame.escape === undefined ? undefined : Number.parseInt(frame.escape, 16);
    if (frame.escape !== undefined && !/^[\da-f]{2}$/i.test(frame.escape))
      report(['frame', 'escape'], `expected two hexadecimal digits, got ${describe(frame.escape)}`);
    return {
      kind: 'enclosed',
      start: marks('start', [frame.start])[0]!,
      end: marks('end', frame.end)[0]!,
      escapeByte,
    };
  }
  if (frame.end !== undefined) {
    const ends = marks('end', frame.end);
    const prompts = marks('prompt', frame.prompt ?? []);
    return { kind: 'end', ends, sendEnd: ends[0]!, isBlock: frame.block === true, prompts };
  }
  if (frame.bytes !== undefined) return { kind: 'bytes', bytes: frame.bytes };
  if (frame.length !== undefined) {
    const { at, bytes, endian, adds = 0 } = frame.length;
    return { kind: 'length', at, bytes, isLittle: endian === 'little', adds };
  }
  if (frame.lengthBy !== undefined) return compileLengthBy(frame.lengthBy, report);
  return { kind: 'idle', idleMs: frame.idle! };
}

function compileLengthBy(
  { at = 0, lengths, running }: NonNullable<DescribedFrame['lengthBy']>,
  report: Report,
): Framing {
  const path = ['frame', 'lengthBy'];
  const ranges: { readonly low: number; readonly high: number; readonly rule: LengthRule }[] = [];
  if (running === true && at > 0) report([...path, 'at'], `expected 0 with \`running\`, got ${at}`);
  for (const [written, length] of Object.entries(lengths)) {
    const here = [...path, 'lengths', written];
    const [, first, last = first] = /^([\da-f]{2})(?:\.\.([\da-f]{2}))?$/i.exec(written) ?? [];
    const [low, high] = [Number.parseInt(first ?? '', 16), Number.parseInt(last ?? '', 16)];
    if (low > high)
      report(here, `expected the lower byte of the range first, got "${written}": write ${last}..${first}`);
    else if (!(low <= high))
      report(here, `expected a byte or a range in hexadecimal digits, such as 90 or 80..8F, got "${written}"`);
    else if (running === true && low < 0x80)
      report(here, `expected bytes from 80 upwards with \`running\`, got "${written}"`);
    if (typeof length === 'string' && !/^[\da-f]{2}$/i.test(length))
      report(here, `expected a length, or the byte that ends the frame in hexadecimal digits, got ${describe(length)}`);
    if (typeof length === 'number' && length <= at)
      report(here, `expected a length greater than \`at\` (${at}), got ${length}`);
    const rule = typeof length === 'number' ? length : { end: Number.parseInt(length, 16) };
    ranges.push({ low, high, rule });
  }
  const rules: (LengthRule | undefined)[] = [];
  for (const { low, high, rule } of ranges.sort((a, b) => a.high - a.low - (b.high - b.low))) // narrow ranges first
    for (let byte = low; byte <= high; byte++) rules[byte] ??= rule;
  return { kind: 'lengthBy', at, rules, isRunning: running === true };
}

/** Returns the bytes of a mark that begins or ends a frame. */
function compileMark(path: SettingPath, written: string, isOfBytes: boolean, report: Report): Buffer {
  if (!isOfBytes) return Buffer.from(written);
  const digits = written.replaceAll(/\s/g, '');
  if (digits.length % 2 !== 0 || !/^[\da-f]+$/i.test(digits))
    report(path, `expected pairs of hexadecimal digits, got ${describe(written)}`);
  return Buffer.from(digits, 'hex');
}
