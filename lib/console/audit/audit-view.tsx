// Audit: changes from outside and actions by operators, newest first, live, and filtered by text, address, user, kind and time.

import { createMemo, For, Show } from 'solid-js';
import { auditKinds } from '../../model/reports/audit-entry.ts';
import { readIsoTime } from '../../model/time/iso-time.ts';
import type { AuditEntry, AuditPage } from '../../wire/http/past-shapes.ts';
import { StoreFault } from '../history/no-store.tsx';
import { TimeField } from '../history/time/time-bar.tsx';
import { minuteMs, paramsOf } from '../history/time/timeframe.ts';
import { maxHeld } from '../hub/pages.ts';
import { usePages } from '../hub/polled.ts';
import { formatCount, t } from '../language/language.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatDate, formatMoment, formatValue } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Breakable } from '../parts/text.tsx';
import { Search, searched } from '../parts/view-bar.tsx';

/** The length of the history that a link shows before and after an entry, in milliseconds. */
const aroundMs = 5 * minuteMs;
const refreshMs = 1000;

export default function AuditView() {
  const param = (name: string) => route().params[name] ?? '';
  const query = createMemo(() => {
    const { address, user, kind, from, to } = route().params;
    const given = Object.entries({ text: searched(), address, user, kind, from, to });
    return new URLSearchParams(given.filter((pair): pair is [string, string] => Boolean(pair[1]))).toString();
  });
  const { held, fault, more } = usePages<AuditEntry, AuditPage>({
    list: query,
    ask: () => ({ path: '/hub/audit', query: new URLSearchParams(query()) }),
    rowsOf: ({ entries }) => entries,
    keyOf: ({ n }) => n,
    againMs: () => refreshMs,
  });
  const entries = () => held()?.rows ?? [];
  return (
    <>
      <div class="bar">
        <h1>{t('Audit')}</h1>
        <Search label="Search the audit" placeholder="Search" />
        <Text name="address" label="Address" example="desk/**" />
        <Text name="user" label="User" example="10.0.0.3" />
        <select
          aria-label="Kind"
          value={param('kind')}
          onChange={(event) => setParams({ kind: event.currentTarget.value })}
        >
          <option value="">all kinds</option>
          <For each={auditKinds}>{(kind) => <option value={kind}>{kind}</option>}</For>
        </select>
        <div class="bounds">
          <Time name="from" label="From" />
          <span class="muted">–</span>
          <Time name="to" label="To" />
        </div>
        <span class="count">{formatCount(entries().length)}</span>
      </div>
      <StoreFault fault={fault()} what="The audit trail is not available" />
      <div class="scroll audit" tabIndex={-1}>
        <Show when={entries().length > 0}>
          <table class="cards">
            <TableHead columns={['Time', 'User', 'Kind', 'What', 'Change']} />
            <tbody>
              <GuardedFor each={entries()} as="tr">
                {(entry) => <Row entry={entry} />}
              </GuardedFor>
            </tbody>
          </table>
        </Show>
        <Show when={held() && entries().length === 0}>
          <p class="note">No entry matches.</p>
        </Show>
        <Show when={held()?.next !== undefined}>
          <Show when={entries().length < maxHeld} fallback={<p class="note">To see older entries, set an end time.</p>}>
            <p class="more">
              <button type="button" onClick={more}>
                Show more
              </button>
            </p>
          </Show>
        </Show>
      </div>
    </>
  );
}

function Text(props: { readonly name: string; readonly label: string; readonly example: string }) {
  return (
    <input
      type="search"
      class="short"
      title={`${props.label}, such as ${props.example}`}
      aria-label={props.label}
      placeholder={props.label}
      value={route().params[props.name] ?? ''}
      onInput={(event) => setParams({ [props.name]: event.currentTarget.value })}
    />
  );
}

function Time(props: { readonly name: 'from' | 'to'; readonly label: string }) {
  const time = () => readIsoTime(route().params[props.name] ?? '');
  return (
    <TimeField
      label={props.label}
      time={time()}
      take={(taken) => setParams({ [props.name]: taken === undefined ? undefined : new Date(taken).toISOString() })}
    />
  );
}

function Row(props: { readonly entry: AuditEntry }) {
  const { entry } = props;
  return (
    <tr data-entry={entry.n}>
      <td class="nowrap" title={formatDate(entry.time)}>
        <time datetime={entry.time}>{formatMoment(entry.time)}</time>
      </td>
      <td class="user">
        <strong>
          <Breakable text={entry.user} />
        </strong>
      </td>
      <td>{entry.kind}</td>
      <td class="what">
        <Show when={linkOf(entry)} fallback={entry.address}>
          {(link) => (
            <a class="mono" href={link()}>
              <Breakable text={entry.address ?? ''} />
            </a>
          )}
        </Show>
      </td>
      <td class="change">
        <Show when={entry.before !== undefined}>
          <span class="muted">{formatValue(entry.before)} →</span>{' '}
        </Show>
        <strong>{formatValue(entry.after)}</strong>
        <Show when={entry.count > 1}>
          {' '}
          <span class="muted">× {formatCount(entry.count)}</span>
        </Show>{' '}
        <span class="muted">{entry.cause}</span>
      </td>
    </tr>
  );
}

/** Returns the link to the subject of an audit entry: the history of its parameter at that moment, the rule, or the connection. */
function linkOf({ kind, address, time }: AuditEntry): string | undefined {
  if (!address) return undefined;
  if (kind === 'rule') return linkTo('flows', { rule: address });
  if (kind === 'connection') return linkTo('connections', { search: address });
  if (kind !== 'change' && kind !== 'fire') return undefined;
  const at = Date.parse(time);
  return linkTo('history', { address, ...paramsOf({ from: at - aroundMs, to: at + aroundMs }) });
}
