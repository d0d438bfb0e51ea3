// The drawing of the graph: boxes over lines, on a plane that people move over. It follows only values that are in view.

import { type Accessor, createEffect, createMemo, For, on, onCleanup, onMount, untrack } from 'solid-js';
import { createLiveValues } from '../hub/live-values.ts';
import { Guarded } from '../parts/guarded.tsx';
import { BoxContent, type BoxContext } from './boxes.tsx';
import type { Box, Drawing, Line } from './layout.ts';
import { createPanZoom, type PanZoom } from './pan-zoom.ts';
import { pulse } from './pulse.ts';

/** How often a second a value may change in the drawing. */
const rate = 4;
/** Nobody can read smaller text, so its values are not followed. */
const readableScale = 0.4;
/** At first the whole graph is in view, but never smaller than this: letters of 13 pixels then have 11. */
const comfortableScale = 0.85;
/** The room between the edge and a box that is brought into view. */
const marginPx = 24;

interface CanvasProps {
  readonly drawing: Drawing;
  readonly context: Omit<BoxContext, 'values'>;
}

export default function Canvas(props: CanvasProps) {
  let frame!: HTMLElement;
  let moves!: PanZoom;
  /** Moves to a box that is not wholly in view, and makes it readable. */
  const show = (box: Box) => {
    const { x, y, scale: present } = moves.placement();
    const scale = Math.max(present, comfortableScale);
    const { clientWidth, clientHeight } = frame;
    const isWithin = (middle: number, extent: number, length: number) =>
      middle - extent / 2 >= marginPx && middle + extent / 2 <= length - marginPx;
    const isSeen =
      isWithin(box.x * scale + x, box.width * scale, clientWidth) &&
      isWithin(box.y * scale + y, box.height * scale, clientHeight);
    if (isSeen && scale === present) return;
    moves.place({ x: clientWidth / 2 - box.x * scale, y: clientHeight / 2 - box.y * scale, scale });
  };
  const showAll = (least = 0.1) => {
    const { width, height } = props.drawing;
    const scale = Math.min(1, Math.max(least, Math.min(frame.clientWidth / width, frame.clientHeight / height)));
    moves.place({
      x: Math.max(0, (frame.clientWidth - width * scale) / 2),
      y: Math.max(0, (frame.clientHeight - height * scale) / 2),
      scale,
    });
  };

  return (
    <div
      class="canvas"
      ref={(element) => {
        frame = element;
        moves = createPanZoom(element, showAll);
      }}
      aria-label="Graph of rules. Arrow keys move, plus and minus zoom, 0 shows all. The list tells the same."
      role="application"
      tabIndex={0}
    >
      <Plane {...props} moves={() => moves} frame={() => frame} showAll={showAll} show={show} />
      <div class="zoom">
        <button type="button" aria-label="Larger" onClick={() => moves.zoom(1.25)}>
          +
        </button>
        <button type="button" aria-label="Smaller" onClick={() => moves.zoom(0.8)}>
          −
        </button>
        <button type="button" aria-label="Show all" onClick={() => showAll()}>
          ⤢
        </button>
      </div>
    </div>
  );
}

interface PlaneProps extends CanvasProps {
  readonly moves: () => PanZoom;
  readonly frame: () => HTMLElement;
  showAll(least?: number): void;
  show(box: Box): void;
}

function Plane(props: PlaneProps) {
  const placement = () => props.moves().placement();
  const values = createLiveValues(useAddressesInView(props), () => rate);
  const context: BoxContext = { ...untrack(() => props.context), values };
  followChosen(props);
  return (
    <div
      class="plane"
      style={{ transform: `translate(${placement().x}px, ${placement().y}px) scale(${placement().scale})` }}
    >
      <svg width={props.drawing.width} height={props.drawing.height} aria-hidden="true">
        <Arrow />
        <For each={props.drawing.lines}>{(line) => <Edge line={line} context={context} />}</For>
      </svg>
      <For each={props.drawing.boxes}>
        {(box) => (
          <div
            class="place"
            style={{
              left: `${box.x - box.width / 2}px`,
              top: `${box.y - box.height / 2}px`,
              width: `${box.width}px`,
              height: `${box.height}px`,
            }}
          >
            <Guarded changed={() => JSON.stringify(box.node)}>
              <BoxContent node={box.node} context={context} />
            </Guarded>
          </div>
        )}
      </For>
    </div>
  );
}

/** The addresses of the boxes in view; none while nobody could read their values. */
function useAddressesInView(props: PlaneProps): Accessor<readonly string[]> {
  return createMemo(
    () => {
      const { x, y, scale } = props.moves().placement();
      const { clientWidth, clientHeight } = props.frame();
      if (scale < readableScale) return [];
      const isSeen = (box: Box) =>
        Math.abs(box.x * scale + x - clientWidth / 2) < (clientWidth + box.width * scale) / 2 &&
        Math.abs(box.y * scale + y - clientHeight / 2) < (clientHeight + box.height * scale) / 2;
      return props.drawing.boxes.flatMap((box) =>
        box.node.kind === 'parameter' && isSeen(box) ? [box.node.address] : [],
      );
    },
    [],
    { equals: (one, other) => one.join('\n') === other.join('\n') },
  );
}

/** Shows all of a new drawing, and keeps the chosen rule in view. */
function followChosen(props: PlaneProps): void {
  const chosen = () => {
    const key = props.context.selectedRule();
    return key && props.drawing.boxes.find(({ node }) => node.kind === 'rule' && node.rule === key);
  };
  const showChosen = () => {
    const box = chosen();
    if (box) props.show(box);
  };
  onMount(() => {
    createEffect(
      on(
        () => props.drawing,
        () => props.showAll(comfortableScale),
      ),
    );
    createEffect(on(chosen, showChosen));
    let width = 0;
    const observer = new ResizeObserver(() => {
      props.moves().place({ ...props.moves().placement() }); // the view has another part of it
      if (props.frame().clientWidth < width) showChosen(); // the panel of the rule opened beside it
      width = props.frame().clientWidth;
    });
    observer.observe(props.frame());
    onCleanup(() => observer.disconnect());
  });
}

function Arrow() {
  return (
    <defs>
      <marker
        id="arrow"
        viewBox="0 0 8 8"
        refX="7"
        refY="4"
        markerUnits="userSpaceOnUse"
        markerWidth="10"
        markerHeight="10"
        orient="auto"
      >
        <path d="M0 0L8 4L0 8z" />
      </marker>
    </defs>
  );
}

/** A line lights up when the value that moves along it changes. */
function Edge(props: { readonly line: Line; readonly context: BoxContext }) {
  let path!: SVGPathElement;
  const { edge } = props.line;
  const rule = edge.from.startsWith('r ') ? edge.from.slice(2) : edge.to.startsWith('r ') ? edge.to.slice(2) : '';
  const isOff = () => props.context.installation.ruleOf(rule)?.enabled === false;
  if (edge.address !== undefined) {
    const { moves } = props.context.values.of(edge.address);
    createEffect(on(moves, () => isOff() || pulse(path), { defer: true }));
  }
  return <path ref={path} class="edge" classList={{ off: isOff() }} d={props.line.path} marker-end="url(#arrow)" />;
}
