// Log: what the hub has logged lately, live, by level and text.

import { createEffect, createSignal, For, on, onCleanup } from 'solid-js';
import { type LogEntry, type LogPage, logLevels } from '../api.ts';
import { getJson, messageOf } from '../request.ts';
import { route, setParams } from '../route.ts';
import { StateMark } from '../state-mark.tsx';
import { formatClock, formatCount, formatDate } from '../units.ts';
import { Fault, Search, searched } from '../view-bar.tsx';

const intervalMs = 1000;
/** How many entries are kept here, the newest. */
const maxEntries = 1000;

export default function Log() {
  const [entries, setEntries] = createSignal<readonly LogEntry[]>([]);
  const [isPaused, setPaused] = createSignal(false);
  const [error, setError] = createSignal('');
  let list!: HTMLDivElement;
  let isAtEnd = true;
  const level = () => route().params.level ?? 'info';
  const search = () => searched().toLowerCase();
  const shown = () =>
    search() === ''
      ? entries()
      : entries().filter(({ message, connection = '', rule = '' }) =>
          `${connection} ${rule} ${message}`.toLowerCase().includes(search()),
        );

  let after = 0;
  let round = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const poll = async () => {
    clearTimeout(timer);
    const own = ++round;
    if (document.hidden || isPaused()) return;
    try {
      const page = await getJson<LogPage>(`/hub/log?after=${after}&level=${level()}`);
      if (own !== round) return;
      setError('');
      if (page.next < after)
        after = 0; // the hub has started anew
      else after = page.next;
      if (page.entries.length > 0) setEntries((present) => [...present, ...page.entries].slice(-maxEntries));
    } catch (problem) {
      if (own !== round) return;
      setError(messageOf(problem));
    }
    timer = setTimeout(poll, intervalMs);
  };
  createEffect(
    on(level, () => {
      after = 0;
      setEntries([]);
      poll();
    }),
  );
  createEffect(on(isPaused, poll, { defer: true }));
  createEffect(on(shown, () => isAtEnd && list.scrollTo(0, list.scrollHeight)));
  document.addEventListener('visibilitychange', poll);
  onCleanup(() => {
    document.removeEventListener('visibilitychange', poll);
    clearTimeout(timer);
    round++;
  });

  return (
    <>
      <div class="bar">
        <h1>Log</h1>
        <label>
          <span class="muted">From</span>{' '}
          <select value={level()} onChange={(event) => setParams({ level: event.currentTarget.value })}>
            <For each={logLevels}>{(one) => <option value={one}>{one}</option>}</For>
          </select>
        </label>
        <Search label="Search the log" placeholder="Search" />
        <span class="count">{formatCount(shown().length)}</span>
        <button type="button" aria-pressed={isPaused()} onClick={() => setPaused(!isPaused())}>
          {isPaused() ? 'Go on' : 'Pause'}
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
        <For each={shown()} fallback={<p class="note">Nothing of this level has been logged.</p>}>
          {(entry) => (
            <div class="entry">
              <time datetime={entry.time} title={formatDate(entry.time)}>
                {formatClock(entry.time)}
              </time>
              <StateMark state={entry.level} />
              <span class="source truncate" title={entry.rule ?? entry.connection}>
                {entry.rule ?? entry.connection}
              </span>
              <span class="message">{entry.message}</span>
            </div>
          )}
        </For>
      </section>
    </>
  );
}
