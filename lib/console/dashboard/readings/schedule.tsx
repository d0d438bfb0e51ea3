// An entry of a schedule: whether it is open, until when, and the next times.

import { For, Show } from 'solid-js';
import type { ScheduleList } from '../../../wire/http/schedule-shapes.ts';
import { usePolled } from '../../hub/polled.ts';
import { t } from '../../language/language.ts';
import { useNow } from '../../page/units.ts';
import { momentText, nextText } from '../../schedule/week.ts';
import { WidgetFault, type WidgetProps } from '../widget.tsx';
import { FitText } from './fit-text.tsx';

/** The interval between requests, in milliseconds. The hub sends the times; between responses, the page counts on. */
const everyMs = 10_000;

export function Schedule(props: WidgetProps<'schedule'>) {
  const { address, label, next } = props.widget;
  const parameter = props.values.of(address);
  const now = useNow();
  const path = () => `/hub/schedules?address=${encodeURIComponent(address)}`;
  const { data, error } = usePolled<ScheduleList>(path, 'address', everyMs);
  const schedule = () => data()?.schedules?.[0];
  /**
   * The entry as it is now: the current value takes precedence over the response from some seconds ago, and times that have passed are
   * omitted.
   */
  const entry = () => {
    const found = schedule()?.entries?.[0];
    const live = parameter.value();
    return (
      found && {
        ...found,
        next: found.next.filter(({ time }) => Date.parse(time) > now()),
        ...(found.bars !== undefined && typeof live === 'boolean' && { open: live }),
      }
    );
  };
  const isOpen = () => entry()?.open === true;
  const name = () => label ?? parameter.about()?.label ?? address.slice(address.indexOf('/') + 1);
  const text = () => {
    const found = entry();
    if (found !== undefined) return nextText(found, schedule()!.zone, now());
    return error() || (data() === undefined ? '…' : t('not a schedule entry'));
  };
  return (
    <>
      <p class="name truncate" title={name()}>
        {name()}
      </p>
      <output
        class="open-state"
        data-open={isOpen()}
        data-tone={isOpen() ? (props.tone?.() ?? props.widget.tone) : undefined}
      >
        <FitText text={text()} />
      </output>
      <Show when={entry() && next > 0}>
        <ol class="next-list">
          <For each={entry()!.next.slice(0, next)}>
            {(one) => (
              <li>
                <time datetime={one.time}>{momentText(Date.parse(one.time), schedule()!.zone, now())}</time>{' '}
                {t(one.open === undefined ? 'fires' : one.open ? 'opens' : 'closes')}
              </li>
            )}
          </For>
        </ol>
      </Show>
      <WidgetFault address={address} parameter={parameter} values={props.values} />
    </>
  );
}
