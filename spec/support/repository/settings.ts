// What the README of a connection type says about its settings.

import type { AnyConnectionType } from '../../../lib/connections/connection.ts';
import { commonSettings } from '../../../lib/connections/setting.ts';

/** The settings of a type alone that the text does not name. */
export function unnamedSettings(text: string, { settingsSchema }: AnyConnectionType): string[] {
  return Object.keys(settingsSchema.shape).filter((name) => !(name in commonSettings) && !text.includes(`\`${name}\``));
}
