// Schedule: the entries of schedules in a week, as a grid of days and hours, with their next times and a form for changing them. Times are
// in the schedule's time zone.

import { createMemo, createSignal, For, Index, lazy, Show } from 'solid-js';
import type { ScheduleEntry, ScheduleList } from '../../wire/http/schedule-shapes.ts';
import { mayEdit } from '../hub/me.ts';
import { usePolled } from '../hub/polled.ts';
import { locale, t } from '../language/language.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { useNow } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { Fault, isSought, Search } from '../parts/view-bar.tsx';
import type { Times } from './entry-form.tsx';
import { dayMinutes, dayNames, momentText, nextText, placeOf, writeTime } from './week.ts';

const EntryForm = lazy(() => import('./entry-form.tsx'));

type Schedule = ScheduleList['schedules'][number];

const everyMs = 5000;
/** The maximum number of lanes per day; more lanes would be too thin to read. */
const mostLanes = 8;
const stepMinutes = 15;
const dates = new Intl.DateTimeFormat(locale, { day: '2-digit', month: '2-digit', timeZone: 'UTC' });
const hours = [0, 3, 6, 9, 12, 15, 18, 21, 24];

const nameOf = ({ address, label }: ScheduleEntry) => label ?? address.slice(address.indexOf('/') + 1);

export default function Schedules() {
  const week = () => Number(route().params.week ?? 0) || 0;
  const { data, error, refresh } = usePolled<ScheduleList>(() => `/hub/schedules?week=${week()}`, 'address', everyMs);
  const schedules = () => (Array.isArray(data()?.schedules) ? data()!.schedules.filter(Boolean) : []);
  const chosen = () => route().params.entry;
  const goTo = (weeks: number) => setParams({ week: weeks === 0 ? undefined : String(weeks) });
  const [times, setTimes] = createSignal<Times>();
  const choose = (entry: string | undefined) => {
    if (entry !== undefined && entry === chosen() && route().params.add === undefined) return;
    setTimes(undefined);
    setParams({ entry, add: undefined });
  };
  return (
    <>
      <div class="bar">
        <h1>{t('Schedule')}</h1>
        <span class="together">
          <button type="button" aria-label={t('Previous week')} onClick={() => goTo(week() - 1)}>
            ‹
          </button>
          <button type="button" aria-pressed={week() === 0} onClick={() => goTo(0)}>
            {t('This week')}
          </button>
          <button type="button" aria-label={t('Next week')} onClick={() => goTo(week() + 1)}>
            ›
          </button>
        </span>
        <Search label={t('Search entries')} placeholder={t('Search by name')} />
      </div>
      <Fault text={error()} />
      <div class="beside">
        <div class="scroll schedules" tabIndex={-1}>
          <Show when={data() && schedules().length === 0}>
            <p class="note">
              {t(
                'This hub has no schedules that you may see. The entries of a schedule connection open and close at set times.',
              )}
            </p>
          </Show>
          <GuardedFor each={schedules()}>
            {(schedule) => (
              <Week
                schedule={schedule}
                chosen={chosen()}
                choose={choose}
                times={times()}
                drag={(dragged) => setTimes(dragged)}
              />
            )}
          </GuardedFor>
        </div>
        <Show when={mayEdit() && (route().params.add ?? chosen())} keyed>
          {(address) => (
            <EntryForm
              address={address}
              isNew={route().params.add !== undefined}
              times={times()}
              setTimes={setTimes}
              saved={(entry) => {
                refresh();
                choose(entry);
              }}
              close={() => choose(undefined)}
            />
          )}
        </Show>
      </div>
    </>
  );
}

interface WeekProps {
  readonly schedule: Schedule;
  readonly chosen: string | undefined;
  choose(entry: string | undefined): void;
  /** The times of the chosen entry as entered in the form but not saved yet; undefined if no entry is being changed. */
  readonly times: Times | undefined;
  drag(times: Times): void;
}

function Week(props: WeekProps) {
  const now = useNow();
  const { connection } = props.schedule;
  const zone = () => props.schedule.zone;
  const found = createMemo(() => props.schedule.entries.filter((one) => isSought(nameOf(one), one.address)));
  /** The entries that are drawn, which always include the chosen entry. */
  const drawn = createMemo(() => {
    const first = found().slice(0, mostLanes);
    const chosen = found().find(({ address }) => address === props.chosen);
    return chosen === undefined || first.includes(chosen) ? first : [...first.slice(0, -1), chosen];
  });
  const colourOf = (address: string) => found().findIndex((one) => one.address === address) % 6;
  const present = () => placeOf(now(), zone());
  return (
    <section class="week panel" aria-label={connection}>
      <h2>
        {connection} <small>{t('times in {1}', zone())}</small>
        <Show when={mayEdit()}>
          <a class="button" href={linkTo('schedule', { add: `${connection}/` })}>
            {t('+ Entry')}
          </a>
        </Show>
      </h2>
      <ul class="entries">
        <GuardedFor each={found()} as="li">
          {(entry) => (
            <li>
              <button
                type="button"
                class="entry-state"
                data-entry={entry.address}
                data-colour={colourOf(entry.address)}
                aria-pressed={props.chosen === entry.address}
                onClick={() => props.choose(props.chosen === entry.address ? undefined : entry.address)}
              >
                <strong class="truncate" title={nameOf(entry)}>
                  {nameOf(entry)}
                </strong>{' '}
                <span>{nextText(entry, zone(), now())}</span>
              </button>
            </li>
          )}
        </GuardedFor>
      </ul>
      <Show when={found().length > drawn().length}>
        <p class="muted">
          {t(
            'The week shows the first {1} of {2} entries: search for another entry, or choose one from the list.',
            mostLanes,
            found().length,
          )}
        </p>
      </Show>
      <div class="week-grid" aria-hidden="true" style={{ '--lanes': Math.max(1, drawn().length) }}>
        <div class="hours">
          <For each={hours}>{(hour) => <i style={{ left: `${(hour / 24) * 100}%` }}>{hour}</i>}</For>
        </div>
        <For each={props.schedule.days}>
          {(date, day) => (
            <>
              <div class="day-name" classList={{ today: date === present().date }}>
                {dayNames[day()]} <small>{dates.format(Date.parse(date))}</small>
              </div>
              <div class="day-track" classList={{ today: date === present().date }}>
                <For each={drawn()}>
                  {(entry, lane) => (
                    <Lane
                      entry={entry}
                      day={day()}
                      lane={lane()}
                      colour={colourOf(entry.address)}
                      isChosen={props.chosen === entry.address}
                      times={props.chosen === entry.address ? props.times : undefined}
                      choose={() => props.choose(entry.address)}
                      drag={props.drag}
                    />
                  )}
                </For>
                <Show when={date === present().date}>
                  <i class="now-line" style={{ left: `${(present().at / dayMinutes) * 100}%` }} />
                </Show>
              </div>
            </>
          )}
        </For>
      </div>
      <Show when={props.schedule.entries.find(({ address }) => address === props.chosen)}>
        {(entry) => (
          <div class="next-times">
            <h3>{t('Next')}</h3>
            <ol>
              <For each={entry().next} fallback={<li>{t('Nothing changes in the next week.')}</li>}>
                {({ time, open }) => (
                  <li>
                    <time datetime={time}>{momentText(Date.parse(time), zone(), now())}</time>{' '}
                    {t(open === undefined ? 'fires' : open ? 'opens' : 'closes')}
                  </li>
                )}
              </For>
            </ol>
          </div>
        )}
      </Show>
    </section>
  );
}

interface LaneProps {
  readonly entry: ScheduleEntry;
  readonly day: number;
  readonly lane: number;
  readonly colour: number;
  readonly isChosen: boolean;
  readonly times: Times | undefined;
  choose(): void;
  drag(times: Times): void;
}

/**
 * Shows an entry on a day. The user can drag the bars of the chosen entry by their ends or as a whole, or change them in the form by
 * keyboard.
 */
function Lane(props: LaneProps) {
  const bars = () => {
    const { except, bars: saved = [] } = props.entry;
    const changed = props.times?.bars.filter(({ day, begins = day }) => !except.includes(begins));
    return (changed ?? saved).filter(({ day }) => day === props.day);
  };
  const isExcepted = () => props.entry.except.includes(props.day);
  const name = () => nameOf(props.entry);
  const left = (minutes: number) => `${(minutes / dayMinutes) * 100}%`;
  return (
    <div
      class="lane"
      data-colour={props.colour}
      classList={{ chosen: props.isChosen }}
      style={{ '--lane': props.lane }}
    >
      <Index each={bars()}>
        {(bar) => (
          <div
            class="time-bar"
            style={{ left: left(bar().from), width: left(bar().to - bar().from) }}
            title={`${name()}: ${t('{1} to {2}', writeTime(bar().from), writeTime(bar().to))}`}
            onClick={() => props.choose()}
            onPointerDown={(event) => startDrag(event, props)}
          >
            <span class="truncate">
              {writeTime(bar().from)} – {writeTime(bar().to)}
            </span>
          </div>
        )}
      </Index>
      <For each={props.entry.fires?.filter(({ day }) => day === props.day)}>
        {({ at }) => (
          <div
            class="fire-mark"
            style={{ left: left(at) }}
            title={`${name()}: ${writeTime(at)}`}
            onClick={() => props.choose()}
          />
        )}
      </For>
      <Show when={isExcepted()}>
        <span class="excepted" title={`${name()}: ${t('excluded')}`}>
          {t('excluded')}
        </span>
      </Show>
    </div>
  );
}

/** The distance from the end of a bar, in pixels, within which dragging moves only that end. */
const endPx = 10;

function startDrag(event: PointerEvent, { times, drag }: LaneProps): void {
  if (times === undefined || event.button !== 0) return;
  const bar = event.currentTarget as HTMLElement;
  const track = bar.closest('.day-track')!.getBoundingClientRect();
  const box = bar.getBoundingClientRect();
  const from = event.clientX - box.left < endPx;
  const to = box.right - event.clientX < endPx;
  const signal = new AbortController();
  const options = { signal: signal.signal };
  bar.setPointerCapture(event.pointerId);
  event.preventDefault();
  window.addEventListener(
    'pointermove',
    ({ clientX }) => {
      const minutes = Math.round((((clientX - event.clientX) / track.width) * dayMinutes) / stepMinutes) * stepMinutes;
      drag(times.moved(to && !from ? 0 : minutes, from && !to ? 0 : minutes));
    },
    options,
  );
  for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, () => signal.abort(), options);
}
