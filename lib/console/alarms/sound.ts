// The alarm sound: while an alarm waits for an acknowledgement, a page with sound switched on beeps, more often for an urgent alarm. The
// sound can be silenced until the next alarm.

import { createEffect, createMemo, createRoot, createSignal, onCleanup } from 'solid-js';
import type { Alarm } from '../../wire/http/alarm-shapes.ts';
import { keep, recall } from '../page/storage.ts';
import { alarms } from './alarms.ts';

const storageKey = 'alarm-sound';
/** The lowest priority of an urgent alarm; 1 is the highest priority. */
const urgentPriority = 2;
const urgentEveryMs = 1500;
const everyMs = 5000;
/** The tones in the beep for an urgent alarm, in Hz. */
const urgentTones = [880, 660, 880];
/** The tones in the beep for any other alarm, in Hz. */
const tones = [660, 550];
/** The length of each tone, in seconds. */
const toneSeconds = 0.15;
const loudness = 0.2;

/** Returns a key for an alarm. An alarm that is raised again has a different key. */
const keyOf = ({ address, since }: Alarm) => `${address} ${since}`;

export const sound = createRoot(() => {
  const [isOn, setOn] = createSignal(recall(storageKey) === 'on');
  const [silenced, setSilenced] = createSignal<ReadonlySet<string>>(new Set<string>());
  const [isBlocked, setBlocked] = createSignal(false);
  const waiting = () =>
    alarms.list().filter(({ state, shelved }) => !shelved && (state === 'unacknowledged' || state === 'returned'));
  const audible = createMemo(() => (isOn() ? waiting().filter((one) => !silenced().has(keyOf(one))) : []));
  const isUrgent = () => audible().some(({ priority = Number.POSITIVE_INFINITY }) => priority <= urgentPriority);
  const urgency = createMemo(() => (audible().length === 0 ? 'none' : isUrgent() ? 'urgent' : 'usual'));
  let context: AudioContext | undefined;

  /** Plays a beep. Browsers stay silent until the user has clicked or typed on the page. */
  const beep = async (frequencies: readonly number[]) => {
    context ??= new AudioContext();
    if (context.state === 'suspended') void context.resume();
    setBlocked(context.state !== 'running');
    if (context.state !== 'running') return;
    for (const [place, frequency] of frequencies.entries()) playTone(context, frequency, place * toneSeconds);
  };
  createEffect(() => {
    const present = urgency();
    if (present === 'none') return;
    const play = () => void beep(present === 'urgent' ? urgentTones : tones).catch(() => setBlocked(true));
    play();
    const timer = setInterval(play, present === 'urgent' ? urgentEveryMs : everyMs);
    onCleanup(() => clearInterval(timer));
  });
  return {
    isOn,
    /** Whether the page is beeping, or would be beeping if the browser permitted sound. */
    isSounding: () => urgency() !== 'none',
    /** Whether the browser waits for a click or a key press before permitting sound. */
    isBlocked,
    switchOn(on: boolean): void {
      setOn(on);
      keep(storageKey, on ? 'on' : 'off');
      if (on) void beep(tones.slice(0, 1)).catch(() => setBlocked(true)); // so that the user hears that the sound works
    },
    /** Silences the current alarms on this page. New alarms sound again. */
    silence: () => setSilenced(new Set(waiting().map(keyOf))),
  };
});

/** Plays one tone. The tone begins and ends softly, to avoid a click. */
function playTone(context: AudioContext, frequency: number, delaySeconds: number): void {
  const start = context.currentTime + delaySeconds;
  const oscillator = new OscillatorNode(context, { frequency });
  const gain = new GainNode(context, { gain: 0 });
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime(loudness, start + 0.02);
  gain.gain.setValueAtTime(loudness, start + toneSeconds - 0.03);
  gain.gain.linearRampToValueAtTime(0, start + toneSeconds);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + toneSeconds);
}
