// A picture from the hub, and an icon with the tone of a value.

import { createSignal, Show } from 'solid-js';
import type { IconName } from '../../../dashboard/format.ts';
import { t } from '../../language/language.ts';
import { useInterval } from '../../page/page-timers.ts';
import { isLit, toneAt } from '../showing.ts';
import { WidgetFault, WidgetName, type WidgetProps } from '../widget.tsx';

export function Picture(props: WidgetProps<'image'>) {
  const { src, label, fit, refresh } = props.widget;
  const [round, setRound] = createSignal(0);
  const [isBroken, setBroken] = createSignal(false);
  if (refresh !== undefined) useInterval(() => !document.hidden && setRound((count) => count + 1), refresh * 1000);
  const path = () => (round() === 0 ? src : `${src}?${Date.now()}`);
  return (
    <>
      <Show when={label}>
        <WidgetName label={label} />
      </Show>
      <img
        class="picture"
        classList={{ cover: fit === 'cover' }}
        src={path()}
        alt={label ?? ''}
        draggable={false}
        hidden={isBroken()}
        onError={() => setBroken(true)}
        onLoad={() => setBroken(false)}
      />
      <Show when={isBroken()}>
        <p class="trouble" role="alert" title={src}>
          The hub does not have the picture {src}
        </p>
      </Show>
    </>
  );
}

/** The SVG path of each icon, in a 24 by 24 square. */
const paths: Readonly<Record<IconName, string>> = {
  mic: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3M6 11a6 6 0 0 0 12 0M12 17v4M9 21h6',
  'mic-off':
    'M15 10V6a3 3 0 0 0-6 0v1M9 10v1a3 3 0 0 0 4 2.8M6 11a6 6 0 0 0 9 5.2M18 11c0 .8-.2 1.6-.4 2.3M12 17v4M9 21h6M4 3l16 18',
  speaker: 'M4 9v6h4l5 4V5L8 9zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11',
  mute: 'M4 9v6h4l5 4V5L8 9zM16.5 9.5l5 5M21.5 9.5l-5 5',
  headphones: 'M4 17v-4a8 8 0 0 1 16 0v4M4 15h3v5H4zM17 15h3v5h-3z',
  camera: 'M3 7h11v10H3zM14 11l7-4v10l-7-4',
  light: 'M9 17a6 6 0 1 1 6 0v2H9zM10 21.5h4',
  power: 'M12 3v8M7 6a8 8 0 1 0 10 0',
  play: 'M7 4l13 8-13 8z',
  pause: 'M8 5v14M16 5v14',
  stop: 'M6 6h12v12H6z',
  record: 'M12 6a6 6 0 1 0 0 12a6 6 0 0 0 0-12',
  door: 'M6 21V3h12v18M3 21h18M14.5 12v1',
  lock: 'M6 11h12v10H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3M12 15v2',
  unlock: 'M6 11h12v10H6zM8.5 11V8a3.5 3.5 0 0 1 6.8-1.2M12 15v2',
  bell: 'M6 17v-6a6 6 0 0 1 12 0v6l2 2H4zM10 21.5h4',
  phone: 'M5 3h4l2 5-2.5 2a12 12 0 0 0 5.5 5.5l2-2.5 5 2v4a2 2 0 0 1-2 2A16 16 0 0 1 3 5a2 2 0 0 1 2-2',
  person: 'M12 3.5a4 4 0 1 0 0 8a4 4 0 0 0 0-8M4.5 21a7.5 7.5 0 0 1 15 0',
  clock: 'M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M12 7v5l3.5 2',
  temperature: 'M10 14V5a2 2 0 0 1 4 0v9a4 4 0 1 1-4 0M12 9v8',
  fan: 'M12 10.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 0 0 0-3M12 10.5c-3-3-1-7 1-7s3 4-1 7M13.5 12c3-3 7-1 7 1s-4 3-7-1M12 13.5c3 3 1 7-1 7s-3-4 1-7M10.5 12c-3 3-7 1-7-1s4-3 7 1',
  water: 'M12 3c4 5 6 8 6 11a6 6 0 0 1-12 0c0-3 2-6 6-11',
  network: 'M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4',
  antenna: 'M12 11v10M8.5 14.5a5 5 0 1 1 7 0M5.5 17a9 9 0 1 1 13 0M12 10.5v1',
  battery: 'M3 8h15v8H3zM18 11h3v2h-3M6 11v2M9 11v2M12 11v2',
  warning: 'M12 3.5L22 20.5H2zM12 10v5M12 17.5v.5',
  check: 'M4 12.5l5.5 5.5L20 6.5',
  cross: 'M5 5l14 14M19 5L5 19',
  info: 'M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M12 11v6M12 7.5v.5',
};

export function IconWidget(props: WidgetProps<'icon'>) {
  const { icon, address, label, tones, tone, zones } = props.widget;
  const parameter = address === undefined ? undefined : props.values.of(address);
  const value = () => parameter?.value();
  const shownTone = () => {
    const named = String(value());
    if (props.tone?.() !== undefined) return props.tone();
    if (parameter === undefined) return tone;
    if (Object.hasOwn(tones, named)) return tones[named];
    return toneAt(zones, value()) ?? (isLit(value()) ? tone : 'neutral');
  };
  const said = () =>
    [label ?? icon, ...(parameter === undefined ? [] : [String(parameter.readable() ?? t('unknown'))])].join(': ');
  return (
    <>
      <svg class="big-icon" viewBox="0 0 24 24" role="img" aria-label={said()} data-tone={shownTone()}>
        <path d={paths[icon]} />
      </svg>
      <Show when={label}>
        <WidgetName label={label} />
      </Show>
      <Show when={parameter}>
        {(known) => <WidgetFault address={address!} parameter={known()} values={props.values} />}
      </Show>
    </>
  );
}
