// Shows a state by shape, word and colour, so that users who miss one of these cues can still recognize the state.

import { type Accessor, Show } from 'solid-js';
import { said, t } from '../language/language.ts';
import { formatDate, formatSince, useNow } from '../page/units.ts';

type Tone = 'good' | 'warn' | 'bad' | 'off';

const shapes: Readonly<Record<Tone, string>> = {
  good: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z',
  warn: 'M8 1l7.5 14H.5z',
  bad: 'M3.5 1L8 5.5 12.5 1 15 3.5 10.5 8 15 12.5 12.5 15 8 10.5 3.5 15 1 12.5 5.5 8 1 3.5z',
  off: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8z',
};

const tones: ReadonlyMap<string, Tone> = new Map([
  ...words('good', 'running', 'normal', 'live', 'this hub', 'fresh', 'up'),
  ...words(
    'warn',
    'degraded',
    'catching up',
    'limited',
    'waiting',
    'warn',
    'no contact yet',
    'returned',
    'acknowledged',
    'override',
    'stopped',
  ),
  ...words('bad', 'failed', 'failing', 'stalled', 'error', 'stale', 'down', 'unacknowledged'),
  ...words('off', 'disabled', 'in shadow', 'shelved', 'unknown'),
]);

function words(tone: Tone, ...states: readonly string[]): [state: string, tone: Tone][] {
  return states.map((state) => [state, tone]);
}

/** Shows the state of a connection, rule, alarm or client, or the level of a log entry. Any other word is shown as plain text. */
export function StateMark(props: { readonly state: string; readonly count?: number }) {
  const tone = () => tones.get(props.state);
  return (
    <span class="state" data-tone={tone()}>
      <Show when={tone()}>
        {(known) => (
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path fill-rule="evenodd" d={shapes[known()]} />
          </svg>
        )}
      </Show>
      <Show when={props.count !== undefined}>{props.count}</Show> {said(props.state)}
    </span>
  );
}

// Marks a value that may be outdated because there is no contact with the hub that owns the parameter, or with the device.

export function StaleMark(props: { readonly since: Accessor<number | undefined> }) {
  return (
    <Show when={props.since()}>
      {(since) => (
        <span
          class="stale-mark"
          title={t('No contact with its hub or device since {1}: the value may be outdated', formatDate(since()))}
        >
          {t('stale')}
          <Since time={since()} />
        </span>
      )}
    </Show>
  );
}

/** Shows since when a state has lasted: ` since 14:03:07`, with the day unless it is today. */
export function Since(props: { readonly time: number }) {
  const now = useNow();
  return <span class="since"> {t('since {1}', formatSince(props.time, now()))}</span>;
}

/** An icon: a single stroke in the text colour, in a 24 by 24 square. */
export function Icon(props: { readonly path: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={props.path} />
    </svg>
  );
}
