// Start: current problems, the most recent changes and their authors, and who is connected.

import { createMemo, For, type JSX, Show } from 'solid-js';
import type { ClientList, ConnectionStatus, DashboardList, LoadReport, RuleList } from '../../wire/http/operation.ts';
import type { AuditEntry, AuditPage } from '../../wire/http/past-shapes.ts';
import { alarms } from '../alarms/alarms.ts';
import { clientFacts, clientName, isThisPage } from '../clients/client-name.ts';
import { StoreFault } from '../history/no-store.tsx';
import { mayManage } from '../hub/me.ts';
import { usePolled } from '../hub/polled.ts';
import { formatCount, said, t } from '../language/language.ts';
import { overrides } from '../overrides/overrides.ts';
import { overrideText } from '../overrides/switch-off.tsx';
import { linkTo } from '../page/route.ts';
import { formatDate, formatMoment, formatSpan, formatValue, useNow } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { Breakable } from '../parts/text.tsx';
import { Fault } from '../parts/view-bar.tsx';
import { installation } from './installation.ts';

/** The maximum number of lines of one kind, such as alarms; further lines are shown in the view for that kind. */
const mostOfAKind = 8;
const lastChanges = 10;
const rulesEveryMs = 5000;
const changesEveryMs = 3000;
const clientsEveryMs = 5000;

interface Trouble {
  readonly id: string;
  readonly state: string;
  readonly what: string;
  readonly link: string;
  readonly reason: string;
  /** When the problem began, in ISO 8601 format; undefined if the time is unknown. */
  readonly since: string | undefined;
}

export default function Start() {
  return (
    <>
      <div class="bar">
        <h1>{t('Start')}</h1>
        <span class="count">{installation.name()}</span>
      </div>
      <div class="scroll start" tabIndex={-1}>
        <Troubles />
        <Show when={mayManage()}>
          <Changes />
          <Clients />
        </Show>
        <Dashboards />
      </div>
    </>
  );
}

function Section(props: {
  readonly title: string;
  readonly view: string;
  readonly link: string;
  readonly children: JSX.Element;
}) {
  return (
    <section class="panel" aria-label={props.title}>
      <h2>
        {props.title} <a href={linkTo(props.view)}>{props.link}</a>
      </h2>
      {props.children}
    </section>
  );
}

function Troubles() {
  const now = useNow();
  const rules = usePolled<RuleList>(
    () => (mayManage() ? '/hub/rules?state=failing&state=limited' : undefined),
    'id',
    rulesEveryMs,
  );
  const files = usePolled<LoadReport>(() => (mayManage() ? '/hub/files' : undefined), 'path', rulesEveryMs);
  const kinds = createMemo(() => [
    {
      view: 'alarms',
      list: alarms
        .list()
        .filter(({ shelved }) => !shelved)
        .map(ofAlarm),
    },
    { view: 'connections', list: installation.troubled().map(ofConnection) },
    { view: 'flows', list: ofFiles(files.data()) },
    { view: 'flows', list: (Array.isArray(rules.data()) ? rules.data()! : []).filter(Boolean).map(ofRule) },
    { view: 'overrides', list: overrides.list().map(ofOverride) },
  ]);
  const count = () => kinds().reduce((sum, { list }) => sum + list.length, 0);
  return (
    <section class="panel" aria-label={t('Problems')}>
      <h2>
        {t('Problems')} <Show when={count() > 0}>({formatCount(count())})</Show>
      </h2>
      <Fault text={alarms.error() || installation.error() || rules.error() || files.error()} />
      <Show when={count() === 0 && alarms.isKnown() && installation.isKnown()}>
        <p class="state" data-tone="good">
          {t('No problems.')}
        </p>
      </Show>
      <For each={kinds()}>
        {({ view, list }) => (
          <Show when={list.length > 0}>
            <ul class="troubles">
              <GuardedFor each={list.slice(0, mostOfAKind)} as="li">
                {(trouble) => <Line trouble={trouble} now={now} />}
              </GuardedFor>
              <Show when={list.length > mostOfAKind}>
                <li>
                  <a href={linkTo(view)}>{t('and {1} more', list.length - mostOfAKind)}</a>
                </li>
              </Show>
            </ul>
          </Show>
        )}
      </For>
    </section>
  );
}

function Line(props: { readonly trouble: Trouble; readonly now: () => number }) {
  const { id, state, what, link, reason, since } = props.trouble;
  return (
    <li data-trouble={id}>
      <StateMark state={state} />{' '}
      <a href={link}>
        <Breakable text={what} />
      </a>{' '}
      <span class="reason">{reason}</span>{' '}
      <Show when={since}>
        {(time) => (
          <span class="muted" title={formatDate(time())}>
            {t('for {1}', formatSpan(props.now() - Date.parse(time())))}
          </span>
        )}
      </Show>
    </li>
  );
}

function ofAlarm({ address, text, state, since }: ReturnType<typeof alarms.list>[number]): Trouble {
  return { id: address, state, what: text, link: linkTo('alarms'), reason: '', since };
}

function ofConnection({ id, state, reason, since, device }: ConnectionStatus): Trouble {
  const link = linkTo('connections', { search: id });
  if (state === 'running') {
    const stale = device?.staleSince;
    return { id, state: 'stale', what: id, link, reason: t('the device is not responding'), since: stale };
  }
  return { id, state: state === 'disabled' ? 'stopped' : state, what: id, link, reason, since };
}

/** Returns the problem that the flow files have not been loaded, with the first error, or an empty list. */
function ofFiles(report: LoadReport | undefined): readonly Trouble[] {
  if (report === undefined || report.loaded !== false) return [];
  const errors = (Array.isArray(report.files) ? report.files : []).flatMap((file) => file?.mistakes ?? []);
  const first = errors[0] ?? String(report.reason);
  const more = errors.length > 1 ? ` ${t('and {1} more error|and {1} more errors', errors.length - 1)}` : '';
  const reason = `${t('The previous configuration remains active.')} ${first}${more}`;
  return [
    { id: 'flow files', state: 'failed', what: t('flow files'), link: linkTo('flows'), reason, since: report.time },
  ];
}

function ofRule({ name, file, state, reason }: RuleList[number]): Trouble {
  return {
    id: `${file} ${name}`,
    state,
    what: name,
    link: linkTo('flows', { rule: name, file }),
    reason,
    since: undefined,
  };
}

function ofOverride(one: ReturnType<typeof overrides.list>[number]): Trouble {
  const id = `${one.kind} ${one.name}`;
  return {
    id,
    state: 'override',
    what: `${said(one.kind)} ${one.name}`,
    link: linkTo('overrides'),
    reason: overrideText(one),
    since: one.since,
  };
}

function Changes() {
  const { data, fault } = usePolled<AuditPage>(`/hub/audit?limit=${lastChanges}`, 'n', changesEveryMs);
  const entries = (): readonly AuditEntry[] => (Array.isArray(data()?.entries) ? data()!.entries.filter(Boolean) : []);
  return (
    <Section title={t('Latest changes')} view="audit" link={t('Audit')}>
      <StoreFault fault={fault()} what={t('Changes are not recorded')} />
      <Show when={data() && entries().length === 0}>
        <p class="muted">{t('No changes yet.')}</p>
      </Show>
      <ul class="changes">
        <GuardedFor each={entries()} as="li">
          {(entry) => (
            <li>
              <time datetime={entry.time} title={formatDate(entry.time)}>
                {formatMoment(entry.time).replace(/\.\d+$/, '')}
              </time>{' '}
              <strong>
                <Breakable text={entry.user} />
              </strong>{' '}
              <span class="mono">
                <Breakable text={entry.address || entry.kind} />
              </span>{' '}
              {formatValue(entry.after)}{' '}
              <span class="muted">{entry.count > 1 ? `× ${formatCount(entry.count)}` : ''}</span>
            </li>
          )}
        </GuardedFor>
      </ul>
    </Section>
  );
}

function Clients() {
  const { data, error } = usePolled<ClientList>('/hub/clients', 'id', clientsEveryMs);
  const people = createMemo(() => {
    const counts = new Map<string, number>();
    const list = data()?.clients;
    for (const one of Array.isArray(list) ? list.filter(Boolean) : []) {
      const facts = isThisPage(one) ? t('this page') : clientFacts(one);
      const name = `${clientName(one)}${facts ? ` (${facts})` : ''}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts];
  });
  return (
    <Section
      title={t('Who is connected')}
      view="clients"
      link={t('{1} client|{1} clients', Number(data()?.count) || 0)}
    >
      <Fault text={error()} />
      <ul>
        <For each={people().slice(0, mostOfAKind)}>
          {([name, count]) => (
            <li>
              <Breakable text={name} /> <span class="muted">{count > 1 ? `× ${formatCount(count)}` : ''}</span>
            </li>
          )}
        </For>
      </ul>
      <Show when={people().length > mostOfAKind}>
        <a href={linkTo('clients')}>{t('and {1} more', people().length - mostOfAKind)}</a>
      </Show>
    </Section>
  );
}

function Dashboards() {
  const { data } = usePolled<DashboardList>('/hub/dashboards', 'none', rulesEveryMs);
  const names = () => (Array.isArray(data()?.dashboards) ? data()!.dashboards : []);
  return (
    <Show when={names().length > 0}>
      <Section title={t('Dashboards')} view="dashboards" link={t('all')}>
        <ul>
          <GuardedFor each={names().slice(0, mostOfAKind)} as="li">
            {(name) => (
              <li>
                <a href={linkTo('dashboards', { name })}>{name}</a>
              </li>
            )}
          </GuardedFor>
        </ul>
      </Section>
    </Show>
  );
}
