// Asks whether a small number that stands for a duration is meant in seconds: without a unit it is milliseconds. With its unit
// nothing is said of it.

import { isJsonObject } from '../../model/json-object.ts';
import type { SourceLocation } from './source-location.ts';

/** Numbers that people write for seconds, and minutes. */
const mostSeconds = 60;
/** Steps that thin out what comes are often as short as that. */
const mostThinning = 10;

const steps: ReadonlyMap<string, number> = new Map([
  ['delay', mostSeconds],
  ['debounceTime', mostThinning],
  ['throttleTime', mostThinning],
  ['auditTime', mostThinning],
  ['sampleTime', mostThinning],
]);

/** Warns about the setting of a step. */
export function warnOfSmallStep(location: SourceLocation, step: string, setting: unknown): void {
  const most = steps.get(step);
  if (most === undefined) return;
  if (isJsonObject(setting)) warnOf(location.at('duration'), setting.duration, most);
  else warnOf(location, setting, most);
}

/** Warns about the settings of a connection, as its file has them; `names` are those that are durations. */
export function warnOfSmallSettings(location: SourceLocation, data: unknown, names: readonly string[]): void {
  if (typeof data !== 'object' || data === null) return;
  for (const [key, item] of Object.entries(data)) {
    const part = Array.isArray(data) ? Number(key) : key;
    if (typeof item === 'object') {
      if (Array.isArray(item) && names.includes(key))
        item.forEach((one, index) => void warnOf(location.at(part, index), one, mostSeconds));
      warnOfSmallSettings(location.at(part), item, names);
    } else if (names.includes(key)) warnOf(location.at(part), item, mostSeconds);
  }
}

function warnOf(location: SourceLocation, duration: unknown, most: number): void {
  if (typeof duration !== 'number' || !Number.isInteger(duration) || duration < 1 || duration > most) return;
  location.warn(
    `expected a duration with its unit, '${duration}s' or '${duration}ms': ${duration} alone is ${duration} ms`,
  );
}
