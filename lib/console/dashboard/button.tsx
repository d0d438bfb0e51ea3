// A button. It toggles, sets, fires, or is true while it is held.

import { createEffect, createSignal, on, onCleanup } from 'solid-js';
import { isStale } from '../hub.ts';
import { FitText } from './fit-text.tsx';
import { isLit } from './showing.ts';
import { Trouble, useWrites, type WidgetProps } from './widget.tsx';

/** Where the page scrolls, a finger holds a button only after it has rested this long: it may be about to scroll. */
const restMs = 250;
/** A finger that rests moves by less than this. */
const slopPx = 10;

export function ButtonWidget(props: WidgetProps<'button'>) {
  const { address, label, mode, value, lamp, tone } = props.widget;
  const parameter = props.values.of(address);
  const light = lamp === undefined ? parameter : props.values.of(lamp);
  const { send, fail, failure } = useWrites(address);
  const write = (written: string | number | boolean) => void send(written).catch(fail);

  const [isHeld, setHeld] = createSignal(false);
  let owesRelease = false;
  const hold = () => {
    if (isHeld() || isStale()) return;
    setHeld(true);
    write(true);
  };
  /** A finger that may be about to scroll. */
  let resting: { x: number; y: number; timer: ReturnType<typeof setTimeout> } | undefined;
  const stopResting = () => {
    clearTimeout(resting?.timer);
    resting = undefined;
  };
  const rest = ({ clientX: x, clientY: y }: PointerEvent) => {
    const timer = setTimeout(() => {
      resting = undefined;
      hold();
    }, restMs);
    resting = { x, y, timer };
  };
  const moveAway = ({ clientX, clientY }: PointerEvent) => {
    if (resting && Math.hypot(clientX - resting.x, clientY - resting.y) > slopPx) stopResting();
  };
  const liftUp = () => {
    if (resting) hold(); // it did not rest long enough, but it did not scroll either
    release();
  };
  const release = () => {
    stopResting();
    if (!isHeld()) return;
    setHeld(false);
    if (isStale()) owesRelease = true;
    else write(false);
  };
  // Somebody may let go while the link is down. The button lets go as soon as the link is back: nothing stays on by itself.
  createEffect(
    on(isStale, (stale) => {
      if (stale) release();
      else if (owesRelease) {
        owesRelease = false;
        write(false);
      }
    }),
  );
  const ends = new AbortController();
  addEventListener('blur', release, { signal: ends.signal });
  document.addEventListener('visibilitychange', release, { signal: ends.signal });
  onCleanup(() => {
    release();
    ends.abort();
  });

  const isReadOnly = () => parameter.kind()?.access === 'read-only';
  const lit = () =>
    mode === 'momentary' && lamp === undefined
      ? isHeld() || isLit(light.value())
      : isLit(light.value(), mode === 'set' && lamp === undefined ? value : undefined);
  const press = () => {
    if (mode === 'toggle') write(!isLit(parameter.value()));
    else if (mode === 'set') write(value!);
    else if (mode === 'fire') write(true);
  };
  return (
    <button
      type="button"
      class="light push"
      classList={{ lit: lit(), held: isHeld() }}
      data-tone={tone}
      aria-pressed={mode === 'fire' ? undefined : lit()}
      disabled={isStale() || isReadOnly()}
      title={isReadOnly() ? `${address} is read-only` : undefined}
      onClick={press}
      onContextMenu={(event) => event.preventDefault()}
      {...(mode === 'momentary' && {
        onPointerDown: (event: PointerEvent & { currentTarget: HTMLElement }) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          if (event.pointerType === 'touch' && canScroll(event.currentTarget)) rest(event);
          else hold();
        },
        onPointerMove: moveAway,
        onPointerUp: liftUp,
        onPointerCancel: release,
        onLostPointerCapture: release,
        onKeyDown: (event: KeyboardEvent) => (event.key === ' ' || event.key === 'Enter') && hold(),
        onKeyUp: release,
        onBlur: release,
      })}
    >
      <FitText text={label ?? address} />
      <Trouble parameter={parameter} values={props.values} failure={failure()} />
    </button>
  );
}

function canScroll(element: HTMLElement): boolean {
  const page = element.closest('.panel-page');
  return page !== null && page.scrollHeight > page.clientHeight;
}
