// Warns about a small number given as a duration: a number without a unit is in milliseconds, but may be meant in seconds. A duration with
// a unit causes no warning.

import { isJsonObject } from '../../model/json-object.ts';
import type { SourceLocation } from './source-location.ts';

/** The largest number without a unit that is likely to be meant in seconds or minutes. */
const mostSeconds = 60;
/** The largest suspicious number in steps that thin out values, for which a few milliseconds are common. */
const mostThinning = 10;

const steps: ReadonlyMap<string, number> = new Map([
  ['delay', mostSeconds],
  ['onDelay', mostSeconds],
  ['offDelay', mostSeconds],
  ['debounceTime', mostThinning],
  ['throttleTime', mostThinning],
  ['auditTime', mostThinning],
  ['sampleTime', mostThinning],
]);

/** Warns about a small duration without a unit in a step. */
export function warnOfSmallStep(location: SourceLocation, step: string, setting: unknown): void {
  const most = steps.get(step);
  if (most === undefined) return;
  if (isJsonObject(setting)) warnOf(location.at('duration'), setting.duration, most);
  else warnOf(location, setting, most);
}

/**
 * Warns about small durations without a unit in a connection's settings, as written in the file. `names` lists the settings that are
 * durations.
 */
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
