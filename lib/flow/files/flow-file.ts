// A flow file as it was read: what it says, not yet checked, and where in the file it says so.

import type { SettingPath } from '../../json5/mistake.ts';
import type { Position } from '../../json5/positions.ts';

/** One flow file. `name` is the path as given, `folder` is the folder that its relative paths start from. */
export interface FlowFile {
  readonly name: string;
  readonly folder: string;
  readonly data: unknown;
  /** Names the content of the file. */
  readonly version?: string;
  /** Where a path is; with an offset, where that character of the text is that stands there. */
  positionOf(path: SettingPath, offset?: number): Position | undefined;
}
