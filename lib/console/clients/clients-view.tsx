// Clients: the connected WebSocket clients, slow clients first, and the subscriptions of each client. Users disconnect clients here.

import { createMemo, createSignal, For, Show } from 'solid-js';
import { counted } from '../../model/digits.ts';
import type { ClientControl, ClientList, ClientStatus } from '../../wire/http/operation.ts';
import type { Pattern } from '../../wire/pattern.ts';
import { createAttempt, postJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { formatCount, t } from '../language/language.ts';
import { useInterval } from '../page/page-timers.ts';
import { formatBytes, formatDate, formatSpan, useNow } from '../page/units.ts';
import { createConfirmation } from '../parts/confirm.tsx';
import { GuardedFor } from '../parts/guarded.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Breakable } from '../parts/text.tsx';
import { Fault, isSought, Search } from '../parts/view-bar.tsx';
import { clientFacts, clientName, isThisPage } from './client-name.ts';

/** The time over which the rate of changes sent to a client is measured, in seconds. */
const rateSeconds = 4;

export default function Clients() {
  const { data, error, refresh } = usePolled<ClientList>('/hub/clients');
  const { ask, Confirmation } = createConfirmation();
  const { failure, run } = createAttempt(refresh);
  const now = useNow();
  const all = () => data()?.clients ?? [];
  const shown = createMemo(() =>
    all().filter((client) =>
      isSought(clientName(client), clientFacts(client), client.address, client.protocol, client.state),
    ),
  );
  const slow = () => all().filter(({ state }) => state !== 'live').length;
  const confirm = (client: ClientStatus) =>
    ask({
      title: `Disconnect ${clientName(client)}?`,
      text: 'The page or program may connect again; to keep it out, revoke its device or change its credentials.',
      verb: 'Disconnect',
      act: () => run(() => postJson(`/hub/clients/${client.id}`, { action: 'disconnect' } satisfies ClientControl)),
    });
  return (
    <>
      <div class="bar">
        <h1>{t('Clients')}</h1>
        <span class="count">
          {formatCount(data()?.count ?? 0)} connected{slow() > 0 ? `, ${slow()} slow` : ''}
        </span>
        <Search label="Search clients" placeholder="Search by name, browser, address or state" />
      </div>
      <Fault text={error()} />
      <Fault text={failure()} />
      <div class="scroll" tabIndex={-1}>
        <table class="cards">
          <TableHead
            columns={['State', 'Client', 'Behind', 'Unread', 'Rate', 'Sent', 'Received', 'Since', 'Actions']}
            numbers={['Behind', 'Unread', 'Rate', 'Sent', 'Received']}
          />
          <tbody>
            <GuardedFor each={shown()} as="tr">
              {(client) => <Row client={client} now={now} disconnect={() => confirm(client)} />}
            </GuardedFor>
          </tbody>
        </table>
        <Show when={data() && shown().length === 0}>
          <p class="note">No client matches.</p>
        </Show>
      </div>
      <Confirmation />
    </>
  );
}

function Row(props: { readonly client: ClientStatus; readonly now: () => number; readonly disconnect: () => void }) {
  const rate = createRate(() => props.client.sentBytes);
  const interests = () => interestsOf(props.client);
  return (
    <tr data-client={props.client.id}>
      <td>
        <StateMark state={props.client.state} />
      </td>
      <td class="wide">
        <strong>
          <Breakable text={clientName(props.client)} />
        </strong>{' '}
        <Show when={isThisPage(props.client)}>
          <strong class="badge here">this page</strong>
        </Show>{' '}
        <span class="muted">
          <Breakable text={[clientFacts(props.client), props.client.protocol].filter(Boolean).join(', ')} />
        </span>
        <Show when={interests().length > 0} fallback={<div class="muted">everything</div>}>
          <details>
            <summary>{counted(interests().length, props.client.filters ? 'filter' : 'subscription')}</summary>
            <ul class="mono">
              <For each={interests()}>{(line) => <li>{line}</li>}</For>
            </ul>
          </details>
        </Show>
      </td>
      <td class="number" data-label="behind">
        {props.client.lagMs > 0 ? formatSpan(props.client.lagMs) : '–'}
      </td>
      <td class="number" data-label="unread">
        {props.client.unreadBytes > 0 ? formatBytes(props.client.unreadBytes) : '–'}
      </td>
      <td class="number" data-label="rate">
        {formatBytes(rate())}/s
      </td>
      <td class="number" data-label="sent" title={counted(props.client.sentFrames, 'frame')}>
        {formatBytes(props.client.sentBytes)}
      </td>
      <td class="number" data-label="received">
        {formatCount(props.client.receivedMessages)}
      </td>
      <td class="nowrap" data-label="since" title={formatDate(props.client.since)}>
        {formatSpan(props.now() - Date.parse(props.client.since))}
      </td>
      <td class="nowrap actions">
        <Show when={!isThisPage(props.client)}>
          <button
            type="button"
            aria-label={`Disconnect ${clientName(props.client)}`}
            onClick={() => props.disconnect()}
          >
            Disconnect
          </button>
        </Show>
      </td>
    </tr>
  );
}

/** Returns the recent growth of a counter, per second. */
function createRate(counter: () => number): () => number {
  const [rate, setRate] = createSignal(0);
  const counts = [counter()];
  useInterval(() => {
    counts.push(counter());
    if (counts.length > rateSeconds + 1) counts.shift();
    setRate((counts.at(-1)! - counts[0]!) / (counts.length - 1));
  }, 1000);
  return rate;
}

/** Returns the subscriptions of a client, one line each. An empty list means that the client receives everything. */
function interestsOf({ subscriptions = [], filters = [] }: ClientStatus): string[] {
  const text = (pattern: Pattern) => (typeof pattern === 'string' ? pattern : `/${pattern.regex}/`);
  return [
    ...filters.map((filter) => `/${filter}/`),
    ...subscriptions.map(({ include, exclude, rate, delivery }) => {
      const without = exclude.length > 0 ? ` except ${exclude.map(text).join(' ')}` : '';
      return `${include.map(text).join(' ')}${without}, ${delivery}, ${rate > 0 ? `${rate} per second` : 'no rate limit'}`;
    }),
  ];
}
