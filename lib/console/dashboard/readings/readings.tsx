// The read-only widgets: label, value, lamp, meter.

import { beginningOf } from '../../page/units.ts';
import { shareOf, showValue, toneAt } from '../showing.ts';
import { Amount, createLit, WidgetFault, type WidgetProps } from '../widget.tsx';
import { FitText } from './fit-text.tsx';

export function Label(props: WidgetProps<'label'>) {
  return <FitText text={props.widget.label} tone={props.widget.tone} />;
}

export function Reading(props: WidgetProps<'value'>) {
  const { address, label, texts, unit, digits, zones } = props.widget;
  const parameter = props.values.of(address);
  const text = () => {
    const plain = String(parameter.value());
    const shown = Object.hasOwn(texts, plain) ? texts[plain]! : showValue(parameter.value(), digits);
    return beginningOf(shown);
  };
  const others = Object.values(texts);
  let widest = '';
  /** The texts that must fit; for numbers, the longest one so far. */
  const sizedFor = () => {
    if (typeof parameter.value() !== 'number') return [text(), ...others];
    const zeros = text().replace(/\d/g, '0');
    if (zeros.length > widest.length) widest = zeros;
    return [widest, ...others];
  };
  return (
    <>
      <p class="name truncate" title={label}>
        {label}
      </p>
      <FitText
        text={text()}
        unit={parameter.value() === undefined ? '' : unit}
        tone={toneAt(zones, parameter.value())}
        sizedFor={sizedFor()}
        isLive
      />
      <WidgetFault address={address} parameter={parameter} values={props.values} />
    </>
  );
}

export function Lamp(props: WidgetProps<'lamp'>) {
  const { address, label, tone, equals, blink } = props.widget;
  const parameter = props.values.of(address);
  const lit = createLit(parameter, equals);
  const state = () => {
    if (parameter.value() === undefined && parameter.kind()?.type !== 'T') return 'unknown';
    return lit() ? 'on' : 'off';
  };
  return (
    <div class="light" classList={{ lit: lit(), blink: blink && lit() }} data-tone={tone} data-state={state()}>
      <FitText text={label ?? address} />
      <span class="word">{state()}</span>
      <WidgetFault address={address} parameter={parameter} values={props.values} />
    </div>
  );
}

export function Meter(props: WidgetProps<'meter'>) {
  const { address, label, min, max, unit, digits, zones } = props.widget;
  const parameter = props.values.of(address);
  return (
    <>
      <p class="name truncate" title={label}>
        {label}
      </p>
      <div class="track" aria-hidden="true">
        <div
          class="bar-of"
          data-tone={toneAt(zones, parameter.value()) ?? 'ok'}
          style={{ '--share': shareOf(parameter.value(), min, max) }}
        />
      </div>
      <Amount value={parameter.value()} digits={digits} unit={unit} />
      <WidgetFault address={address} parameter={parameter} values={props.values} />
    </>
  );
}
