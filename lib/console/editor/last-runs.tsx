// The most recent runs of a rule: what the rule wrote and, next to that, what the edited rule would have written. The hub replays the
// events in virtual time, so steps that wait are included.

import { For, Show } from 'solid-js';
import { counted } from '../../model/digits.ts';
import type { EditResult } from '../../wire/http/editing-shapes.ts';
import type { History } from '../../wire/http/past-shapes.ts';
import { getJson } from '../hub/page-request.ts';
import { formatClock, formatValue } from '../page/units.ts';
import { type RecordedEvent, recordedOf, resultText } from './rehearsal.ts';

type Rehearsal = NonNullable<EditResult['rehearsal']>;

export function LastRuns(props: {
  /** The rehearsal's results; undefined if the hub has not responded yet. */
  readonly rehearsal: Rehearsal | undefined;
  readonly isChanged: boolean;
  readonly isNew: boolean;
  again(): void;
}) {
  const runs = () => props.rehearsal?.runs ?? [];
  const compares = () => props.isChanged || props.isNew;
  const different = () => runs().filter((run) => resultText(run.was) !== resultText(run.would)).length;
  const summary = () => {
    if (props.isNew) return `The rule would have run ${counted(runs().length, 'time')}.`;
    return different() === 0
      ? 'The new rule would have written the same values.'
      : `${different()} of ${runs().length} would have differed.`;
  };
  return (
    <section class="runs" aria-label="Recent runs">
      <h3>Recent runs</h3>
      <Show when={props.rehearsal} fallback={<p class="muted">Runs appear as soon as the rule has no errors.</p>}>
        {(known) => (
          <>
            <Show when={known().reason}>
              <p class="muted">{known().reason}</p>
            </Show>
            <Show when={runs().length > 0}>
              <p aria-live="polite">
                <Show when={compares()} fallback="Change the rule to compare its new results with these.">
                  {summary()}
                </Show>
              </p>
              <div class="wide-table" tabIndex={0} role="region" aria-label="Recent runs, newest first">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Time</th>
                      <th scope="col">Event</th>
                      <Show when={!props.isNew}>
                        <th scope="col">Wrote</th>
                      </Show>
                      <Show when={compares()}>
                        <th scope="col">New rule</th>
                      </Show>
                    </tr>
                  </thead>
                  <tbody>
                    <For each={runs()}>
                      {(run) => (
                        <tr classList={{ differs: !props.isNew && resultText(run.was) !== resultText(run.would) }}>
                          <td>
                            <time>{formatClock(run.time)}</time>
                          </td>
                          <td>
                            <Show when={run.source} fallback="timer or start">
                              <code>{run.source}</code> {run.value === undefined ? '' : formatValue(run.value)}
                            </Show>
                          </td>
                          <Show when={!props.isNew}>
                            <td class="mono" title={run.was?.error}>
                              {resultText(run.was)}
                            </td>
                          </Show>
                          <Show when={compares()}>
                            <td class="mono" title={run.would?.error}>
                              {resultText(run.would)}
                            </td>
                          </Show>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </div>
            </Show>
            <Show when={known().assumed.length > 0 && runs().length > 0}>
              <p class="muted">
                The past values of {known().assumed.join(', ')} are unknown; current values are used instead.
              </p>
            </Show>
            <button type="button" onClick={() => props.again()}>
              Update
            </button>
          </>
        )}
      </Show>
    </section>
  );
}

/** How far back recorded events of the sources are requested, as in the hub's API. */
const askedBack = '-7d';
const askedPoints = 200;

/** Requests the recorded events for an address. Returns the events, oldest first, or an empty list if no store records the address. */
export async function readRecorded(address: string): Promise<readonly RecordedEvent[]> {
  const query = new URLSearchParams({ from: askedBack, points: String(askedPoints) });
  const path = `/hub/history/${address.split('/').map(encodeURIComponent).join('/')}?${query}`;
  return recordedOf(await getJson<History>(path).catch(() => undefined));
}
