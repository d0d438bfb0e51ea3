// One parameter: its current value, a control for setting it, its values over the last hour, and links.
import { createEffect, createSignal, Index, lazy, Match, on, Show, Suspense, Switch } from 'solid-js';
import type { About, Value, ValueType } from '../../client/index.ts';
import { pathOf } from '../../model/address.ts';
import type { Access } from '../../model/parameter.ts';
import { writerName } from '../../model/writer.ts';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import type { PlainWrite } from '../../wire/plain.ts';
import { RulesOf } from '../flows/rule-text.tsx';
import { hourMs, paramsOf, type Timeframe } from '../history/time/timeframe.ts';
import { readableRate } from '../hub/live-cells.ts';
import { mayEdit, ownAccess, whyReadOnly } from '../hub/me.ts';
import { copyText } from '../page/clipboard.ts';
import { linkTo } from '../page/route.ts';
import { formatClock, formatDate, formatValue } from '../page/units.ts';
import { Guarded } from '../parts/guarded.tsx';
import { Icon, Since } from '../parts/state-mark.tsx';
import { Breakable, LiveText } from '../parts/text.tsx';
import { Editor, type EditorProps } from './edit/editor.tsx';
import { useLiveRows } from './list/live-window.ts';
import { typeNames } from './list/row.tsx';
import { isPinned, switchPin } from './recordings.ts';

/** Whether the details cover everything else, as on a phone. */
const covers = matchMedia('(max-width: 700px)');

const Timeline = lazy(async () => ({ default: (await import('../history/timeline.tsx')).Timeline }));
const LabelForm = lazy(() => import('./edit/label.tsx'));
const RenameForm = lazy(() => import('./edit/uses.tsx'));
const UsedBy = lazy(async () => ({ default: (await import('./edit/uses.tsx')).UsedBy }));
const plotPx = 200;
/** The timeframe that the plot of a parameter shows at first. */
const home: Timeframe = { lastMs: hourMs };

export function Detail(props: {
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly onClose: () => void;
}) {
  const [frame, setFrame] = createSignal(home);
  const [form, setForm] = createSignal<'label' | 'name'>();
  createEffect(
    on(
      () => props.address,
      () => setForm(undefined),
      { defer: true },
    ),
  );
  const find = useLiveRows(() => [props.address], { rate: readableRate, settleMs: 0 });
  const value = () => find(props.address)?.value();
  const info = () => find(props.address)?.info();
  const about = () => find(props.address)?.about();
  const isPlottable = () => props.type === 'B' || props.type === 'I' || props.type === 'F';
  return (
    <aside
      ref={(aside) => queueMicrotask(() => covers.matches && aside.focus())}
      tabIndex={-1}
      class="detail"
      aria-label={props.address}
      onKeyDown={(event) => event.key === 'Escape' && props.onClose()}
    >
      <Heading address={props.address} isPlottable={isPlottable()} onClose={props.onClose} />
      <p class="muted">
        {typeNames[props.type]}, {ownAccess(props.address, props.access)}
      </p>
      <Show when={props.type !== 'T'}>
        <output class="big mono live" classList={{ muted: value() === undefined }}>
          <LiveText text={find(props.address) ? textOf(value(), about()?.unit) : ''} />
        </output>
      </Show>
      <Show when={find(props.address)?.wanted() !== undefined}>
        <p class="muted" role="status">
          → {textOf(find(props.address)?.wanted(), about()?.unit)}: not confirmed by the device yet
        </p>
      </Show>
      <Show when={about()}>{(known) => <Metadata about={known()} />}</Show>
      <Show when={mayEdit() && whyReadOnly(props.address) === ''}>
        <Suspense>
          <Switch
            fallback={
              <p>
                <button type="button" onClick={() => setForm('label')}>
                  Edit label
                </button>{' '}
                <button type="button" onClick={() => setForm('name')}>
                  Rename
                </button>
              </p>
            }
          >
            <Match when={form() === 'label'}>
              <LabelForm address={props.address} about={about()} close={() => setForm(undefined)} />
            </Match>
            <Match when={form() === 'name'}>
              <RenameForm address={props.address} close={() => setForm(undefined)} />
            </Match>
          </Switch>
        </Suspense>
      </Show>
      <Show when={info()?.time}>{(time) => <LastChange time={time()} origin={info()?.origin} />}</Show>
      <p>
        <a href={linkTo('why', { address: props.address })}>Why this value?</a>{' '}
        <a href={linkTo('history', { address: props.address, ...(frame() !== home && paramsOf(frame())) })}>History</a>
      </p>
      <Show when={find(props.address)?.staleSince()}>{(since) => <StaleNote since={since()} hub={info()?.hub} />}</Show>
      <Editor address={props.address} type={props.type} access={props.access} value={value()} />
      <Show when={isPlottable()}>
        <div class="plot">
          <Guarded changed={frame}>
            <Suspense>
              <Timeline
                address={props.address}
                type={props.type}
                frame={frame()}
                home={home}
                height={plotPx}
                hasStrip={false}
                move={setFrame}
              />
            </Suspense>
          </Guarded>
        </div>
      </Show>
      <RulesOf address={props.address} isWritable={props.access !== 'read-only'} />
      <Suspense>
        <UsedBy address={props.address} />
      </Suspense>
      <CopyLines
        address={props.address}
        type={props.type}
        access={ownAccess(props.address, props.access)}
        value={value()}
      />
    </aside>
  );
}

function textOf(value: Value | undefined, unit = ''): string {
  if (typeof value === 'string') return value;
  return value === undefined ? 'unknown' : `${formatValue(value)} ${unit}`.trim();
}

/** Shows the metadata of a parameter: `Mic 1, −90 to 10 dB`, the description, and the choices. */
function Metadata(props: { readonly about: About }) {
  const range = () => {
    const { min, max, unit } = props.about;
    if (min === undefined && max === undefined) return unit;
    return `${min ?? '…'} to ${max ?? '…'} ${unit ?? ''}`.trim();
  };
  const choices = () => Object.entries(props.about.choices ?? {}).map(([name, value]) => `${value}: ${name}`);
  const lines = () =>
    [
      [props.about.label, range()].filter((part) => part !== undefined).join(', '),
      props.about.description ?? '',
      choices().join(', '),
    ].filter((line) => line !== '');
  return (
    <p class="about">
      <Index each={lines()}>
        {(line) => (
          <span>
            {line()}
            <br />
          </span>
        )}
      </Index>
    </p>
  );
}

function Heading(props: { readonly address: string; readonly isPlottable: boolean; readonly onClose: () => void }) {
  return (
    <header>
      <h2 class="mono">
        <Breakable text={props.address} />
      </h2>
      <Show when={props.isPlottable}>
        <button
          type="button"
          class="quiet"
          aria-pressed={isPinned(props.address)}
          aria-label="Pin"
          title="Pin: keep in view and record"
          onClick={() => switchPin(props.address)}
        >
          <Icon path="M9 4h6l-.5 6 3.5 3.5H6L9.5 10zM12 13.5V20" />
        </button>
      </Show>
      <button type="button" class="quiet" aria-label="Close" title="Close (Esc)" onClick={() => props.onClose()}>
        <Icon path="M6 6l12 12M18 6L6 18" />
      </button>
    </header>
  );
}

/** Shows the time and writer of the last change of a parameter. */
function LastChange(props: { readonly time: string; readonly origin: ParameterInfo['origin'] }) {
  return (
    <p class="muted">
      <time datetime={props.time} title={formatDate(props.time)}>
        {formatClock(props.time)}
      </time>{' '}
      {props.origin?.kind === 'restored' ? 'restored by' : `by ${props.origin?.kind}`}{' '}
      <strong>
        <Breakable text={props.origin ? writerName(props.origin) : ''} />
      </strong>
    </p>
  );
}

function StaleNote(props: { readonly since: number; readonly hub: ParameterInfo['hub'] }) {
  return (
    <p role="status" class="stale-note">
      <strong>
        Stale
        <Since time={props.since} />:
      </strong>{' '}
      {props.hub === undefined
        ? 'the device is offline'
        : `the hub ${props.hub} cannot be reached, or the device is offline`}
      . The value may be outdated and cannot be set here.
    </p>
  );
}

// Lines for copying: the address, and commands that read and set the parameter.

function CopyLines(props: EditorProps) {
  const lines = () => linesOf(props);
  const [copied, setCopied] = createSignal('');
  return (
    <section class="copies" aria-label="Copy">
      <Index each={lines()}>
        {(line) => (
          <div class="copy">
            <span class="muted">{line()[0]}</span>
            <code class="truncate" onMouseEnter={({ currentTarget }) => (currentTarget.title = line()[1])}>
              <LiveText text={line()[1]} />
            </code>
            <button
              type="button"
              aria-label={`Copy ${line()[0]}`}
              onClick={async () => setCopied((await copyText(line()[1])) ? line()[0] : '')}
            >
              {copied() === line()[0] ? 'Copied' : 'Copy'}
            </button>
          </div>
        )}
      </Index>
    </section>
  );
}

function linesOf({ address, type, access, value }: EditorProps): [name: string, line: string][] {
  const example = value ?? (type === 'B' || type === 'T' ? true : type === 'S' ? '' : 0);
  const update = new URLSearchParams({ parameter: address, value: String(example) });
  const read: [string, string] = ['curl, read', `curl ${quote(`${location.origin}/parameters/${pathOf(address)}`)}`];
  const write: [string, string] = ['curl, set', `curl ${quote(`${location.origin}/update?${update}`)}`];
  return [
    ['address', address],
    ...(type === 'T' ? [] : [read]),
    ...(access === 'read-only' ? [] : [write]),
    ['WebSocket', JSON.stringify({ p: address, v: example } satisfies PlainWrite)],
  ];
}

/** Quotes a string for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
