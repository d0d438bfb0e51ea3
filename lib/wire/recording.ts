// A recording: all input of a hub from outside, one item per line. A line is the checksum of the rest, a space, and JSON, so that a reader
// detects damaged lines. `GET /hub/record` sends it, `patchbay record` saves it in a file.

import type { Origin } from '../model/parameter.ts';
import type { DeviceEvent } from '../model/reports/audit-entry.ts';
import type { Value } from '../model/value.ts';

/** The first line: the start of the recording, and the number of lines of values that follow. */
export interface RecordingStart {
  readonly recording: 1;
  readonly hub: string;
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly values: number;
}

/** The value of a parameter at the start. */
export interface RecordedValue {
  readonly p: string;
  readonly v: Value;
}

/** One turn: the writes and their writers. Without writes: no event has arrived so far. */
export interface RecordedTurn {
  /** Milliseconds since the start. */
  readonly t: number;
  readonly w: readonly (readonly [address: string, value: Value, kind: Origin['kind'], name: string])[];
  /** Events of devices other than values: `["stale","router"]`, `["refused","router/out/1"]`. */
  readonly d?: readonly DeviceEvent[] | undefined;
}

export type RecordingLine = RecordingStart | RecordedValue | RecordedTurn;

export function encodeLine(line: RecordingLine): string {
  const text = JSON.stringify(line);
  return `${checksum(text)} ${text}\n`;
}

/** Returns undefined for a damaged line. */
export function decodeLine(line: string): RecordingLine | undefined {
  const [sum, text] = [line.slice(0, 8), line.slice(9)];
  if (line[8] !== ' ' || checksum(text) !== sum) return undefined;
  return JSON.parse(text) as RecordingLine;
}

/** Returns FNV-1a over the UTF-16 units, in hexadecimal: it detects damage, but does not protect against manipulation. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
