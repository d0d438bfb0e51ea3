// The page of a hosted driver module: its state, its config, its variables, feedbacks and actions, and the map, which turns these into
// parameters.

import { createEffect, createMemo, createResource, createSignal, For, on, Show } from 'solid-js';
import { counted } from '../../model/digits.ts';
import { messageOf } from '../../model/error.ts';
import type { DriverAnswer } from '../../wire/http/driver-shapes.ts';
import type { ConnectionList } from '../../wire/http/operation.ts';
import { createEditCheck } from '../editor/item-form.tsx';
import { SavePanel } from '../editor/save-panel.tsx';
import { sendEdit } from '../editor/source-file.ts';
import { readableRate } from '../hub/live-cells.ts';
import { createLiveValues } from '../hub/live-values.ts';
import { getJson } from '../hub/page-request.ts';
import { usePolled, usePolling } from '../hub/polled.ts';
import { formatCount } from '../language/language.ts';
import { letterScale, useMedia } from '../page/media.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatClock, formatSpan, formatValue, useNow } from '../page/units.ts';
import { rowId, VirtualList } from '../parameters/list/row.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { Fault, isSought, Search, searched } from '../parts/view-bar.tsx';
import { DriverField, suggestionOf } from './driver-field.tsx';
import { createDriverMap, type DriverMap, type Settings } from './driver-map.ts';
import ItemForm, { type Kind, keyOf } from './item-form.tsx';

const kinds = ['variables', 'feedbacks', 'actions'] as const;
const tabs = ['module', 'map', ...kinds] as const;
const rowPx = 28;
const tallRowPx = 46;
/** The number of items that are requested before and after the visible items. */
const margin = 20;
const mostAsked = 200;
const everyMs = 1000;
/** The maximum number of parameters in the map that are drawn. All other parameters can be found with the search. */
const mostDrawn = 200;

const titleOf = (tab: string) => tab[0]!.toUpperCase() + tab.slice(1);
const pathOf = (id: string, query: Readonly<Record<string, string | number>>) =>
  `/hub/drivers/${encodeURIComponent(id)}?${new URLSearchParams(Object.entries(query).map(([key, one]) => [key, String(one)]))}`;

export default function Driver() {
  const id = () => route().params.connection ?? '';
  const tab = () => tabs.find((one) => one === route().params.as) ?? 'module';
  const kind = () => kinds.find((one) => one === tab());
  const map = createDriverMap(id);
  const [range, setRange] = createSignal<readonly [number, number]>([0, 0]);
  const { answer, answeredKind, fault } = useDriver(() => {
    const [from, to] = range();
    const first = Math.max(0, from - margin);
    return pathOf(id(), {
      kind: kind() ?? 'variables',
      search: kind() ? searched() : '',
      from: first,
      count: kind() ? Math.min(mostAsked, to - first + margin) : 0,
    });
  });
  const { data } = usePolled<ConnectionList>('/hub/connections');
  const status = () => data()?.connections.find((one) => one.id === id());
  const [note, setNote] = createSignal('');
  const check = createEditCheck(map.edits);
  createEffect(on(map.count, (count) => count > 0 && setNote('')));
  return (
    <>
      <div class="bar">
        <h1>Driver {id()}</h1>
        <Show when={status()}>{(known) => <StateMark state={known().state} />}</Show>
        <div class="tabs" role="group" aria-label="Parts">
          <For each={tabs}>
            {(one) => (
              <button
                type="button"
                class="chip"
                aria-pressed={tab() === one}
                onClick={() => setParams({ as: one, item: undefined, change: undefined, search: undefined })}
              >
                {titleOf(one)}
              </button>
            )}
          </For>
        </div>
        <Show when={tab() !== 'module'}>
          <Search label={`Search ${tab()}`} placeholder="Search by ID or name" />
        </Show>
      </div>
      <Fault text={data() && !status() ? `There is no connection ${id()}.` : fault()} />
      <Show when={map.count() > 0 && tab() !== 'map'}>
        <p class="note unsaved" role="status">
          {counted(map.count(), 'change')} not saved yet.{' '}
          <button
            type="button"
            class="main"
            onClick={() => setParams({ as: 'map', item: undefined, search: undefined })}
          >
            Review and apply
          </button>
        </p>
      </Show>
      <div class="driver parameters">
        <Show when={tab() === 'module'}>
          <div class="scroll" tabIndex={-1}>
            <Show when={status()?.reason}>
              <p class="note error">{status()!.reason}</p>
            </Show>
            <Show when={answer()}>
              {(known) => (
                <>
                  <Facts answer={known()} />
                  <Config answer={known()} map={map} />
                </>
              )}
            </Show>
            <Help />
          </div>
        </Show>
        <Show when={tab() === 'map'}>
          <div class="scroll" tabIndex={-1}>
            <Parameters id={id()} map={map} />
            <Show when={map.whyNot() === ''} fallback={<p class="note">{map.whyNot()}</p>}>
              <div class="sheet">
                <SavePanel
                  hint="Choose variables, feedbacks and actions to add parameters."
                  note={note()}
                  setNote={setNote}
                  answer={check.answer()}
                  isChanged={map.count() > 0}
                  failure={check.failure()}
                  send={async (mode, comment) => sendEdit(map.edits(), mode, comment)}
                  rebase={() => {
                    check.forget();
                    map.reread();
                  }}
                  discard={map.discard}
                  saved={() => {
                    map.discard();
                    map.reread();
                  }}
                />
              </div>
            </Show>
          </div>
        </Show>
        <Show when={kind()} keyed>
          {(shown) => (
            <Offers
              kind={shown}
              answer={answeredKind() === shown ? answer() : undefined}
              from={Math.max(0, range()[0] - margin)}
              map={map}
              onRange={(from, to) => setRange([from, to])}
            />
          )}
        </Show>
        <Show when={map.whyNot() === '' && kind() && route().params.item && `${kind()} ${route().params.item}`} keyed>
          <Chosen id={id()} kind={kind()!} item={route().params.item!} map={map} />
        </Show>
      </div>
    </>
  );
}

/** Follows the module. An answer stays until the next answer, even if the path changes. */
function useDriver(path: () => string) {
  const [answer, setAnswer] = createSignal<DriverAnswer>();
  const [answeredKind, setAnsweredKind] = createSignal<string | null>();
  const [fault, setFault] = createSignal('');
  const poll = usePolling(
    async (isWanted) => {
      const asked = path();
      try {
        const found = await getJson<DriverAnswer>(asked);
        if (!isWanted() || asked !== path()) return;
        setAnsweredKind(new URLSearchParams(asked.split('?')[1]).get('kind'));
        setAnswer(found);
        setFault('');
      } catch (error) {
        setFault(messageOf(error));
      }
    },
    () => everyMs,
  );
  createEffect(on(path, poll));
  return { answer, answeredKind, fault };
}

function Facts(props: { readonly answer: DriverAnswer }) {
  const now = useNow();
  const facts = (): readonly (readonly [string, string])[] => {
    const { module: about, status, startedAt, restarts, usedMiB, limitMiB } = props.answer;
    const all: readonly (readonly [string, string | undefined])[] = [
      ['Module', about && `${about.name || about.id} ${about.version}`],
      ['Devices', about && [about.manufacturer, about.products.join(', ')].filter(Boolean).join(': ')],
      ['API', about?.apiVersion],
      ['Status', status || 'not reported yet'],
      ['Running', startedAt === undefined ? 'no' : `for ${formatSpan(now() - Date.parse(startedAt))}`],
      ['Restarts', String(restarts)],
      ['Memory', `${usedMiB ?? '–'} of ${limitMiB} MiB`],
    ];
    return all.filter((fact): fact is readonly [string, string] => Boolean(fact[1]));
  };
  return (
    <>
      <dl class="facts">
        <For each={facts()}>
          {([name, text]) => (
            <>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </>
          )}
        </For>
      </dl>
      <details class="note">
        <summary>Log, {counted(props.answer.log.length, 'entry', 'entries')}</summary>
        <pre class="mono" tabIndex={0}>
          {props.answer.log.map(({ time, level, text }) => `${formatClock(time)}  ${level}  ${text}\n`).join('')}
        </pre>
      </details>
    </>
  );
}

const looksLikeHost = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:\d+(?:\.\d+){3}|[\da-z-]+(?:\.[\da-z-]+)+|localhost)$/i.test(value);

/** The form for the config. Missing fields show the module's suggestions. */
function Config(props: { readonly answer: DriverAnswer; readonly map: DriverMap }) {
  const { map } = props;
  const config = () => map.entries('config');
  const ids = createMemo(() => (props.answer.config ?? []).map(({ id }) => id).join('\n'));
  const fields = createMemo(on(ids, () => props.answer.config ?? []));
  const isMissing = (id: string) => props.answer.missing.includes(id) && !Object.hasOwn(config(), id);
  const lacking = () => fields().filter(({ id, type }) => isMissing(id) && !type.startsWith('secret'));
  const hosts = () => [...new Set(Object.values(config()).filter(looksLikeHost))];
  const denied = () => hosts().filter((host) => !map.allowHosts().includes(host));
  return (
    <Show when={fields().length > 0 && map.whyNot() === ''} fallback={<p class="note">{map.whyNot()}</p>}>
      <section class="panel config" aria-label="Config">
        <h2>Config</h2>
        <Show when={lacking().length > 0}>
          <p>
            <button
              type="button"
              onClick={() =>
                map.set('config', Object.fromEntries(lacking().map((field) => [field.id, suggestionOf(field)])))
              }
            >
              Use the suggested values
            </button>
          </p>
        </Show>
        <div class="item-fields">
          <For each={fields()}>
            {(field) => (
              <DriverField
                field={field}
                value={config()[field.id]}
                isMissing={isMissing(field.id)}
                choose={(value) => map.set('config', { [field.id]: value })}
              />
            )}
          </For>
          <label>
            <span>Hosts to which the module may connect</span>
            <input
              type="text"
              class="mono"
              placeholder="none"
              value={map.allowHosts().join(', ')}
              onChange={({ currentTarget: { value } }) => map.setHosts(value.split(/[\s,]+/).filter(Boolean))}
            />
          </label>
          <For each={denied()}>
            {(host) => (
              <p>
                <button type="button" onClick={() => map.setHosts([...map.allowHosts(), host])}>
                  Allow {host}
                </button>
              </p>
            )}
          </For>
        </div>
      </section>
    </Show>
  );
}

function Help() {
  return (
    <details class="note">
      <summary>Other modules</summary>
      <p>
        Run <code>patchbay drivers add FILE.tgz</code> in the folder of the flow files. The command checks the module
        and copies it to the folder <code>drivers</code>. Then add a connection:
      </p>
      <code>{'mixer: { type: "companion", module: "drivers/FILE.tgz" }'}</code>
    </details>
  );
}

// The map: parameters, each with the variable, feedback or action behind it.

const partOf = (settings: Settings): readonly [Kind, string] | undefined => {
  const kind = kinds.find((one) => settings[keyOf(one)] !== undefined);
  return kind && [kind, String(settings[keyOf(kind)])];
};

function Parameters(props: { readonly id: string; readonly map: DriverMap }) {
  const { map } = props;
  const rows = createMemo(() =>
    (['values', 'writes'] as const)
      .flatMap((part) =>
        Object.entries(map.entries(part)).map(([name, entry]) => ({ part, name, entry: entry as Settings })),
      )
      .filter(({ name, entry }) => isSought(name, JSON.stringify(entry))),
  );
  const drawn = createMemo(() => rows().slice(0, mostDrawn));
  const addresses = createMemo(() => drawn().map(({ name }) => `${props.id}/${name}`));
  const live = createLiveValues(addresses, () => readableRate);
  const about = ({ options }: Settings) =>
    Object.entries((options ?? {}) as Settings)
      .map(([option, value]) => `${option}: ${String(value)}`)
      .join(', ');
  return (
    <>
      <table class="cards" aria-label="Parameters">
        <tbody>
          <For each={drawn()}>
            {({ part, name, entry }) => {
              const [kind, item] = partOf(entry) ?? ['variables', ''];
              const address = `${props.id}/${name}`;
              return (
                <tr data-parameter={name} classList={{ changed: map.isChanged(part, name) }}>
                  <td class="wide">
                    <a class="mono" href={linkTo('parameters', { address })}>
                      {address}
                    </a>{' '}
                    <span class="muted">
                      {keyOf(kind)} {item}
                      {about(entry) && ` (${about(entry)})`}
                      {map.isChanged(part, name) && ', not saved yet'}
                    </span>
                  </td>
                  <td class="mono value">
                    {part === 'values' ? formatValue(live.of(address).value()) || 'unknown' : ''}
                  </td>
                  <td class="nowrap actions">
                    <Show when={map.whyNot() === ''}>
                      <button
                        type="button"
                        aria-label={`Change ${keyOf(kind)} ${name}`}
                        onClick={() => setParams({ as: kind, item, change: name, search: undefined })}
                      >
                        Change
                      </button>
                      <button
                        type="button"
                        class="cut"
                        aria-label={`Remove ${keyOf(kind)} ${name}`}
                        onClick={() => map.set(part, { [name]: undefined })}
                      >
                        Remove
                      </button>
                    </Show>
                  </td>
                </tr>
              );
            }}
          </For>
        </tbody>
      </table>
      <Show when={rows().length === 0}>
        <p class="note">No parameters yet, or no matches.</p>
      </Show>
      <Show when={rows().length > mostDrawn}>
        <p class="note">And {formatCount(rows().length - mostDrawn)} more. Use the search to find them.</p>
      </Show>
    </>
  );
}

// Variables, feedbacks or actions. The module may have 100,000 of them, so only the visible items are requested and drawn.

function Offers(props: {
  readonly kind: Kind;
  readonly answer: DriverAnswer | undefined;
  readonly from: number;
  readonly map: DriverMap;
  onRange(from: number, to: number): void;
}) {
  const [focused, setFocused] = createSignal(-1);
  const [known, setKnown] = createSignal<{
    readonly total: number;
    readonly items: DriverAnswer['items'];
    readonly from: number;
  }>({
    total: 0,
    items: [],
    from: 0,
  });
  createEffect(
    on(
      () => props.answer,
      (answer) => answer && setKnown({ ...answer, from: props.from }),
    ),
  );
  createEffect(on(searched, () => setFocused(-1), { defer: true }));
  const isForFingers = useMedia('(pointer: coarse)');
  const isNarrow = useMedia('(max-width: 700px)');
  const rowHeight = () => Math.round((isForFingers() || isNarrow() ? tallRowPx : rowPx) * letterScale());
  const at = (place: number) => known().items[place - known().from];
  const open = (place: number) => {
    setFocused(place);
    if (at(place)) setParams({ item: at(place)!.id, change: undefined });
  };
  const part = () => (props.kind === 'actions' ? 'writes' : 'values');
  const mapped = createMemo(
    () => new Set(Object.values(props.map.entries(part())).map((entry) => (entry as Settings)[keyOf(props.kind)])),
  );
  return (
    <div class="list" classList={{ narrow: isNarrow() }} style={{ '--row': `${rowHeight()}px` }}>
      <p class="note" role="status">
        {props.answer?.reason || counted(known().total, keyOf(props.kind))}
      </p>
      <VirtualList
        label={titleOf(props.kind)}
        isTree={false}
        header={
          <div role="row" class="row head" aria-rowindex={1}>
            <span role="columnheader">ID and name</span>
            <span role="columnheader">{props.kind === 'variables' ? 'Value' : ''}</span>
          </div>
        }
        length={known().total}
        rowHeight={rowHeight()}
        focused={focused()}
        onFocus={setFocused}
        onKey={(event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          open(focused());
        }}
        onRange={props.onRange}
      >
        {(place) => (
          <div
            id={rowId(place())}
            class="row"
            classList={{ focused: place() === focused(), opened: at(place())?.id === route().params.item }}
            role="row"
            aria-rowindex={place() + 2}
            aria-selected={at(place())?.id === route().params.item}
            data-item={at(place())?.id}
            onClick={() => open(place())}
          >
            <span role="gridcell" class="name truncate" title={`${at(place())?.id ?? ''} ${at(place())?.name ?? ''}`}>
              <span class="mono">{at(place())?.id ?? '…'}</span> <span class="muted">{at(place())?.name}</span>
              <Show when={mapped().has(at(place())?.id)}> ✓</Show>
            </span>
            <span role="gridcell" class="value mono truncate" title={String(at(place())?.value ?? '')}>
              {String(at(place())?.value ?? '')}
            </span>
          </div>
        )}
      </VirtualList>
    </div>
  );
}

/** The form for the chosen item, once its options are known. */
function Chosen(props: { readonly id: string; readonly kind: Kind; readonly item: string; readonly map: DriverMap }) {
  const [found] = createResource(async () => {
    const query = { kind: props.kind, item: props.item };
    const { items, reason } = await getJson<DriverAnswer>(pathOf(props.id, query)).catch((error) => ({
      items: [],
      reason: messageOf(error),
    }));
    return items[0] ?? (reason || `The module currently does not offer ${props.item}.`);
  });
  const close = () => setParams({ item: undefined, change: undefined });
  return (
    <Show when={found()}>
      {(one) => (
        <Show when={typeof one() !== 'string'} fallback={<Fault text={String(one())} />}>
          <ItemForm
            kind={props.kind}
            item={one() as DriverAnswer['items'][number]}
            map={props.map}
            parameter={route().params.change}
            close={close}
          />
        </Show>
      )}
    </Show>
  );
}
