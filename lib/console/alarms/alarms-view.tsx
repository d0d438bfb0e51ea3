// Alarms: the most urgent first, with their state, priority, text and time. Users acknowledge and shelve alarms here.

import { createEffect, createMemo, createResource, createSignal, For, lazy, onCleanup, Show } from 'solid-js';
import type { Alarm, AlarmList } from '../../wire/http/alarm-shapes.ts';
import { mayEdit, whyReadOnly } from '../hub/me.ts';
import { hub } from '../hub/page-hub.ts';
import { createAttempt, getJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { said, t } from '../language/language.ts';
import type { Text } from '../language/texts.ts';
import { useDelay } from '../page/page-timers.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatDate, formatSince, formatSpan, useNow } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Breakable } from '../parts/text.tsx';
import { Fault, isSought, Search } from '../parts/view-bar.tsx';
import { alarms, listOf } from './alarms.ts';
import { sound } from './sound.ts';

const AlarmForm = lazy(() => import('./alarm-form.tsx'));

const hourMs = 3_600_000;
/** The filters in the order of urgency. `shelved` is not a state in the hub, because a shelved alarm also has another state. */
const filters = ['unacknowledged', 'returned', 'acknowledged', 'shelved', 'normal', 'unknown'] as const;
const absent: readonly string[] = ['normal', 'unknown'];

const shownState = ({ state, shelved }: Alarm) => (shelved ? 'shelved' : state);

export default function Alarms() {
  let list!: HTMLDivElement;
  const now = useNow();
  const isAll = () => route().params.all === 'true' || absent.includes(route().params.state ?? '');
  const path = createMemo(() => `/hub/alarms${isAll() ? '?which=all' : ''}`); // the search does not change the request
  const { data, error, refresh } = usePolled<AlarmList>(path, 'address');
  const refreshAll = () => {
    refresh();
    alarms.refresh();
  };
  const { failure, run } = createAttempt(refreshAll);
  const all = () => listOf(data());
  const countOf = (filter: string) => all().filter((one) => shownState(one) === filter).length;
  const [boards] = createResource(mayEdit, () =>
    getJson<AlarmList>('/hub/alarms?which=all').then(
      (answer) => [...new Set(listOf(answer).map(({ address }) => String(address).split('/', 1)[0]!))],
      () => [],
    ),
  );
  const shown = createMemo(() => {
    const { state } = route().params;
    return all().filter((one) => (!state || shownState(one) === state) && isSought(one.text, one.address));
  });
  const waiting = () =>
    shown().filter(
      (one) => ['unacknowledged', 'returned'].includes(shownState(one)) && !whyReadOnly(`${one.address}/ack`),
    );
  /** Moves the focus when the focused element disappears: to the row itself, to the next waiting alarm, or to the list. */
  const moveOn = (row?: Element) => {
    const former = document.activeElement!;
    const acknowledging = [...list.querySelectorAll<HTMLElement>('[data-action=ack]')].filter((one) => one !== former);
    const next =
      acknowledging.find((one) => former.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) ??
      acknowledging[0];
    queueMicrotask(() => {
      const own = row?.isConnected ? row.querySelector<HTMLElement>('[data-action]') : undefined;
      (own ?? (next?.isConnected ? next : list)).focus();
    });
  };
  return (
    <>
      <div class="bar">
        <h1>{t('Alarms')}</h1>
        <For each={filters.filter((one) => isAll() || !absent.includes(one))}>
          {(filter) => (
            <button
              type="button"
              class="chip"
              classList={{ none: countOf(filter) === 0 }}
              aria-pressed={route().params.state === filter}
              onClick={() => setParams({ state: route().params.state === filter ? undefined : filter })}
            >
              <StateMark state={filter} count={countOf(filter)} />
            </button>
          )}
        </For>
        <label>
          <input
            type="checkbox"
            checked={isAll()}
            onChange={({ currentTarget: { checked } }) =>
              setParams({ all: checked ? 'true' : undefined, ...(!checked && { state: undefined }) })
            }
          />{' '}
          {t('show normal alarms')}
        </label>
        <label title={t('This page beeps while an alarm is waiting to be acknowledged')}>
          <input
            type="checkbox"
            checked={sound.isOn()}
            onChange={({ currentTarget: { checked } }) => sound.switchOn(checked)}
          />{' '}
          {t('sound')}
        </label>
        <Search label={t('Search alarms')} placeholder={t('Search by text or address')} />
        <For each={boards()}>
          {(connection) => (
            <a class="button" href={linkTo('alarms', { ...route().params, edit: undefined, add: `${connection}/` })}>
              {boards()!.length > 1 ? t('+ Alarm of {1}', connection) : t('+ Alarm')}
            </a>
          )}
        </For>
        <Show when={waiting().length > 1}>
          <button
            type="button"
            class="main"
            onClick={() => run(() => hub.batch(waiting().map(({ address }) => [`${address}/ack`, true])))}
          >
            {t('Acknowledge {1} alarm|Acknowledge {1} alarms', waiting().length)}
          </button>
        </Show>
      </div>
      <Fault text={error()} />
      <Fault text={failure()} />
      <Announcement alarms={all()} />
      <div class="beside">
        <div ref={list} class="scroll" tabIndex={-1}>
          <Show when={shown().length > 0}>
            <table class="cards">
              <TableHead
                columns={[t('State'), t('Alarm'), t('Priority'), t('Since'), t('Actions')]}
                numbers={[t('Priority')]}
              />
              <tbody>
                <GuardedFor each={shown()} as="tr">
                  {(alarm) => <Row alarm={alarm} now={now} refresh={refreshAll} moveOn={moveOn} />}
                </GuardedFor>
              </tbody>
            </table>
          </Show>
          <Show when={data() && shown().length === 0}>
            <p class="note">{whyNone(data()!, all().length)}</p>
          </Show>
        </div>
        <Show when={mayEdit() && (route().params.add ?? route().params.edit)} keyed>
          {(address) => (
            <AlarmForm
              address={address}
              isNew={route().params.add !== undefined}
              saved={(edit) => {
                refreshAll();
                setParams({ edit, add: undefined });
              }}
              close={() => setParams({ edit: undefined, add: undefined })}
            />
          )}
        </Show>
      </div>
    </>
  );
}

function whyNone({ count }: AlarmList, listed: number): string {
  if (count === 0) return t('No alarms are visible to you. To define alarms, add a connection of the type "alarms".');
  return listed > 0
    ? t('No alarm matches.')
    : t('No active alarms. {1} alarm is defined.|No active alarms. {1} alarms are defined.', count);
}

function Row(props: {
  readonly alarm: Alarm;
  readonly now: () => number;
  readonly refresh: () => void;
  /** Moves the focus away from a button that is about to disappear: within the row, if a row is given, or otherwise to another row. */
  readonly moveOn: (row?: Element) => void;
}) {
  let row!: HTMLTableRowElement;
  const { failure, run } = createAttempt(() => props.refresh());
  const { address } = props.alarm;
  const isPresent = () => !absent.includes(props.alarm.state);
  const mayAcknowledge = () => ['unacknowledged', 'returned'].includes(props.alarm.state);
  onCleanup(() => {
    if (row?.contains(document.activeElement)) props.moveOn();
  });
  const Action = (action: { readonly verb: Text; readonly id: string; readonly value: number | boolean }) => (
    <Show when={!whyReadOnly(`${address}/${action.id}`)}>
      <button
        type="button"
        ref={(button) =>
          onCleanup(() => {
            if (button === document.activeElement) props.moveOn(action.id === 'shelve' ? row : undefined);
          })
        }
        data-action={action.id}
        aria-label={`${t(action.verb)}: ${props.alarm.text}`}
        onClick={() => run(() => hub.set(`${address}/${action.id}`, action.value))}
      >
        {t(action.verb)}
      </button>
    </Show>
  );
  return (
    <tr ref={row} data-alarm={address} class="live">
      <td title={said(meanings[props.alarm.state])}>
        <StateMark state={shownState(props.alarm)} />
        <Show when={props.alarm.shelvedUntil}>
          {(until) => <div class="muted">{t('until {1}', formatSince(Date.parse(until()), props.now()))}</div>}
        </Show>
      </td>
      <td class="wide">
        <strong>{props.alarm.text}</strong>
        <div class="muted">
          <Breakable text={address} />
        </div>
        <Show when={failure()}>
          <div role="alert" class="error">
            {failure()}
          </div>
        </Show>
      </td>
      <td class="number" data-label={t('priority')}>
        {props.alarm.priority ?? '–'}
      </td>
      <td class="nowrap" data-label={t('since')} title={props.alarm.since && formatDate(props.alarm.since)}>
        <Show when={props.alarm.since} fallback="–">
          {(since) => formatSpan(props.now() - Date.parse(since()))}
        </Show>
      </td>
      <td class="nowrap actions">
        <Show when={mayAcknowledge()}>
          <Action verb="Acknowledge" id="ack" value={true} />
        </Show>
        <Show
          when={props.alarm.shelved}
          fallback={
            <Show when={isPresent()}>
              <Action verb="Shelve for an hour" id="shelve" value={hourMs} />
            </Show>
          }
        >
          <Action verb="Unshelve" id="shelve" value={0} />
        </Show>
        <Show when={mayEdit()}>
          <a
            class="button"
            href={linkTo('alarms', { ...route().params, add: undefined, edit: address })}
            aria-label={`${t('Edit')}: ${props.alarm.text}`}
          >
            {t('Edit')}
          </a>
        </Show>
        <a
          class="button"
          href={linkTo('history', { address: `${address}/state` })}
          aria-label={`${t('History')}: ${props.alarm.text}`}
        >
          {t('History')}
        </a>
      </td>
    </tr>
  );
}

const meanings: Readonly<Record<Alarm['state'], Text>> = {
  unacknowledged: 'Active and unacknowledged',
  returned: 'No longer active, but unacknowledged',
  acknowledged: 'Active and acknowledged',
  normal: 'Not active',
  unknown: 'The value of the parameter is unknown',
};

/** The minimum time between two announcements, in milliseconds, so that a flood of alarms does not keep a screen reader talking. */
const announceMs = 5000;

/** Announces to screen readers how many alarms are waiting and which alarm is the most urgent, whenever the answer changes. */
function Announcement(props: { readonly alarms: readonly Alarm[] }) {
  const [text, setText] = createSignal('');
  const pause = useDelay();
  let lastMs = Number.NEGATIVE_INFINITY;
  const current = createMemo(() => {
    const waiting = props.alarms.filter((one) => ['unacknowledged', 'returned'].includes(shownState(one)));
    if (waiting.length === 0) return t('No unacknowledged alarms');
    const { text } = waiting[0]!;
    const first = typeof text === 'string' ? t('; most urgent: {1}', text) : '';
    return t('{1} unacknowledged alarm|{1} unacknowledged alarms', waiting.length) + first;
  });
  createEffect(() => {
    const wanted = current();
    const say = () => {
      lastMs = performance.now();
      setText(wanted);
    };
    pause.start(Math.max(0, lastMs + announceMs - performance.now()), say);
  });
  return (
    <p role="status" class="for-readers">
      {text()}
    </p>
  );
}
