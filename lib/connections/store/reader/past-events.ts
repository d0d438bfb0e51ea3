// Answers a query for a parameter's events: each change with its writer and its causes.
import type { Origin } from '../../../model/parameter.ts';
import { originWithoutRule, something } from '../../../wire/http/hidden.ts';
import type { EventList, HistoryCause, HistoryEvent } from '../../../wire/http/past-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { EventsQuestion } from '../../persistence.ts';
import type { EventRow, Stored } from '../history/blocks.ts';
import { hourMs } from '../history/history-tables.ts';
import { floorTo } from './histories/gaps.ts';
import { unknownParameter } from './histories/histories.ts';
import { type PastDatabase, type Series, toValue } from './past-database.ts';
import { createSight, heldBefore, heldIn, type Moment, type Sees } from './past-moment.ts';

/** The maximum number of links in a chain of causes. */
const maxLinks = 20;

/**
 * Returns the answer to a query for events as JSON. Errors: `unknown-parameter`, which suggests the most similar address; `unavailable` if
 * the query takes too long.
 */
export function answerEvents(moment: Moment, question: EventsQuestion): string {
  const { parameter, limit } = question;
  const { address } = parameter;
  const sees = createSight(question.sight);
  const series = parameter.isHidden ? undefined : moment.database.find(address, parameter.type);
  const type = series?.type ?? parameter.type;
  if (parameter.isHidden || type === undefined) throw unknownParameter(moment.database, address, sees);
  const rows = series === undefined ? [] : eventsBefore(moment, series, question);
  const shown = rows.slice(0, limit);
  const names = new Names(moment.database, sees, question.sight === undefined);
  const events = shown.map((row, index) => {
    moment.deadline.check();
    return eventOf(names, series!, row, previousOf(moment, series!, row, rows[index + 1]));
  });
  const [time, , revision] = shown.at(-1) ?? [];
  const next = rows.length > limit ? `${time}-${revision}` : undefined;
  return `${JSON.stringify({ address, type, events, next } satisfies EventList)}\n`;
}

/** Returns the events that a query asks for, newest first: one more than the limit if there are more. */
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

/**
 * Returns the value that a change replaced; undefined if unknown. It is the value recorded before the change, even if the clock jumped.
 * `older` is the previous change in chronological order.
 */
function previousOf(
  moment: Moment,
  series: Series,
  [time, , revision]: EventRow,
  older: EventRow | undefined,
): Stored | undefined {
  const { database, gaps, segments } = moment;
  if (segments.isOrdered)
    return older === undefined
      ? heldBefore(moment, series, time)?.value
      : gaps.wasDown(older[0], time)
        ? undefined
        : older[1];
  const segment = segments.of(revision);
  const hour = floorTo(hourMs, time);
  const [same] = database.events(series, hour, Math.max(hour, segment.from), { time, revision }, 1, segment);
  if (same !== undefined && same[0] === time) return same[1];
  return heldIn(moment, series, segment, time)?.value;
}

function eventOf(names: Names, series: Series, row: EventRow, previous: EventRow[1] | undefined): HistoryEvent {
  const [time, value, , writer] = row;
  const isState = series.type !== 'T';
  return {
    time: toIsoTime(time),
    value: toValue(series.type, value),
    ...(isState && previous !== undefined && { previous: toValue(series.type, previous) }),
    writer: names.writer(writer),
    ...causesOf(names, row),
  };
}

/**
 * Returns the source and the chain of causes of an event. The source is hidden if the reader may not see the change that started the chain.
 */
function causesOf(names: Names, event: EventRow): Pick<HistoryEvent, 'source' | 'chain'> {
  const { chain, isWhole } = chainOf(names, event);
  const isSourceSeen = names.seesAll || (isWhole && chain.at(-1)?.parameter !== something);
  return { source: isSourceSeen ? names.writer(event[4]) : hiddenWriter, chain };
}

const hiddenWriter: Origin = { kind: 'connection', name: something };

function chainOf(names: Names, event: EventRow): { chain: HistoryCause[]; isWhole: boolean } {
  const chain: HistoryCause[] = [];
  let shown = toIsoTime(event[0]);
  let [, , , , , parameter, time, revision] = event;
  for (let links = 0; links < maxLinks && parameter !== null && time !== null && revision !== null; links++) {
    const series = names.parameter(parameter);
    const cause = series && names.database.event(series, time, revision);
    if (cause === undefined || series === undefined) break;
    const [, value, , writer] = cause;
    const causedBy = toValue(series.type, value);
    const { address, type } = series;
    if (names.sees(address)) {
      shown = toIsoTime(time);
      chain.push({ parameter: address, type, value: causedBy, time: shown, writer: names.writer(writer) });
    } else if (chain.at(-1)?.parameter !== something)
      chain.push({ parameter: something, type: 'T', value: 1, time: shown, writer: hiddenWriter });
    [, , , , , parameter, time, revision] = cause;
  }
  return { chain, isWhole: parameter === null };
}

/** The names of writers and parameters as the reader may see them. Each name is read only once per answer. */
class Names {
  readonly database: PastDatabase;
  readonly sees: Sees;
  readonly seesAll: boolean;
  readonly #writers = new Map<number, Origin>();
  readonly #parameters = new Map<number, Series | undefined>();

  constructor(database: PastDatabase, sees: Sees, seesAll: boolean) {
    this.database = database;
    this.sees = sees;
    this.seesAll = seesAll;
  }

  writer(id: number): Origin {
    let writer = this.#writers.get(id);
    if (writer === undefined) {
      const known = this.database.writer(id) ?? { kind: 'client', name: 'unknown' };
      writer = this.seesAll ? known : originWithoutRule(known);
      this.#writers.set(id, writer);
    }
    return writer;
  }

  parameter(id: number): Series | undefined {
    if (!this.#parameters.has(id)) this.#parameters.set(id, this.database.parameter(id));
    return this.#parameters.get(id);
  }
}
