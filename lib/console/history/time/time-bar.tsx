// The controls for choosing the timeframe, which is a span up to now or a range from one time to another, and an earlier time for
// comparison.
import { createSignal, For, Show } from 'solid-js';
import { useInterval } from '../../page/page-timers.ts';
import { fieldText, readField } from './clock-text.ts';
import {
  dayMs,
  hourMs,
  hubNow,
  isFollowing,
  lastNight,
  minuteMs,
  rangeOf,
  type Timeframe,
  yesterday,
} from './timeframe.ts';

const lasts = [
  ['1 min', minuteMs],
  ['5 min', 5 * minuteMs],
  ['1 h', hourMs],
  ['24 h', dayMs],
  ['7 d', 7 * dayMs],
  ['30 d', 30 * dayMs],
] as const;

/** How long the page itself keeps values if the hub has no store, in milliseconds. */
export const seenMs = 5 * minuteMs;

const others = [
  ['Compare with …', 0],
  ['the day before', dayMs],
  ['the week before', 7 * dayMs],
] as const;

interface TimeBarProps {
  readonly frame: Timeframe;
  readonly earlierMs: number;
  /** Whether the hub keeps a history from before the page was opened. */
  readonly isKept: boolean;
  /** Whether a second curve for comparison can be drawn. */
  readonly isComparable: boolean;
  readonly hasPresets: boolean;
  choose(frame: Timeframe): void;
  compare(earlierMs: number): void;
}

export function TimeBar(props: TimeBarProps) {
  return (
    <div class="time-bar">
      <fieldset class="segments" aria-label="Up to now">
        <For each={lasts}>
          {([text, lastMs]) => (
            <button
              type="button"
              aria-pressed={isFollowing(props.frame) && props.frame.lastMs === lastMs}
              disabled={!props.isKept && lastMs > seenMs}
              onClick={() => props.choose({ lastMs })}
            >
              {text}
            </button>
          )}
        </For>
      </fieldset>
      <Show when={props.hasPresets}>
        <button type="button" disabled={!props.isKept} onClick={() => props.choose(lastNight(hubNow()))}>
          Last night
        </button>
        <button type="button" disabled={!props.isKept} onClick={() => props.choose(yesterday(hubNow()))}>
          Yesterday
        </button>
      </Show>
      <select
        aria-label="Compare with an earlier time"
        disabled={!props.isKept || !props.isComparable}
        value={props.earlierMs}
        onChange={(event) => props.compare(Number(event.currentTarget.value))}
      >
        <For each={others}>{([text, ms]) => <option value={ms}>{text}</option>}</For>
      </select>
      <Bounds frame={props.frame} isKept={props.isKept} choose={props.choose} />
    </div>
  );
}

function Bounds(props: Pick<TimeBarProps, 'frame' | 'isKept' | 'choose'>) {
  const [now, setNow] = createSignal(hubNow());
  useInterval(() => setNow(hubNow()), 1000);
  const range = () => rangeOf(props.frame, now());
  const spanMs = () => range().to - range().from;
  return (
    <div class="bounds">
      <TimeField
        label="From"
        time={range().from}
        disabled={!props.isKept}
        take={(from = range().from) => props.choose({ from, to: range().to > from ? range().to : from + spanMs() })}
      />
      <span class="muted">–</span>
      <TimeField
        label="To"
        time={range().to}
        disabled={!props.isKept}
        take={(to = range().to) => props.choose({ from: range().from < to ? range().from : to - spanMs(), to })}
      />
    </div>
  );
}

// A field for an exact time. While the field has the focus, its text does not follow the clock, which would undo the user's selection.

export function TimeField(props: {
  readonly label: string;
  /** The time in the field; undefined if the field is empty. */
  readonly time: number | undefined;
  readonly disabled?: boolean;
  /** Receives the time that the user has set; undefined if the user has cleared the field. */
  take(time: number | undefined): void;
}) {
  const [typed, setTyped] = createSignal<string>();
  /** The text in the field at the moment when the field received the focus. */
  const [held, setHeld] = createSignal<string>();
  const isWrong = () => Boolean(typed()?.trim()) && readField(typed()!, hubNow()) === undefined;
  const take = () => {
    const text = typed();
    if (text === undefined || isWrong()) return;
    setTyped(undefined);
    setHeld(undefined);
    props.take(readField(text, hubNow()));
  };
  const known = () => (props.time === undefined ? '' : fieldText(props.time));
  return (
    <input
      type="text"
      class="time-field"
      aria-label={props.label}
      aria-invalid={isWrong()}
      autocomplete="off"
      placeholder={`${props.label} 03:00`}
      title={`${props.label}: a date and time, such as 2026-11-22 03:04:10, or just a time (3:04 means the most recent 3:04)`}
      disabled={props.disabled}
      value={typed() ?? held() ?? known()}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onFocus={() => setHeld(known())}
      onBlur={() => {
        setHeld(undefined);
        take();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
        else if (event.key === 'Escape' && typed() !== undefined) {
          setTyped(undefined);
          event.stopPropagation();
        }
      }}
    />
  );
}
