// Connections: the state of each connection with its reason, failed connections first. Users start, stop and restart connections here.

import { createEffect, createMemo, For, on, Show } from 'solid-js';
import { counted } from '../../model/digits.ts';
import type { ConnectionControl, ConnectionList, ConnectionStatus, WireFrames } from '../../wire/http/operation.ts';
import { type Attempt, createAttempt, postJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { formatCount, t } from '../language/language.ts';
import { OverrideNote, SwitchOff } from '../overrides/switch-off.tsx';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatClock, formatDate, formatSpan, useNow } from '../page/units.ts';
import { createConfirmation } from '../parts/confirm.tsx';
import { GuardedFor } from '../parts/guarded.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Fault, isSought, Search } from '../parts/view-bar.tsx';

const states = ['failed', 'degraded', 'running', 'disabled'] as const;
type Action = 'start' | 'stop' | 'restart';

export default function Connections() {
  const { data, error, refresh } = usePolled<ConnectionList>('/hub/connections');
  const now = useNow();
  const { ask, Confirmation } = createConfirmation();
  const all = () => data()?.connections ?? [];
  const shown = createMemo(() => {
    const wanted = all().filter(
      ({ id, type, description, state }) =>
        (!route().params.state || state === route().params.state) && isSought(id, type, description),
    );
    return wanted.sort((one, other) => states.indexOf(one.state) - states.indexOf(other.state));
  });
  const countOf = (wanted: string) => all().filter(({ state }) => state === wanted).length;

  return (
    <>
      <div class="bar">
        <h1>{t('Connections')}</h1>
        <For each={states}>
          {(state) => (
            <button
              type="button"
              class="chip"
              classList={{ none: countOf(state) === 0 }}
              aria-pressed={route().params.state === state}
              onClick={() => setParams({ state: route().params.state === state ? undefined : state })}
            >
              <StateMark state={state} count={countOf(state)} />
            </button>
          )}
        </For>
        <Search label="Search connections" placeholder="Search by ID, type or description" />
      </div>
      <Fault text={error()} />
      <div class="scroll" tabIndex={-1}>
        <table class="cards">
          <TableHead
            columns={['State', 'Connection', 'Type', 'Parameters', 'Since', 'Actions']}
            numbers={['Parameters']}
          />
          <tbody>
            <GuardedFor each={shown()} as="tr">
              {(connection) => <Row {...{ connection, now, ask, refresh }} />}
            </GuardedFor>
          </tbody>
        </table>
        <Show when={data() && shown().length === 0}>
          <p class="note">No connection matches.</p>
        </Show>
      </div>
      <Show when={route().params.wire} keyed>
        {(id) => <Wire id={id} />}
      </Show>
      <Confirmation />
    </>
  );
}

function Row(props: {
  readonly connection: ConnectionStatus;
  readonly now: () => number;
  readonly ask: ReturnType<typeof createConfirmation>['ask'];
  readonly refresh: () => void;
}) {
  const attempt = createAttempt(() => props.refresh());
  const { id } = props.connection;
  return (
    <tr data-connection={id} class="live">
      <td>
        <StateMark state={props.connection.state} />
      </td>
      <td class="wide">
        <strong>{id}</strong> <span class="muted">{props.connection.description}</span>
        <Show when={props.connection.device?.simulated}>
          <div class="reason">simulated: runs without the device</div>
        </Show>
        <Show when={props.connection.reason}>
          <div class="reason" classList={{ error: props.connection.state === 'failed' }}>
            {props.connection.reason}
          </div>
        </Show>
        <OverrideNote kind="connection" name={id} />
        <Show when={attempt.failure()}>
          <div role="alert" class="error">
            {attempt.failure()}
          </div>
        </Show>
      </td>
      <td class="nowrap">{props.connection.type}</td>
      <td class="number" data-label="parameters">
        <a
          href={linkTo('parameters', { search: `${id}/**`, mode: 'glob' })}
          aria-label={`${counted(props.connection.parameters, 'parameter')} of ${id}`}
        >
          {formatCount(props.connection.parameters)}
        </a>
      </td>
      <td title={formatDate(props.connection.since)} class="nowrap" data-label="since">
        {formatSpan(props.now() - Date.parse(props.connection.since))}
      </td>
      <td class="nowrap actions">
        <Show when={props.connection.driver}>
          <a class="button" href={linkTo('driver', { connection: id })} aria-label={`Driver of ${id}`}>
            Driver
          </a>
        </Show>
        <Show when={props.connection.wire}>
          <button
            type="button"
            aria-label={`Wire of ${id}`}
            aria-pressed={route().params.wire === id}
            title="Frames sent and received"
            onClick={() => setParams({ wire: route().params.wire === id ? undefined : id })}
          >
            Wire
          </button>
        </Show>
        <Controls connection={props.connection} ask={props.ask} attempt={attempt} refresh={props.refresh} />
      </td>
    </tr>
  );
}

/** The interval at which the page requests new frames, in milliseconds. */
const wireEveryMs = 500;

/** Shows the frames of a connection's device, live. The newest frames stay in view unless the user scrolls up. */
function Wire(props: { readonly id: string }) {
  let list!: HTMLPreElement;
  const { data, error } = usePolled<WireFrames>(`/hub/wire/${encodeURIComponent(props.id)}`, 'number', wireEveryMs);
  createEffect(
    on(
      () => data()?.at(-1)?.number,
      () => {
        const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < list.clientHeight / 2;
        if (isAtEnd || list.scrollTop === 0) queueMicrotask(() => list.scrollTo(0, list.scrollHeight));
      },
    ),
  );
  return (
    <section class="wire" aria-label={`Wire of ${props.id}`}>
      <Fault text={error()} />
      <pre ref={list} tabIndex={0} class="mono">
        <For each={data()}>
          {({ time, direction, text, fault }) =>
            `${formatClock(time)}  ${direction === 'in' ? '<' : '>'}  ${text}${fault === undefined ? '' : `  refused: ${fault}`}\n`
          }
        </For>
      </pre>
    </section>
  );
}

/** Shows the buttons that start, stop and restart a connection. */
function Controls(props: {
  readonly connection: ConnectionStatus;
  readonly ask: ReturnType<typeof createConfirmation>['ask'];
  readonly attempt: Attempt;
  readonly refresh: () => void;
}) {
  const { isBusy, run } = props.attempt;
  const { id } = props.connection;
  const act = (action: Action) =>
    run(() => postJson(`/hub/connections/${encodeURIComponent(id)}`, { action } satisfies ConnectionControl));
  const confirm = (action: 'stop' | 'restart') =>
    props.ask({
      title: action === 'stop' ? `Stop ${id}?` : `Restart ${id}?`,
      text: `This disconnects its devices and clients ${action === 'stop' ? 'until the connection is started again' : 'briefly'}.`,
      verb: action === 'stop' ? 'Stop' : 'Restart',
      act: () => act(action),
    });
  const Control = (control: { readonly verb: string; readonly press: () => void }) => (
    <button type="button" disabled={isBusy()} onClick={control.press} aria-label={`${control.verb} ${id}`}>
      {control.verb}
    </button>
  );
  return (
    <Show
      when={props.connection.state === 'disabled'}
      fallback={
        <>
          <Control verb="Restart" press={() => confirm('restart')} />
          <Control verb="Stop" press={() => confirm('stop')} />
          <SwitchOff
            kind="connection"
            name={id}
            file={props.connection.file}
            label={id}
            disabled={isBusy()}
            switched={props.refresh}
          />
        </>
      }
    >
      <Control verb="Start" press={() => act('start')} />
    </Show>
  );
}
