// Text that fills its space so that it is readable across a room.

import { createMemo, createSignal, on, onMount, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import type { Tone } from '../../../dashboard/format.ts';
import { leastLetters, observeSize } from '../../page/media.ts';
import { LiveText } from '../../parts/text.tsx';
import { showWhole } from '../widget.tsx';
import { type Fitted, fitInto } from './fit.ts';

/**
 * The ratio between adjacent font sizes. Strings of about the same length get the same font size, instead of a size that varies with each
 * letter.
 */
const step = 1.2;
const unitSize = 0.55;
const measuredAt = 100;
/** The maximum number of texts whose sizes a widget remembers. */
const mostFits = 50;
const pen = document.createElement('canvas').getContext('2d')!;

interface Placed extends Fitted {
  /** Whether the unit is below the number. */
  readonly isBelow: boolean;
}

interface FitTextProps {
  readonly text: string;
  readonly unit?: string;
  readonly tone?: Tone | undefined;
  /** Whether screen readers announce changes, for text that changes with a value. */
  readonly live?: 'off' | 'polite';
  /** All strings that the text must fit at one font size. If omitted, the font size changes with the value, which is distracting. */
  readonly sizedFor?: readonly string[];
}

export function FitText(props: FitTextProps) {
  let box!: HTMLSpanElement;
  const [place, setPlace] = createSignal({ width: 0, height: 0 });
  const [family, setFamily] = createSignal('sans-serif');
  onMount(() => {
    setFamily(getComputedStyle(box).fontFamily);
    observeSize(box, setPlace);
  });
  const widthOf = (text: string) => {
    pen.font = `600 ${measuredAt}px ${family()}`;
    return pen.measureText(text).width / measuredAt;
  };
  /** The texts that were fitted into the current space, because measuring takes longer than showing. */
  const fits = createMemo(on([place, family, () => props.unit], () => new Map<string, Placed>()));
  const fitWithUnit = (text: string): Placed => {
    const known = fits().get(text);
    if (known) return known;
    if (fits().size >= mostFits) fits().clear();
    const fit = placeWithUnit(text);
    fits().set(text, fit);
    return fit;
  };
  /** Places the unit after the number, or below the number if this allows a larger font. */
  const placeWithUnit = (text: string): Placed => {
    const { width, height } = place();
    const unitWidth = props.unit ? unitSize * widthOf(` ${props.unit}`) : 0;
    const behind = fitInto(text, place(), (line) => widthOf(line) + unitWidth);
    const below = fitInto(text, { width, height: height / (1 + unitSize) }, widthOf);
    const isBelow = unitWidth > 0 && below.size > 1.3 * behind.size;
    return { ...(isBelow ? below : behind), isBelow };
  };
  const sizedFor = createMemo(() => props.sizedFor ?? [props.text], undefined, {
    equals: (one, other) => one.join('\n') === other.join('\n'),
  });
  const fitted = createMemo(() => sizedFor().map(fitWithUnit));
  /** The smallest readable font size. Text that needs a smaller size is truncated; its tooltip shows the complete text. */
  const leastSize = leastLetters();
  const fittingSize = () => {
    const size = Math.floor(Math.min(...fitted().map((one) => one.size)));
    return size < leastSize ? size : leastSize * step ** Math.floor(Math.log(size / leastSize) / Math.log(step) + 1e-6);
  };
  const size = createMemo(() => Math.max(leastSize, fittingSize()));
  const isBelow = () => fitted().some((one) => one.isBelow);
  const text = () => (/\s/.test(props.text) ? fitWithUnit(props.text).lines.join('\n') : props.text);
  const tone = createMemo(() => props.tone);
  return (
    <span
      class="fit"
      classList={{ tight: fittingSize() < leastSize }}
      ref={box}
      title={props.live ? undefined : props.text}
      onPointerEnter={(event) => props.live && showWhole(event)}
    >
      <Dynamic
        component={props.live ? 'output' : 'span'}
        class="big"
        aria-live={props.live}
        data-tone={tone()}
        style={{ 'font-size': `${size()}px` }}
      >
        <LiveText text={text()} />
        <Show when={props.unit}>
          <small>
            {isBelow() ? '\n' : ' '}
            {props.unit}
          </small>
        </Show>
      </Dynamic>
    </span>
  );
}
