// A dashboard on a wall panel. The dashboard fills the screen, keeps the screen on, and is clearly marked as stale while the link is down.

import { createEffect, createMemo, createSignal, onCleanup, onMount, Show } from 'solid-js';
import type { Dashboard, Widget } from '../../dashboard/format.ts';
import { createLiveValues } from '../hub/live-values.ts';
import { me } from '../hub/me.ts';
import { isStale } from '../hub/page-hub.ts';
import { t } from '../language/language.ts';
import { useMedia } from '../page/media.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatClock } from '../page/units.ts';
import { addressesOf, Grid } from './widget-place.tsx';

/** The maximum number of updates per second that the eye can follow. The hub merges faster changes. */
const rate = 30;

export function Panel(props: { readonly name: string; readonly dashboard: Dashboard; readonly mistake: string }) {
  let panel!: HTMLDivElement;
  const title = () => props.dashboard.title || props.name;
  const widgets = createMemo<readonly Widget[]>((former) => keepEqual(former, props.dashboard.widgets), []);
  const values = createLiveValues(
    () => widgets().flatMap(addressesOf),
    () => rate,
  );
  const [isFull, setFull] = createSignal(false);
  const [staleSince, setStaleSince] = createSignal(Date.now());
  keepAwake();

  createEffect(() => {
    if (isStale()) setStaleSince(Date.now());
  });
  onMount(() => {
    document.title = title();
    const others = [...document.querySelectorAll<HTMLElement>('.shell > :not(main)')];
    for (const other of others) other.inert = true;
    const follow = () => setFull(document.fullscreenElement !== null);
    document.addEventListener('fullscreenchange', follow);
    onCleanup(() => {
      for (const other of others) other.inert = false;
      document.removeEventListener('fullscreenchange', follow);
    });
  });
  const isBare = () => isFull() || route().params.bare === '1' || me()?.kiosk !== undefined;
  const isPhone = useMedia('(max-width: 600px), (max-width: 1000px) and (max-height: 500px)');
  const isTablet = useMedia('(max-width: 1100px)');
  const layout = () => {
    const { phone, tablet } = props.dashboard.layouts ?? {};
    return (isPhone() && phone) || ((isPhone() || isTablet()) && tablet) || undefined;
  };

  return (
    <div
      class="panel-page"
      classList={{ stale: isStale(), bare: isBare(), 'laid-out': layout() !== undefined }}
      data-theme={props.dashboard.theme}
      ref={panel}
    >
      <Show when={!isBare()}>
        <div class="bar">
          <a href={linkTo('dashboards')}>‹ {t('Dashboards')}</a>
          <Show when={props.dashboard.logo}>{(logo) => <img class="logo" src={logo()} alt="" />}</Show>
          <h1 class="grow truncate" title={title()}>
            {title()}
          </h1>
          <button
            type="button"
            onClick={() => setParams({ bare: '1' })}
            title={t('Hide this bar; the page URL keeps it hidden')}
          >
            {t('Hide bar')}
          </button>
          <button type="button" onClick={() => document.documentElement.requestFullscreen().catch(() => {})}>
            {t('Full screen')}
          </button>
        </div>
      </Show>
      <div role="status">
        <Show when={isStale()}>
          <p class="banner">
            <strong>{t('Disconnected from the hub')}</strong>{' '}
            {t('since {1}. Values are outdated.', formatClock(staleSince()))}
          </p>
        </Show>
        <Show when={!isStale() && props.mistake}>
          <pre class="banner mistake">{props.mistake}</pre>
        </Show>
      </div>
      <Grid
        columns={layout()?.columns ?? props.dashboard.columns}
        rows={layout()?.rows ?? props.dashboard.rows}
        widgets={widgets()}
        places={layout()?.places}
        values={values}
      />
    </div>
  );
}

/** Returns the widgets, in which an unchanged widget is the same object as before, so that the page does not rebuild it. */
function keepEqual(former: readonly Widget[], widgets: readonly Widget[]): readonly Widget[] {
  const kept = new Map(former.map((widget) => [JSON.stringify(widget), widget]));
  return widgets.map((widget) => {
    const key = JSON.stringify(widget);
    const same = kept.get(key);
    kept.delete(key);
    return same ?? (JSON.parse(key) as Widget);
  });
}

// Keeps the screen on if the browser can (Screen Wake Lock, W3C): with HTTPS, or from the same machine. The request is repeated when the
// page becomes visible again.

/** Keeps the screen on until the calling reactive scope is disposed. Does nothing if the browser does not support or permit this. */
function keepAwake(): void {
  if (!('wakeLock' in navigator)) return;
  let lock: WakeLockSentinel | undefined;
  let isOver = false;
  const ask = async () => {
    if (document.hidden || isOver) return;
    lock = await navigator.wakeLock.request('screen').catch(() => undefined);
    if (isOver) void lock?.release();
  };
  document.addEventListener('visibilitychange', ask);
  void ask();
  onCleanup(() => {
    isOver = true;
    document.removeEventListener('visibilitychange', ask);
    void lock?.release();
  });
}
