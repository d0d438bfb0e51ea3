// A clock for any time zone, and a countdown to a time or from a duration. Both show the time of the hub's machine as far as the screen
// knows that time: a screen with a wrong clock shows a wrong time.

import { createEffect, createSignal, on, onCleanup, Show } from 'solid-js';
import { pathOf } from '../../../model/address.ts';
import { dayMs } from '../../../model/time/iso-time.ts';
import { localTime, momentOf } from '../../../model/time/zone-time.ts';
import type { Explanation } from '../../../wire/http/parameter-shapes.ts';
import { getJson } from '../../hub/page-request.ts';
import { locale, t } from '../../language/language.ts';
import { toneAt } from '../showing.ts';
import { WidgetFault, type WidgetProps } from '../widget.tsx';
import { FitText } from './fit-text.tsx';

/** Returns the time in milliseconds since 1970, updated at the beginning of each second until the calling reactive scope is disposed. */
function useSeconds(): () => number {
  const [now, setNow] = createSignal(Date.now());
  let timer: ReturnType<typeof setTimeout>;
  const tick = () => {
    setNow(Date.now());
    timer = setTimeout(tick, 1000 - (Date.now() % 1000) + 5);
  };
  tick();
  onCleanup(() => clearTimeout(timer));
  return now;
}

export function Clock(props: WidgetProps<'clock'>) {
  const { zone, seconds, date, label } = props.widget;
  const now = useSeconds();
  const zoned = zone === undefined ? {} : { timeZone: zone };
  const time = new Intl.DateTimeFormat(locale, { timeStyle: seconds ? 'medium' : 'short', ...zoned });
  const day = new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    ...zoned,
  });
  const text = () => time.format(now());
  const name = label ?? zone?.replace(/^.*\//, '').replaceAll('_', ' ');
  return (
    <>
      <p class="name truncate" title={name}>
        {name}
      </p>
      <time class="clock" role="timer" aria-label={name ? t('Time in {1}', name) : t('Time')} dateTime={text()}>
        <FitText text={text()} tone={props.tone?.()} sizedFor={[text().replace(/\d/g, '0')]} />
      </time>
      <Show when={date}>
        <p class="word">{day.format(now())}</p>
      </Show>
    </>
  );
}

const unitMs = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

export function Countdown(props: WidgetProps<'countdown'>) {
  const { to, address, zone, label, done, zones, unit = 's' } = props.widget;
  const now = useSeconds();
  const parameter = address === undefined ? undefined : props.values.of(address);
  /** When the duration of the countdown began to run, in milliseconds since 1970. */
  const [begun, setBegun] = createSignal(Date.now());
  if (parameter !== undefined && address !== undefined) {
    createEffect(on(parameter.moves, () => setBegun(Date.now()), { defer: true }));
    // A page that was opened later asks the hub how long the parameter has had its value.
    void changedAt(address).then((time) => time !== undefined && parameter.moves() === 0 && setBegun(time));
  }
  const endMs = (): number | undefined => {
    if (to !== undefined) return to.length < 10 ? nextTime(to, now(), zone) : Date.parse(to);
    const value = parameter?.value();
    const ms = typeof value === 'string' ? Date.parse(value) : begun() + Number(value) * unitMs[unit];
    return Number.isFinite(ms) ? ms : undefined;
  };
  const leftMs = () => {
    const end = endMs();
    return end === undefined ? undefined : Math.max(0, end - now());
  };
  const isOver = () => leftMs() === 0;
  const text = () => {
    const left = leftMs();
    if (left === undefined) return '–';
    return isOver() && done !== undefined ? done : formatDuration(left);
  };
  const tone = () => {
    const left = leftMs();
    return props.tone?.() ?? (left === undefined ? undefined : toneAt(zones, Math.ceil(left / 1000)));
  };
  return (
    <>
      <p class="name truncate" title={label}>
        {label}
      </p>
      <div class="clock" role="timer" aria-label={label ?? t('Time left')}>
        <FitText text={text()} tone={tone()} sizedFor={[text().replace(/\d/g, '0')]} />
      </div>
      <Show when={parameter}>
        {(known) => <WidgetFault address={address!} parameter={known()} values={props.values} />}
      </Show>
    </>
  );
}

/** Returns when a parameter last changed, according to the page's clock, or undefined if the time is not known. */
async function changedAt(address: string): Promise<number | undefined> {
  const found = await getJson<Explanation>(`/hub/explain/${pathOf(address)}`).catch(() => undefined);
  const time = Date.parse(found?.chain[0]?.time ?? '');
  return Number.isNaN(time) ? undefined : Math.min(time, Date.now());
}

/** Returns the next moment at which a clock shows the given time, such as `18:00`. */
function nextTime(text: string, nowMs: number, zone = Intl.DateTimeFormat().resolvedOptions().timeZone): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
  const today = Math.floor(localTime(nowMs, zone).getTime() / dayMs);
  const at = (day: number) => momentOf(day * dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000, zone);
  return at(today) > nowMs ? at(today) : at(today + 1);
}

/** Formats a duration in milliseconds: `1:02:03`, `2:03`, `3 d 1:02:03`. A second that has begun counts as a whole second. */
function formatDuration(ms: number): string {
  const all = Math.ceil(ms / 1000);
  const two = (number: number) => String(number).padStart(2, '0');
  const [days, hours, minutes, seconds] = [
    Math.floor(all / 86_400),
    Math.floor(all / 3600) % 24,
    Math.floor(all / 60) % 60,
    all % 60,
  ];
  const clock = days + hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
  return days > 0 ? `${days} ${t('d')} ${clock}` : clock;
}
