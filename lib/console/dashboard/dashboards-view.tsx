// Dashboards: the list of dashboards in the hub's folder, or a single dashboard, which updates when its file changes.

import { createMemo, createResource, Show } from 'solid-js';
import type { Dashboard } from '../../dashboard/format.ts';
import type { SourceList } from '../../wire/http/editing-shapes.ts';
import type { DashboardList } from '../../wire/http/operation.ts';
import { mayEdit, mayManage } from '../hub/me.ts';
import { isStale } from '../hub/page-hub.ts';
import { getJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { t } from '../language/language.ts';
import { linkTo, route } from '../page/route.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { Panel } from './panel.tsx';

export default function Dashboards() {
  return (
    <Show when={route().params.name} keyed fallback={<List />}>
      {(name) => <Page name={name} />}
    </Show>
  );
}

function List() {
  const { data, error } = usePolled<DashboardList>('/hub/dashboards');
  const [sources] = createResource(mayEdit, () => getJson<SourceList>('/hub/sources').catch(() => undefined));
  const editable = createMemo(() => new Set(sources()?.dashboards?.files.map(({ file }) => file.replace(/^.*\//, ''))));
  const isEditable = (name: string) => editable().has(`${name}.json5`);
  return (
    <>
      <div class="bar">
        <h1>{t('Dashboards')}</h1>
        <Show when={sources()?.dashboards}>
          <a class="button" href={linkTo('studio')}>
            {t('+ New panel')}
          </a>
        </Show>
      </div>
      <Show when={error()}>
        <p role="alert" class="note error">
          {error()}
        </p>
      </Show>
      <Show when={data()?.dashboards.length === 0}>
        <p class="note">
          <Show when={mayManage()} fallback={t('You do not have permission to open any dashboards.')}>
            {t('No dashboards yet.')} A dashboard is a JSON5 file in the folder set by <code>dashboards</code> in the
            REST API connection. <code>patchbay schema --dashboard</code> prints its JSON Schema.
          </Show>
        </p>
      </Show>
      <ul class="panels">
        <GuardedFor each={data()?.dashboards} as="li">
          {(name) => (
            <li>
              <a class="button" href={linkTo('dashboards', { name })}>
                {name}
              </a>
              <Show when={isEditable(name)}>
                <a class="edit" href={linkTo('studio', { name })} aria-label={`${t('Edit')} ${name}`}>
                  {t('Edit')}
                </a>
              </Show>
            </li>
          )}
        </GuardedFor>
      </ul>
    </>
  );
}

function Page(props: { readonly name: string }) {
  const { data, error } = usePolled<Dashboard>(`/hub/dashboards/${encodeURIComponent(props.name)}`, 'none');
  return (
    <Show
      when={data()}
      fallback={
        <div class="note" role="alert">
          <pre class="mistake">{error() || t('Loading …')}</pre>
          <a href={linkTo('dashboards')}>‹ {t('Dashboards')}</a>
        </div>
      }
    >
      {(dashboard) => <Panel name={props.name} dashboard={dashboard()} mistake={isStale() ? '' : error()} />}
    </Show>
  );
}
