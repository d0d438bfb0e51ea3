// A recording: all input to a hub from outside, one item per line. A line consists of a checksum of the rest, a space, and JSON, so that a
// reader detects damaged lines. `GET /hub/record` sends a recording, and `patchbay record` saves it to a file.

import type { Origin } from '../model/parameter.ts';
import type { DeviceEvent } from '../model/reports/audit-entry.ts';
import type { Value } from '../model/value.ts';

/** The first line: the start of the recording, and the number of subsequent lines with values. */
export interface RecordingStart {
  readonly recording: 1;
  readonly hub: string;
  /** The time in milliseconds since 1970. */
  readonly time: number;
  readonly values: number;
}

/** The value of a parameter at the start. */
export interface RecordedValue {
  readonly p: string;
  readonly v: Value;
}

/** One turn: the writes and their writers. A turn without writes shows that no event has arrived so far. */
export interface RecordedTurn {
  /** The time in milliseconds since the start. */
  readonly t: number;
  readonly w: readonly (readonly [address: string, value: Value, kind: Origin['kind'], name: string])[];
  /** Device events other than values: `["stale","router"]`, `["refused","router/out/1"]`. */
  readonly d?: readonly DeviceEvent[] | undefined;
}

export type RecordingLine = RecordingStart | RecordedValue | RecordedTurn;

export function encodeLine(line: RecordingLine): string {
  const text = JSON.stringify(line);
  return `${checksum(text)} ${text}\n`;
}

/** Decodes a line. Returns undefined if the line is damaged. */
export function decodeLine(line: string): RecordingLine | undefined {
  const [sum, text] = [line.slice(0, 8), line.slice(9)];
  if (line[8] !== ' ' || checksum(text) !== sum) return undefined;
  return JSON.parse(text) as RecordingLine;
}

/** Returns the FNV-1a hash of the UTF-16 code units in hexadecimal, which detects damage but does not protect against manipulation. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
