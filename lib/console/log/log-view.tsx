// Log: the latest entries in the hub's log, live, filtered by level, day, source and text, with repetitions folded; the log can be saved as
// a file.

import { type Accessor, createEffect, createMemo, createSignal, For, on, Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import { isRestart, logLevels } from '../../model/reports/log-entry.ts';
import type { LogEntry, LogPage } from '../../wire/http/operation.ts';
import { getJson } from '../hub/page-request.ts';
import { usePolling } from '../hub/polled.ts';
import { formatCount, t } from '../language/language.ts';
import { route, setParams } from '../page/route.ts';
import { formatClock, formatDate, formatDay } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { Fault, Search, searched } from '../parts/view-bar.tsx';
import {
  append,
  beginsDay,
  dayOf,
  exportText,
  type Filter,
  fold,
  type Held,
  isContinued,
  isShown,
  type LogLine,
  nothingHeld,
  replace,
  restart,
  sourceOf,
} from './entries.ts';

export default function Log() {
  const [isPaused, setPaused] = createSignal(false);
  let list!: HTMLElement;
  let isAtEnd = true;
  const level = () => route().params.level ?? 'info';
  const { lines, error } = useHeldLog(level, isPaused);
  const filter = (): Filter => {
    const { source, day } = route().params;
    return { level: level(), text: searched().toLowerCase(), source, day };
  };
  const found = createMemo(() => lines().filter((line) => isShown(line, filter())));
  const isFolded = () => route().params.repeats === undefined;
  const folded = createMemo(() => (isFolded() ? fold(found()) : { lines: found(), repeats: new Map() }));
  const shown = () => folded().lines;
  const entries = createMemo(() => lines().filter((line) => line !== 'restarted'));
  const sources = createMemo(() => choicesOf(entries().map(sourceOf), route().params.source));
  const days = createMemo(() => choicesOf(entries().map(dayOf), route().params.day));
  const firstOfDay = createMemo(() => beginsDay(shown(), formatDay, formatDay(Date.now())));
  createEffect(on(shown, () => isAtEnd && list.scrollTo(0, list.scrollHeight)));

  return (
    <>
      <div class="bar">
        <h1>{t('Log')}</h1>
        <label>
          <span class="muted">From</span>{' '}
          <select value={level()} onChange={(event) => setParams({ level: event.currentTarget.value })}>
            <For each={logLevels}>{(one) => <option value={one}>{one}</option>}</For>
          </select>
        </label>
        <Choices label="Day" all="all days" name="day" choices={days()} />
        <Choices label="Source" all="all sources" name="source" choices={sources()} />
        <Search label="Search the log" placeholder="Search" />
        <label>
          <input
            type="checkbox"
            checked={isFolded()}
            onChange={({ currentTarget: { checked } }) => setParams({ repeats: checked ? undefined : 'all' })}
          />{' '}
          collapse repeats
        </label>
        <span class="count">{formatCount(found().length)}</span>
        <button type="button" disabled={found().length === 0} onClick={() => save(exportText(found()))}>
          Export
        </button>
        <button type="button" aria-pressed={isPaused()} onClick={() => setPaused(!isPaused())}>
          {isPaused() ? 'Resume' : 'Pause'}
        </button>
      </div>
      <Fault text={error()} />
      <section
        class="scroll log"
        aria-label="Entries"
        tabIndex={0}
        ref={list}
        onScroll={() => {
          isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
        }}
      >
        <GuardedFor each={shown()} fallback={<p class="note">No entries at this level.</p>}>
          {(line) => (
            <>
              <Show when={line !== 'restarted' && firstOfDay().has(line) && line} keyed>
                {(entry) => <p class="day">{formatDay(entry.time)}</p>}
              </Show>
              <Show when={line !== 'restarted' && line} fallback={<p class="restart">The hub was restarted.</p>} keyed>
                {(entry) =>
                  isRestart(entry) ? (
                    <Restart entry={entry} />
                  ) : (
                    <Entry entry={entry} repeated={folded().repeats.get(line)} />
                  )
                }
              </Show>
            </>
          )}
        </GuardedFor>
      </section>
    </>
  );
}

/** Shows the entry that a hub with a store logs about its restart and the end of its previous run. */
function Restart({ entry }: { readonly entry: LogEntry }) {
  return (
    <p class="restart" title={formatDate(entry.time)}>
      {formatClock(entry.time)} {entry.message}
    </p>
  );
}

/** Returns the choices of a filter, without duplicates, including the chosen value. */
function choicesOf(all: readonly string[], chosen: string | undefined): readonly string[] {
  return [...new Set([...all, chosen ?? ''])].filter(Boolean).sort();
}

/** A select element for a filter, whose choice is stored in the URL. */
function Choices(props: {
  readonly label: string;
  readonly all: string;
  readonly name: 'day' | 'source';
  readonly choices: readonly string[];
}) {
  return (
    <select
      class="filter"
      aria-label={props.label}
      value={route().params[props.name] ?? ''}
      onChange={({ currentTarget: { value } }) => setParams({ [props.name]: value || undefined })}
    >
      <option value="">{props.all}</option>
      <For each={props.choices}>
        {(one) => (
          <option value={one} selected={route().params[props.name] === one}>
            {one}
          </option>
        )}
      </For>
    </select>
  );
}

/** Makes the browser save a text as a file. */
function save(text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = `patchbay-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.log`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function Entry(props: {
  readonly entry: LogEntry;
  readonly repeated: { readonly count: number; readonly last: string } | undefined;
}) {
  const { entry } = props;
  return (
    <div class="entry">
      <time datetime={entry.time} title={formatDate(entry.time)}>
        {formatClock(entry.time)}
      </time>
      <StateMark state={entry.level} />
      <span class="source truncate" title={entry.rule ?? entry.connection}>
        {entry.rule ?? entry.connection}
      </span>
      <span class="message">
        {entry.message}
        <Show when={props.repeated}>
          {(repeated) => (
            <small class="repeated" title={formatDate(repeated().last)}>
              {' '}
              {formatCount(repeated().count)} times, until {formatClock(repeated().last)}
            </small>
          )}
        </Show>
      </span>
    </div>
  );
}

// The log that the page holds. It is kept up to date.

const intervalMs = 1000;

export interface HeldLog {
  readonly lines: Accessor<readonly LogLine[]>;
  /** The reason why the last request failed. Empty if the request succeeded. */
  readonly error: Accessor<string>;
}

/**
 * Follows the log until the calling reactive scope is disposed. `debug` entries are requested from the first time that this level is
 * chosen.
 */
export function useHeldLog(level: Accessor<string>, isPaused: Accessor<boolean>): HeldLog {
  const [held, setHeld] = createSignal<Held>(nothingHeld);
  const [error, setError] = createSignal('');
  /** The level that is requested. The page filters the shown entries, even while the log is paused. */
  let read: 'info' | 'debug' = 'info';
  const ask = async (isWanted: () => boolean): Promise<void> => {
    const isFirstDebug = level() === 'debug' && read === 'info';
    if (isPaused() && !isFirstDebug) return;
    try {
      const after = isFirstDebug ? 0 : held().next;
      const page = await getJson<LogPage>(`/hub/log?after=${after}&level=${isFirstDebug ? 'debug' : read}`);
      if (!isWanted()) return;
      setError('');
      if (!isContinued(held(), page)) {
        if (isPaused()) return;
        setHeld(restart(held()));
        return ask(isWanted);
      }
      setHeld(isFirstDebug ? replace(held(), page, isPaused()) : append(held(), page));
      if (isFirstDebug) read = 'debug';
    } catch (problem) {
      if (isWanted()) setError(messageOf(problem));
    }
  };
  createEffect(
    on(
      [level, isPaused],
      usePolling(ask, () => intervalMs),
    ),
  );
  return { lines: () => held().lines, error };
}
