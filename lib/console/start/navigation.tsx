// The links to all views, with the number of items that need attention. On a phone, there is room for five links with their names; all
// other links are behind "More".

import { createEffect, For, on, Show } from 'solid-js';
import { alarms } from '../alarms/alarms.ts';
import { me } from '../hub/me.ts';
import { t } from '../language/language.ts';
import { overrides } from '../overrides/overrides.ts';
import { useMedia } from '../page/media.ts';
import { linkTo, route } from '../page/route.ts';
import { Icon } from '../parts/state-mark.tsx';
import { listedViews, type View, viewNamed } from '../views.ts';
import { installation } from './installation.ts';

/** The views that have their own link on a phone. */
const places = ['start', 'alarms', 'parameters', 'dashboards', 'history'];
const dots = 'M5 12h.01M12 12h.01M19 12h.01';

/** Shows the links to all views. `view` is the name of the current view. */
export function Navigation(props: { readonly view: string }) {
  let more!: HTMLDialogElement;
  const isPhone = useMedia('(max-width: 600px)');
  const all = (): readonly View[] => {
    const overridden = overrides.list().length > 0 ? viewNamed('overrides') : undefined;
    return me() ? [...listedViews(), ...(overridden ? [overridden] : [])] : [];
  };
  const shown = () => all().filter(({ name }) => !isPhone() || places.includes(name));
  const others = () => (isPhone() ? all().filter(({ name }) => !places.includes(name)) : []);
  const countOfOthers = () => others().reduce((sum, { name }) => sum + countOf(name), 0);
  createEffect(on([route, isPhone], () => more.close(), { defer: true }));
  return (
    <nav aria-label={t('Views')}>
      <For each={shown()}>{(view) => <ViewLink view={view} isCurrent={props.view === view.name} />}</For>
      <Show when={others().length > 0}>
        <button
          type="button"
          class="more"
          aria-haspopup="dialog"
          aria-current={others().some(({ name }) => name === props.view) ? 'page' : undefined}
          onClick={() => more.showModal()}
        >
          <Icon path={dots} />
          <span>
            {t('More')}
            <Badge count={countOfOthers()} />
          </span>
        </button>
      </Show>
      <dialog
        ref={more}
        class="more-views"
        aria-label={t('More views')}
        onClick={(event) => {
          if (!(event.target as Element).closest('form')) more.close();
        }}
      >
        <For each={others()}>{(view) => <ViewLink view={view} isCurrent={props.view === view.name} />}</For>
        <form method="dialog" class="actions">
          <button type="submit">{t('Close')}</button>
        </form>
      </dialog>
    </nav>
  );
}

function ViewLink(props: { readonly view: View; readonly isCurrent: boolean }) {
  const { name, title, icon, key } = props.view;
  return (
    <a
      href={linkTo(name)}
      aria-current={props.isCurrent ? 'page' : undefined}
      title={key === '' ? t(title) : `${t(title)} (g ${key})`}
    >
      <Icon path={icon} />
      <span>
        {t(title)}
        <Badge count={countOf(name)} isBad={name === 'alarms' || name === 'connections'} />
      </span>
    </a>
  );
}

function Badge(props: { readonly count: number; readonly isBad?: boolean }) {
  return (
    <Show when={props.count > 0}>
      {' '}
      <strong class="badge" classList={{ bad: props.isBad ?? false }}>
        {props.count > 99 ? '99+' : props.count}
      </strong>
    </Show>
  );
}

/** Returns the number of items in a view that need attention, given the name of the view. */
function countOf(view: string): number {
  if (view === 'alarms') return alarms.unacknowledged();
  if (view === 'connections') return installation.troubled().length;
  return view === 'overrides' ? overrides.list().length : 0;
}
