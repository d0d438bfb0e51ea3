// An alarm: quiet, unacknowledged or acknowledged, each shown by word, shape and colour, with a button for acknowledging the alarm.

import { Show } from 'solid-js';
import { said, t } from '../../language/language.ts';
import type { Text } from '../../language/texts.ts';
import { FitText } from '../readings/fit-text.tsx';
import { useControl, WidgetFault, type WidgetProps } from '../widget.tsx';
import { createGuard, HoldButton } from './guard.tsx';

const words: ReadonlyMap<string, Text> = new Map([
  ['normal', 'quiet'],
  ['unacknowledged', 'unacknowledged'],
  ['acknowledged', 'acknowledged'],
  ['returned', 'over, unacknowledged'],
]);

export function Alarm(props: WidgetProps<'alarm'>) {
  const { address, label } = props.widget;
  const present = props.values.of(address);
  const state = props.values.of(`${address}/state`);
  const control = useControl(props, `${address}/ack`);
  const name = () => label ?? present.about()?.label ?? address;
  const guard = createGuard(props.widget, { title: t('Acknowledge {1}', name()) });
  const now = () => (state.value() === undefined ? 'unknown' : String(state.value()));
  const isUnacknowledged = () => now() === 'unacknowledged' || now() === 'returned';
  return (
    <div
      class="light alarm-state"
      classList={{ lit: isUnacknowledged(), framed: now() === 'acknowledged' }}
      data-tone={props.tone?.() ?? props.widget.tone}
      data-state={now()}
    >
      <FitText text={name()} />
      <output class="word">{said(words.get(now()) ?? now())}</output>
      <Show when={isUnacknowledged()}>
        <HoldButton
          class="acknowledge"
          seconds={props.widget.hold}
          act={() => guard.run(() => control.write(true))}
          disabled={!control.isFree()}
          title={control.readOnly() || undefined}
          label={t('Acknowledge {1}', name())}
        >
          {t('Acknowledge')}
        </HoldButton>
      </Show>
      {guard.Dialog()}
      <WidgetFault address={`${address}/state`} parameter={state} values={props.values} failure={control.failure()} />
    </div>
  );
}
