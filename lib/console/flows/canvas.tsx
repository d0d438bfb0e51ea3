// Draws the graph: boxes above lines, on a plane that pans and zooms. Only values in view are followed.

import {
  type Accessor,
  createEffect,
  createMemo,
  createSignal,
  For,
  on,
  onCleanup,
  onMount,
  Show,
  untrack,
} from 'solid-js';
import { counted } from '../../model/digits.ts';
import { createLiveValues, type LiveValues } from '../hub/live-values.ts';
import { listenToKeys, listenToPointers, type Point } from '../page/gestures.ts';
import { navigate } from '../page/route.ts';
import { formatValue } from '../page/units.ts';
import { Guarded } from '../parts/guarded.tsx';
import { StaleMark, StateMark } from '../parts/state-mark.tsx';
import type { GraphNode } from './flow-graph.ts';
import type { Box, Drawing, Line } from './graph-layout.ts';
import { type RuleGroup, rulesIn } from './rule-groups.ts';
import type { Installation } from './shown-installation.ts';

/** The maximum number of updates per second of a value in the drawing. */
const rate = 4;
/** The minimum scale at which text is readable. At smaller scales, values are not followed. */
const readableScale = 0.4;
/**
 * The minimum scale with which a drawing is first shown, at which a 13-pixel font is 11 pixels high. If the whole graph fits into the view
 * at this scale, it is shown as a whole.
 */
const comfortableScale = 0.85;
/** The margin around a box that is moved into view, in pixels. */
const marginPx = 24;

interface CanvasProps {
  readonly drawing: Drawing;
  readonly context: Omit<BoxContext, 'values'>;
}

export default function Canvas(props: CanvasProps) {
  let frame!: HTMLElement;
  let moves!: PanZoom;
  /** Moves a box completely into view, at a readable scale. */
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
      aria-label="Graph of rules. Arrow keys move, plus and minus zoom, 0 shows all. The list shows the same content."
      role="application"
      tabIndex={0}
    >
      <Plane {...props} moves={() => moves} frame={() => frame} showAll={showAll} show={show} />
      <div class="zoom">
        <button type="button" aria-label="Zoom in" onClick={() => moves.zoom(1.25)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => moves.zoom(0.8)}>
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

/** Returns the addresses of the boxes in view, or no addresses while values are not readable. */
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

/** Fits each new drawing into the view, and keeps the selected rule in view. */
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
    let [width, height] = [0, 0];
    const observer = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = props.frame();
      props.moves().place({ ...props.moves().placement() }); // the visible part of the plane has changed
      if (clientWidth < width || clientHeight < height) showChosen(); // for example because the panel of the rule has opened
      [width, height] = [clientWidth, clientHeight];
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

/** A line of the graph, which lights up when its value changes. */
function Edge(props: { readonly line: Line; readonly context: BoxContext }) {
  let path!: SVGPathElement;
  const { edge } = props.line;
  const rule = edge.from.startsWith('r ') ? edge.from.slice(2) : edge.to.startsWith('r ') ? edge.to.slice(2) : '';
  const isOff = () => rule !== '' && props.context.installation.ruleOf(rule)?.enabled === false;
  if (edge.address !== undefined) {
    const { moves } = props.context.values.of(edge.address);
    createEffect(on(moves, () => isOff() || pulse(path), { defer: true }));
  }
  return <path ref={path} class="edge" classList={{ off: isOff() }} d={props.line.path} marker-end="url(#arrow)" />;
}

// Pans and zooms by mouse and wheel, with one or two fingers, and by keys.

export interface Placement {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const leastScale = 0.1;
const largestScale = 2.5;
const keyStep = 80;
const keyZoom = 1.25;

export interface PanZoom {
  readonly placement: Accessor<Placement>;
  place(placement: Placement): void;
  /** Zooms around the centre of the view. */
  zoom(factor: number): void;
}

/** Turns an element into the viewport of a plane until the calling reactive scope is disposed. `fit` is called to show the whole plane. */
export function createPanZoom(element: HTMLElement, fit: () => void): PanZoom {
  const [placement, place] = createSignal<Placement>({ x: 0, y: 0, scale: 1 });
  const pan = (dx: number, dy: number) => place(({ x, y, scale }) => ({ x: x + dx, y: y + dy, scale }));
  const zoomAt = (at: Point, factor: number) =>
    place(({ x, y, scale }) => {
      const next = Math.min(largestScale, Math.max(leastScale, scale * factor));
      const ratio = next / scale;
      return { x: at.x - (at.x - x) * ratio, y: at.y - (at.y - y) * ratio, scale: next };
    });
  const zoom = (factor: number) => zoomAt({ x: element.clientWidth / 2, y: element.clientHeight / 2 }, factor);
  listenToPointers(element, { pan, zoomAt });
  listenToKeys(element, {
    ArrowLeft: () => pan(keyStep, 0),
    ArrowRight: () => pan(-keyStep, 0),
    ArrowUp: () => pan(0, keyStep),
    ArrowDown: () => pan(0, -keyStep),
    '+': () => zoom(keyZoom),
    '-': () => zoom(1 / keyZoom),
    '0': fit,
  });
  return { placement, place, zoom };
}

// Animates changes: a line or a label lights up when its value has changed, and then fades.

const fadeMs = 700;
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** Highlights a line for a moment. If the user prefers reduced motion, the line becomes thick instead of being animated. */
export function pulse(line: SVGPathElement): void {
  const length = line.getTotalLength();
  const lit = { stroke: 'var(--accent)', strokeWidth: '3px' };
  line.animate(
    calm.matches
      ? [lit, lit]
      : [
          { ...lit, strokeDasharray: `0 ${length} ${length}` },
          { ...lit, strokeDasharray: `${length} 0 ${length}`, offset: 0.5 },
          { strokeDasharray: `${length} 0 ${length}` },
        ],
    { duration: fadeMs, easing: 'ease-out' },
  );
}

/** Restarts the animation that a CSS class causes on an element. */
export function restartAnimation(element: Element, name: string): void {
  const running = element.getAnimations();
  element.classList.add(name);
  for (const animation of running) {
    animation.cancel();
    animation.play();
  }
}

// The boxes of the graph: rules, closed groups of rules, parameters with their live values, and connections.

export interface BoxContext {
  readonly installation: Installation;
  readonly values: LiveValues;
  readonly groupOf: (id: string) => RuleGroup | undefined;
  readonly selectedRule: () => string | undefined;
  selectRule(key: string): void;
  openGroup(id: string): void;
}

/** The content of a box of the graph. A press on the content opens the box. */
export function BoxContent(props: { readonly node: GraphNode; readonly context: BoxContext }) {
  const { node, context } = props;
  switch (node.kind) {
    case 'rule':
      return <RuleBox rule={node.rule} work={node.work} context={context} />;
    case 'group':
      return <GroupBox group={node.group} context={context} />;
    case 'parameter':
      return <ParameterBox address={node.address} context={context} />;
    case 'connection':
      return <ConnectionBox connection={node.connection} makes={node.makes} context={context} />;
  }
}

function RuleBox(props: { readonly rule: string; readonly work: string; readonly context: BoxContext }) {
  const rule = () => props.context.installation.ruleOf(props.rule);
  return (
    <button
      type="button"
      class="box rule"
      classList={{ off: rule()?.enabled === false || rule()?.shadow }}
      aria-pressed={props.context.selectedRule() === props.rule}
      onClick={() => props.context.selectRule(props.rule)}
    >
      <span class="truncate" title={rule()?.name}>
        {rule()?.name}
      </span>
      <Show when={props.work}>
        <code class="work truncate" title={props.work}>
          {props.work}
        </code>
      </Show>
      <Show when={rule()?.shadow}>
        <StateMark state="in shadow" />
      </Show>
      <Show when={rule()?.state !== 'running'}>
        <StateMark state={rule()?.state ?? ''} />
      </Show>
    </button>
  );
}

function GroupBox(props: { readonly group: string; readonly context: BoxContext }) {
  const group = () => props.context.groupOf(props.group);
  const keys = createMemo(() => {
    const found = group();
    return found ? rulesIn(found) : [];
  });
  const failingCount = () => keys().filter(({ state }) => state === 'failing' || state === 'limited').length;
  return (
    <button type="button" class="box group" onClick={() => props.context.openGroup(props.group)} title="Open">
      <strong class="truncate" title={group()?.title}>
        {group()?.title}
      </strong>
      <span class="muted">
        {counted(keys().length, 'rule')}
        <Show when={failingCount() > 0}>
          , <span class="error">{failingCount()} failing</span>
        </Show>
      </span>
    </button>
  );
}

function ParameterBox(props: { readonly address: string; readonly context: BoxContext }) {
  const { value, moves, kind, staleSince } = props.context.values.of(props.address);
  const [connection, ...rest] = props.address.split('/');
  const state = () => props.context.installation.connectionOf(connection!)?.state ?? 'running';
  let label!: HTMLOutputElement;
  createEffect(on(moves, () => restartAnimation(label, 'flash'), { defer: true }));
  const shown = () => (kind()?.type === 'T' ? '⚡' : formatValue(value()));
  return (
    <button
      type="button"
      class="box parameter"
      onClick={() => navigate('parameters', { address: props.address })}
      title={props.address}
    >
      <span class="connection truncate">
        {connection}
        <Show when={state() !== 'running' && staleSince() === undefined}>
          {' '}
          <StateMark state={state()} />
        </Show>{' '}
        <StaleMark since={staleSince} />
      </span>
      <span class="pair">
        <span class="truncate" title={rest.join('/')}>
          {rest.join('/')}
        </span>
        <output class="live" ref={label}>
          {shown()}
        </output>
      </span>
    </button>
  );
}

function ConnectionBox(props: {
  readonly connection: string;
  readonly makes: string | undefined;
  readonly context: BoxContext;
}) {
  const status = () => props.context.installation.connectionOf(props.connection);
  return (
    <button
      type="button"
      class="box connection-box"
      onClick={() => navigate('connections', { search: props.connection })}
    >
      <strong class="truncate" title={props.connection}>
        {props.connection}
      </strong>
      <Show when={status()} fallback={<small>connection</small>}>
        {(known) => (
          <Show
            when={known().state !== 'running'}
            fallback={
              <small class="truncate" title={props.makes}>
                {[known().type, props.makes].filter(Boolean).join(': ')}
              </small>
            }
          >
            <StateMark state={known().state} />
          </Show>
        )}
      </Show>
    </button>
  );
}
