// The history of a number or a boolean: as it was where that is few enough points, else in buckets.

import { heldBefore, type Moment } from '../past.ts';
import type { Series } from '../past-database.ts';
import type { Course, HistoryRange } from '../range.ts';
import { Buckets } from './buckets.ts';
import { chooseStep, completeTables, countAtLeast, tell } from './sources.ts';
import { stateCourse } from './states.ts';
import { floorTo } from './steps.ts';

export function numberCourse(moment: Moment, series: Series, range: HistoryRange): Course {
  const complete = completeTables(moment, series, range);
  const isFew = complete.has('change') && countAtLeast(moment, series, range) <= range.points;
  const states = isFew ? stateCourse(moment, series, range) : undefined;
  if (states !== undefined) return states;
  const stepMs = chooseStep(moment, series, range, range.points, complete);
  const from = floorTo(stepMs, range.from);
  const to = Math.min(floorTo(stepMs, range.to) + stepMs, Math.max(from, moment.until));
  const gaps = moment.gaps.within(from, to);
  const held = heldBefore(moment, series, from)?.value as number | undefined;
  const buckets = new Buckets(from, to, stepMs, gaps, held);
  tell(moment, series, { from, to }, stepMs, complete, buckets);
  buckets.holdUntil(to);
  return { kind: 'buckets', stepMs, ...buckets.columns() };
}
