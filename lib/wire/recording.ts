// A recording: what came from outside of a hub, a line each. A line is the checksum of what follows, a space, and JSON, so that whoever
// reads it can tell the line that was damaged. `GET /hub/record` sends it, `patchbay record` keeps it in a file.

import type { Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';

/** The first line: when it began, and how many lines of values follow. */
export interface RecordingStart {
  readonly recording: 1;
  readonly hub: string;
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly values: number;
}

/** What a parameter was when it began. */
export interface RecordedValue {
  readonly p: string;
  readonly v: Value;
}

/** One turn: what was written, and by whom. None: nothing came so far. */
export interface RecordedTurn {
  /** Milliseconds since it began. */
  readonly t: number;
  readonly w: readonly (readonly [address: string, value: Value, kind: Origin['kind'], name: string])[];
}

export type RecordingLine = RecordingStart | RecordedValue | RecordedTurn;

export function encodeLine(line: RecordingLine): string {
  const text = JSON.stringify(line);
  return `${checksum(text)} ${text}\n`;
}

/** undefined: the line is not as it was written. */
export function decodeLine(line: string): RecordingLine | undefined {
  const [sum, text] = [line.slice(0, 8), line.slice(9)];
  if (line[8] !== ' ' || checksum(text) !== sum) return undefined;
  return JSON.parse(text) as RecordingLine;
}

/** FNV-1a over its UTF-16 units, in hexadecimal: it is there to find damage, and hides nothing. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
