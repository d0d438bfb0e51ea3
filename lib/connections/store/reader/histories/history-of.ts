// The history of one parameter, whatever its type is.

import type { ValueType } from '../../../../model/value.ts';
import type { History } from '../../../../wire/http/past/history.ts';
import type { AskedParameter } from '../../../archive.ts';
import type { Moment } from '../past.ts';
import type { Series } from '../past-database.ts';
import type { Course, HistoryRange } from '../range.ts';
import { fireCourse } from './fires.ts';
import { numberCourse } from './numbers.ts';
import { textCourse } from './states.ts';

type CourseOf = (moment: Moment, series: Series, range: HistoryRange) => Course;

const courses: Readonly<Record<ValueType, CourseOf>> = {
  B: numberCourse,
  I: numberCourse,
  F: numberCourse,
  S: textCourse,
  T: fireCourse,
};

/** What there is of a parameter that has no records. */
const empty: Readonly<Record<ValueType, Course>> = {
  B: { kind: 'intervals', times: [], values: [] },
  I: { kind: 'raw', times: [], values: [] },
  F: { kind: 'raw', times: [], values: [] },
  S: { kind: 'texts', times: [], values: [] },
  T: { kind: 'fires', times: [] },
};

/** undefined: nobody knows it, or whoever asks may not see it. Errors: those of SQLite, `unavailable` when it takes too long. */
export function historyOf(moment: Moment, parameter: AskedParameter, range: HistoryRange): History | undefined {
  const { address } = parameter;
  if (parameter.isHidden) return undefined;
  const series = moment.database.find(address, parameter.type);
  const type = series?.type ?? parameter.type;
  if (type === undefined) return undefined;
  const { from, to } = range;
  const course = series === undefined ? empty[type] : courses[type](moment, series, range);
  return { address, type, from, to, ...course, gaps: moment.gaps.within(from, to) };
}
