// Answers a question for the events of a parameter: what happened, who did it, and what led to it.

import type { Origin } from '../../../model/parameter.ts';
import type { EventList, HistoryCause, HistoryEvent } from '../../../wire/http/events.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { EventsQuestion } from '../../archive.ts';
import { unknownParameter } from './histories.ts';
import { heldBefore, type Moment } from './past.ts';
import { type EventRow, type PastDatabase, type Series, toValue } from './past-database.ts';

/** A chain of causes is followed for so many links. */
export const maxLinks = 20;

/** The text of the answer. Errors: `unknown-parameter` with the nearest address, `unavailable` when it takes too long. */
export function answerEvents(moment: Moment, question: EventsQuestion): string {
  const { parameter, limit } = question;
  const { address } = parameter;
  const series = moment.database.find(address, parameter.type);
  const type = series?.type ?? parameter.type;
  if (type === undefined) throw unknownParameter(moment.database, address);
  const rows = series === undefined ? [] : eventsBefore(moment, series, question);
  const told = rows.slice(0, limit);
  const names = new Names(moment.database);
  const events = told.map((row, index) => {
    moment.deadline.check();
    const older = rows[index + 1];
    const isKnown = older !== undefined && !moment.gaps.wasDown(older[0], row[0]);
    const previous = older === undefined ? heldBefore(moment, series!, row[0])?.value : isKnown ? older[1] : undefined;
    return eventOf(names, series!, row, previous);
  });
  const [time, , revision] = told.at(-1) ?? [];
  const next = rows.length > limit ? `${time}-${revision}` : undefined;
  return `${JSON.stringify({ address, type, events, next } satisfies EventList)}\n`;
}

/** Newest first, one more than is asked for if there is one. */
function eventsBefore({ database, deadline }: Moment, series: Series, question: EventsQuestion): EventRow[] {
  const { from, to, limit, before } = question;
  const afterAll = { time: to + 1, revision: -1 };
  const end = before !== undefined && before.time <= to ? before : afterAll;
  const found: EventRow[] = [];
  for (const hour of database.changedHours(series, from, end.time + 1).reverse()) {
    if (found.length > limit) break;
    deadline.check();
    found.push(...database.events(series, hour, from, end, limit + 1 - found.length));
  }
  return found;
}

function eventOf(names: Names, series: Series, row: EventRow, previous: EventRow[1] | undefined): HistoryEvent {
  const [time, value, , writer, source] = row;
  const isState = series.type !== 'T';
  return {
    time: toIsoTime(time),
    value: toValue(series.type, value),
    ...(isState && previous !== undefined && { previous: toValue(series.type, previous) }),
    writer: names.writer(writer),
    source: names.writer(source),
    chain: chainOf(names, row),
  };
}

function chainOf(names: Names, event: EventRow): HistoryCause[] {
  const chain: HistoryCause[] = [];
  let [, , , , , parameter, time, revision] = event;
  while (chain.length < maxLinks && parameter !== null && time !== null && revision !== null) {
    const cause = names.database.event(parameter, time, revision);
    const series = names.parameter(parameter);
    if (cause === undefined || series === undefined) break;
    const [, value, , writer] = cause;
    const causedBy = toValue(series.type, value);
    const { address, type } = series;
    chain.push({ parameter: address, type, value: causedBy, time: toIsoTime(time), writer: names.writer(writer) });
    [, , , , , parameter, time, revision] = cause;
  }
  return chain;
}

/** The names of writers and parameters, each read once for an answer. */
class Names {
  readonly database: PastDatabase;
  readonly #writers = new Map<number, Origin>();
  readonly #parameters = new Map<number, Series | undefined>();

  constructor(database: PastDatabase) {
    this.database = database;
  }

  writer(id: number): Origin {
    let writer = this.#writers.get(id);
    if (writer === undefined) {
      writer = this.database.writer(id) ?? { kind: 'client', name: 'unknown' };
      this.#writers.set(id, writer);
    }
    return writer;
  }

  parameter(id: number): Series | undefined {
    if (!this.#parameters.has(id)) this.#parameters.set(id, this.database.parameter(id));
    return this.#parameters.get(id);
  }
}
