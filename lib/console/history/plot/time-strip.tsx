// How often the parameter changed, by hours or other round times. One click goes there.

import { createMemo, Index } from 'solid-js';
import type { History } from '../../../wire/http/past.ts';
import { useSize } from '../../page/media.ts';
import { formatCount } from '../../page/units.ts';
import { axisText, momentText } from '../time/clock-text.ts';
import type { TimeRange } from '../time/timeframe.ts';
import { slotsOf } from './strip.ts';

/** A finger meets a part that is as wide as this. */
const leastPx = 28;
const labelPx = 54;
/** The labels of the plot are as wide. */
const labelsPx = 68;

export function TimeStrip(props: {
  readonly range: TimeRange;
  readonly history: History | undefined;
  choose(range: TimeRange): void;
}) {
  let list!: HTMLOListElement;
  const size = useSize(() => list);
  const slots = createMemo(() => slotsOf(props.range, props.history, Math.floor((size().width - labelsPx) / leastPx)));
  /** There is room for the time of each so-manieth. */
  const labelled = () => Math.ceil((slots().length * labelPx) / Math.max(1, size().width - labelsPx));
  const most = () => Math.max(1, ...slots().map(({ count }) => count));
  return (
    <ol ref={list} class="time-strip" aria-label="Changes by time">
      <Index each={slots()}>
        {(slot) => {
          const stepMs = () => slot().to - slot().from;
          const changes = () => `${formatCount(slot().count)} ${slot().count === 1 ? 'change' : 'changes'}`;
          return (
            <li>
              <button
                type="button"
                class="slot"
                aria-label={`${momentText(slot().from)}: ${changes()}`}
                title={`${momentText(slot().from)}: ${changes()}`}
                onClick={() => props.choose({ from: slot().from, to: slot().to })}
              >
                <span
                  class="rate"
                  style={{ '--share': slot().count === 0 ? 0 : Math.max(0.08, slot().count / most()) }}
                />
                <span class="when">
                  {slot().place % labelled() === 0 &&
                    axisText(slot().from, props.range.to - props.range.from, stepMs())}
                </span>
              </button>
            </li>
          );
        }}
      </Index>
    </ol>
  );
}
