// A button, which toggles, sets a value, fires, or is true while it is held.

import { Show } from 'solid-js';
import { whyReadOnly } from '../../hub/me.ts';
import { isStale } from '../../hub/page-hub.ts';
import { t } from '../../language/language.ts';
import { FitText } from '../readings/fit-text.tsx';
import { isLit } from '../showing.ts';
import { createLit, useWrites, WidgetFault, type WidgetProps } from '../widget.tsx';
import { createGuard, HoldButton } from './guard.tsx';
import { createHold } from './hold.ts';
import { releases, whyNotOff } from './page-releases.ts';

export function ButtonWidget(props: WidgetProps<'button'>) {
  const { address, label, mode, value, lamp } = props.widget;
  const parameter = props.values.of(address);
  const light = lamp === undefined ? parameter : props.values.of(lamp);
  const { send, fail, failure } = useWrites(address);
  const write = (written: string | number | boolean) => void send(written).catch(fail);
  const readOnly = () => whyReadOnly(address, parameter.kind()?.access);
  const { isHeld, listeners } = createHold({
    isFree: () => mode === 'momentary' && !isStale() && parameter.kind() !== undefined && !readOnly(),
    async press() {
      try {
        await releases.press(address);
      } catch (error) {
        fail(error);
        throw error;
      }
    },
    release: () => releases.release(address),
  });
  const guard = createGuard(props.widget, { title: label ?? address });
  const trouble = () => failure() || (whyNotOff(address) && t('may still be on: {1}', whyNotOff(address)));
  const shines = createLit(light, mode === 'set' && lamp === undefined ? value : undefined);
  const lit = () => shines() || (mode === 'momentary' && lamp === undefined && isHeld());
  const press = () => {
    if (mode === 'toggle') write(!isLit(parameter.wanted() ?? parameter.value()));
    else if (mode === 'set') write(value!);
    else if (mode === 'fire') write(true);
  };
  const content = () => (
    <>
      <FitText text={label ?? address} />
      <Show when={readOnly()}>
        <span class="word">{t('read-only')}</span>
      </Show>
      <WidgetFault address={address} parameter={parameter} values={props.values} failure={trouble()} />
      <Show when={lamp}>{(one) => <WidgetFault address={one()} parameter={light} values={props.values} />}</Show>
    </>
  );
  const isOff = () => isStale() || readOnly() !== '';
  if (mode === 'momentary')
    return (
      <button
        type="button"
        class="light push"
        classList={{ lit: lit(), held: isHeld() }}
        data-tone={props.tone?.() ?? props.widget.tone}
        aria-pressed={lit()}
        disabled={isOff()}
        title={readOnly() || undefined}
        onContextMenu={(event) => event.preventDefault()}
        {...listeners}
      >
        {content()}
      </button>
    );
  return (
    <>
      <HoldButton
        class="light push"
        classList={{ lit: lit() }}
        seconds={props.widget.hold}
        act={() => guard.run(press)}
        tone={props.tone?.() ?? props.widget.tone}
        pressed={mode === 'fire' ? undefined : lit()}
        disabled={isOff()}
        title={readOnly() || undefined}
      >
        {content()}
      </HoldButton>
      {guard.Dialog()}
    </>
  );
}
