// A recording: all input to a hub from outside, one item per line. A line consists of a checksum of the rest, a space, and JSON, so that a
// reader detects damaged lines. `GET /hub/record` sends a recording, and `patchbay record` saves it to a file.

import type { Origin } from '../model/parameter.ts';
import type { DeviceEvent } from '../model/reports/audit-entry.ts';
import type { Value } from '../model/value.ts';

/** The first line of a recording: its start, and the number of the following lines with values. */
export interface RecordingStart {
  readonly recording: 1;
  readonly hub: string;
  /** The time of the start, in milliseconds since 1970. */
  readonly time: number;
  readonly values: number;
}

/** A line with the value of a parameter at the start of the recording. */
export interface RecordedValue {
  readonly p: string;
  readonly v: Value;
}

/** A line for one turn: the writes and their writers. A line without writes shows that no event had arrived by its time. */
export interface RecordedTurn {
  /** The time since the start of the recording, in milliseconds. */
  readonly t: number;
  readonly w: readonly (readonly [address: string, value: Value, kind: Origin['kind'], name: string])[];
  /** The events of devices other than values: `["stale","router"]`, `["refused","router/out/1"]`. */
  readonly d?: readonly DeviceEvent[] | undefined;
}

export type RecordingLine = RecordingStart | RecordedValue | RecordedTurn;

export function encodeLine(line: RecordingLine): string {
  const text = JSON.stringify(line);
  return `${checksum(text)} ${text}\n`;
}

/** Decodes a line of a recording. Returns undefined if the line is damaged. */
export function decodeLine(line: string): RecordingLine | undefined {
  const [sum, text] = [line.slice(0, 8), line.slice(9)];
  if (line[8] !== ' ' || checksum(text) !== sum) return undefined;
  return JSON.parse(text) as RecordingLine;
}

/**
 * Returns the FNV-1a hash of the UTF-16 code units of a string, as eight hexadecimal digits. The hash detects damage but does not protect
 * against manipulation.
 */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
