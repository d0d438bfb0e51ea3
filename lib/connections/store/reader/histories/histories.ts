// Answers a question for the history of one parameter or of several.

import { unknownName } from '../../../../json5/nearest-name.ts';
import { HubError } from '../../../../model/error.ts';
import type { ValueType } from '../../../../model/value.ts';
import type { History, HistoryList } from '../../../../wire/http/past/history.ts';
import type { AskedParameter, HistoryQuestion } from '../../../archive.ts';
import type { Moment } from '../past.ts';
import type { PastDatabase, Series } from '../past-database.ts';
import type { Course, HistoryRange } from '../range.ts';
import { createSight, type Sees } from '../sight.ts';
import { csvOf } from './csv.ts';
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

/** The text of the answer. Errors: `unknown-parameter` with the nearest address, `unavailable` when it takes too long. */
export function answerHistories(moment: Moment, question: HistoryQuestion): string {
  const { parameters, list, format } = question;
  if (list === undefined) {
    const history = historyOf(moment, parameters[0]!, question);
    if (history === undefined)
      throw unknownParameter(moment.database, parameters[0]!.address, createSight(question.sight));
    return format === 'csv' ? csvOf([history]) : `${JSON.stringify(history)}\n`;
  }
  const histories: History[] = [];
  let hasMore = list.hasMore;
  for (const parameter of parameters) {
    if (moment.deadline.isOver && histories.length > 0) {
      hasMore = true;
      break;
    }
    const history = historyOf(moment, parameter, question);
    if (history !== undefined) histories.push(history);
  }
  const answer: HistoryList = { histories, ...(hasMore && { more: true }) };
  return format === 'csv' ? csvOf(histories) : `${JSON.stringify(answer)}\n`;
}

/** Names the nearest address that may be seen. */
export function unknownParameter(database: PastDatabase, address: string, sees: Sees): HubError {
  const known = [...database.addresses()].filter(sees);
  return new HubError(
    'unknown-parameter',
    `${unknownName('parameter', address, known)}: neither the hub nor its history knows it`,
  );
}

function historyOf(moment: Moment, parameter: AskedParameter, range: HistoryRange): History | undefined {
  const { address } = parameter;
  if (parameter.isHidden) return undefined;
  const series = moment.database.find(address, parameter.type);
  const type = series?.type ?? parameter.type;
  if (type === undefined) return undefined;
  const { from, to } = range;
  const course = series === undefined ? empty[type] : courses[type](moment, series, range);
  return { address, type, from, to, ...course, gaps: moment.gaps.within(from, to) };
}
