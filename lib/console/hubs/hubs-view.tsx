// Hubs: the hubs in this hub's domain, the connections of each hub, the age of mirrored values, the lease and the link.

import { For, Show } from 'solid-js';
import type { Domain, DomainHub } from '../../wire/http/operation.ts';
import { usePolled } from '../hub/polled.ts';
import { formatCount, t } from '../language/language.ts';
import { linkTo } from '../page/route.ts';
import { formatDate, formatSpan, useNow } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { Since, StateMark } from '../parts/state-mark.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Fault } from '../parts/view-bar.tsx';

const roles = {
  alone: 'the only hub with this name',
  main: 'the active hub of a pair',
  standby: 'the standby hub of a pair',
} as const;

const leases = {
  held: 'held by this hub',
  fenced: 'could not be renewed',
  taken: 'held by another hub',
  unknown: 'not known yet',
};

const words = { this: 'this hub', fresh: 'fresh', stale: 'stale', unknown: 'no contact yet' } as const;

export default function Hubs() {
  const { data, error } = usePolled<Domain>('/hub/hubs', 'hub');
  const now = useNow();
  return (
    <>
      <div class="bar">
        <h1>{t('Hubs')}</h1>
        <Show when={data()}>{(domain) => <span class="muted">of domain {domain().domain}</span>}</Show>
      </div>
      <Fault text={error()} />
      <Show when={data()?.link.isOpen}>
        <p role="alert" class="stale-note">
          <strong>This domain is open.</strong> Its servers require no credentials: anyone who can reach them can write
          everything that the hubs share, in the name of any hub and user. Give each hub credentials and the permissions
          that <code>patchbay permissions</code> prints.
        </p>
      </Show>
      <Show when={data()}>
        {(domain) => (
          <div class="scroll" tabIndex={-1}>
            <dl class="facts">
              <dt>This hub</dt>
              <dd>
                <strong>{domain().hub}</strong>, {roles[domain().role]}
              </dd>
              <dt>Lease</dt>
              <dd>
                {leases[domain().lease.state]}{' '}
                <Show when={domain().lease.holder}>
                  (holder <strong>{domain().lease.holder}</strong>, term {domain().lease.term}){' '}
                </Show>
                <Span time={domain().lease.since} now={now} />
              </dd>
              <dt>Link</dt>
              <dd>
                <StateMark state={domain().link.isUp ? 'up' : 'down'} />:{' '}
                {domain().link.text || 'no server has answered yet'}, <Span time={domain().link.since} now={now} />.
                Reconnected {domain().link.reconnects === 1 ? 'once' : `${formatCount(domain().link.reconnects)} times`}
                . Servers: {domain().link.servers.join(', ')}
              </dd>
            </dl>
            <table class="cards">
              <TableHead
                columns={['State', 'Hub', 'Parameters', 'Lag', 'Term', 'Gaps', 'Lost triggers', 'Refused']}
                numbers={['Parameters', 'Lag', 'Term', 'Gaps', 'Lost triggers', 'Refused']}
              />
              <tbody>
                <GuardedFor each={domain().hubs} as="tr">
                  {(one) => <Row hub={one} />}
                </GuardedFor>
              </tbody>
            </table>
          </div>
        )}
      </Show>
    </>
  );
}

function Span(props: { readonly time: string; readonly now: () => number }) {
  return (
    <time datetime={props.time} title={formatDate(props.time)}>
      for {formatSpan(props.now() - Date.parse(props.time))}
    </time>
  );
}

function Row(props: { readonly hub: DomainHub }) {
  const mirror = () => props.hub.mirror;
  return (
    <tr data-hub={props.hub.hub} class="live">
      <td class="nowrap">
        <StateMark state={words[props.hub.state]} />
        <Show when={mirror()?.staleSince}>{(since) => <Since time={Date.parse(since())} />}</Show>
      </td>
      <td class="wide">
        <strong>{props.hub.hub}</strong>
        <Show when={mirror()?.machine}>{(machine) => <span class="muted"> on {machine()}</span>}</Show>
        <div class="muted">
          <For each={props.hub.connections} fallback="no connections">
            {(id, index) => (
              <>
                {index() > 0 && ', '}
                <a href={linkTo('parameters', { search: `${id}/**`, mode: 'glob' })}>{id}</a>
              </>
            )}
          </For>
        </div>
      </td>
      <td class="number" data-label="parameters">
        {formatCount(props.hub.parameters)}
      </td>
      <td class="number" data-label="lag">
        {mirror() ? `${formatCount(mirror()!.lagMs)} ms` : ''}
      </td>
      <td class="number" data-label="term">
        {mirror()?.term}
      </td>
      <td class="number" data-label="gaps">
        {mirror() ? formatCount(mirror()!.gaps) : ''}
      </td>
      <td class="number" data-label="lost triggers">
        {mirror() ? formatCount(mirror()!.lostFires) : ''}
      </td>
      <td class="number" data-label="refused">
        {mirror() ? formatCount(mirror()!.refused) : ''}
      </td>
    </tr>
  );
}
