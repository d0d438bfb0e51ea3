// The console, with which users monitor and control the hub in a browser. This file renders the console into the page.

import { createEffect, createSignal, For, Show, Suspense } from 'solid-js';
import { Dynamic, render } from 'solid-js/web';
import { messageOf } from '../model/error.ts';
import { sound } from './alarms/sound.ts';
import { deliverReleases } from './dashboard/controls/page-releases.ts';
import { me, signInAgain, signOut } from './hub/me.ts';
import { isStale, linkState } from './hub/page-hub.ts';
import { seenAs } from './hub/page-request.ts';
import { keepLanguage, language, languageParameter, languages, loadTexts, said, t } from './language/language.ts';
import { areKeysOn, switchKeys, useKeys } from './page/page-keys.ts';
import { useInterval } from './page/page-timers.ts';
import { navigate, route } from './page/route.ts';
import { applyTheme, switchTheme, theme } from './page/theme.ts';
import { Guarded } from './parts/guarded.tsx';
import { Icon } from './parts/state-mark.tsx';
import { installation } from './start/installation.ts';
import { Navigation } from './start/navigation.tsx';
import { markPage } from './start/page-marks.ts';
import { listedViews, offeredViews, viewNamed } from './views.ts';

// The icons for the theme. They are declared before the page is drawn, because drawing uses them.
const sun = 'M12 8a4 4 0 1 0 0 8a4 4 0 0 0 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2';
const moon = 'M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10z';
const half = 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16';

applyTheme();
deliverReleases();
void loadTexts().then((shown) => {
  document.documentElement.lang = shown;
  render(() => <App />, document.getElementById('app')!);
});

// The shell: the navigation, the state of the link, and the view that the URL names.

function App() {
  let help!: HTMLDialogElement;
  let main!: HTMLElement;
  const view = () => viewNamed(route().view) ?? offeredViews()[0]!;
  const [whySignedIn, setWhySignedIn] = createSignal('');
  const leave = async () => {
    setWhySignedIn('');
    setWhySignedIn(await signOut());
  };
  markPage(() => t(view().title));
  useKeys(() => kiosk() === undefined && help.showModal());

  const kiosk = () => me()?.kiosk;
  createEffect(() => {
    const name = kiosk();
    if (name !== undefined && (view().name !== 'dashboards' || !route().params.name)) navigate('dashboards', { name });
  });
  return (
    <div class="shell" classList={{ stale: isStale(), kiosk: kiosk() !== undefined }}>
      <button type="button" class="skip" onClick={() => main.focus()}>
        {t('Skip to content')}
      </button>
      <Show when={kiosk() === undefined}>
        <Guarded>
          <Header leave={leave} showHelp={() => help.showModal()} />
        </Guarded>
        <Guarded>
          <Navigation view={view().name} />
        </Guarded>
      </Show>
      <main ref={main} id="main" tabIndex={-1}>
        <Show when={seenAs}>
          <p class="banner seen-as" role="note">
            <span>
              <strong>{t('You are viewing the console as {1}.', seenAs)}</strong> {t('This view is read-only.')}
            </span>
            <a class="button" href="/hub/#/users">
              {t('Back to your own view')}
            </a>
          </p>
        </Show>
        <Guarded>
          <LinkBanner />
        </Guarded>
        <Show when={whySignedIn()}>
          <p role="alert" class="note error">
            {t('You are still signed in: {1}', whySignedIn())}
          </p>
        </Show>
        <Show when={me()} fallback={<p class="note">{t('Loading …')}</p>}>
          <Show when={view()} keyed>
            {(one) => (
              <Show when={offeredViews().includes(one)} fallback={<NotOffered title={t(one.title)} />}>
                <Guarded changed={route} fault={Broken}>
                  <Suspense fallback={<p class="note">{t('Loading …')}</p>}>
                    <Dynamic component={one.component} />
                  </Suspense>
                </Guarded>
              </Show>
            )}
          </Show>
        </Show>
      </main>
      <Help ref={(dialog) => (help = dialog)} />
    </div>
  );
}

function Header(props: { readonly leave: () => void; readonly showHelp: () => void }) {
  return (
    <header>
      <p class="host" title={location.host}>
        {installation.name()}
      </p>
      <small class="version">{installation.version() === undefined ? '' : `Patchbay ${installation.version()}`}</small>
      <Show when={sound.isSounding()}>
        <button
          type="button"
          class="main"
          title={
            sound.isBlocked()
              ? t('Click to allow sound in the browser')
              : t('Silence alarms until the next one is raised')
          }
          onClick={() => sound.silence()}
        >
          {t('Silence')}
        </button>
      </Show>
      <Show when={me()?.maySignIn && me()?.user === ''}>
        <button type="button" class="quiet" onClick={signInAgain}>
          {t('Sign in')}
        </button>
      </Show>
      <Show when={seenAs === '' && me()?.user}>
        {(user) => (
          <button
            type="button"
            class="quiet user truncate"
            onClick={() => props.leave()}
            title={t('Sign out {1}', user())}
          >
            {user()}
          </button>
        )}
      </Show>
      <button
        type="button"
        class="quiet shortcuts"
        onClick={() => props.showHelp()}
        aria-label={t('Keyboard shortcuts')}
        title={`${t('Keyboard shortcuts')} (?)`}
      >
        <Icon path="M3 7h18v10H3zM7 10.5h.01M12 10.5h.01M17 10.5h.01M8 14h8" />
      </button>
      <select
        class="quiet"
        aria-label={t('Language')}
        title={t('Language')}
        onChange={({ currentTarget: { value } }) => switchLanguage(value)}
      >
        <For each={languages}>
          {(one) => (
            <option value={one} selected={one === language}>
              {one.toUpperCase()}
            </option>
          )}
        </For>
      </select>
      <button
        type="button"
        class="quiet"
        onClick={switchTheme}
        aria-label={t('Colours: {1}', said(theme()))}
        title={t('Colours: {1}', said(theme()))}
      >
        <Icon path={theme() === 'light' ? sun : theme() === 'dark' ? moon : half} />
      </button>
    </header>
  );
}

/** Opens this page again in another language. */
function switchLanguage(chosen: string): void {
  keepLanguage(chosen);
  const url = new URL(location.href);
  url.searchParams.delete(languageParameter);
  history.replaceState(null, '', url);
  location.reload();
}

/** Replaces a view that the user is not allowed to see, for example after the user has followed a link. */
function NotOffered(props: { readonly title: string }) {
  return (
    <>
      <div class="bar">
        <h1>{props.title}</h1>
      </div>
      <p class="note">{t('This view requires permission to manage the hub.')}</p>
    </>
  );
}

/** Replaces a view that failed or could not be loaded. */
function Broken(props: { readonly error: unknown; readonly reset: () => void }) {
  return (
    <div role="alert" class="note">
      <p>{t('This view failed: {1}', messageOf(props.error))}</p>
      <button type="button" onClick={() => props.reset()}>
        {t('Try again')}
      </button>{' '}
      <button type="button" onClick={() => location.reload()}>
        {t('Reload the console')}
      </button>
    </div>
  );
}

// While the link to the hub is down, warns that values may be outdated, and shows when the console retries.

function LinkBanner() {
  const [now, setNow] = createSignal(Date.now());
  createEffect(() => {
    if (!isStale()) return;
    useInterval(() => setNow(Date.now()), 250);
  });
  const progress = () => {
    const state = linkState();
    if (state.name === 'closed') return t('The connection is closed: {1}.', state.reason);
    if (state.name !== 'waiting') return t('Connecting …');
    return t('Retry in {1} s.', Math.max(0, Math.ceil((state.retryAt - now()) / 1000)));
  };
  return (
    <div role="status">
      <Show when={isStale()}>
        <p class="banner">
          <strong>{t('Disconnected from the hub.')}</strong> {t('Values may be outdated.')}{' '}
          <span aria-hidden="true">{progress()}</span>
        </p>
      </Show>
    </div>
  );
}

// The help dialog: the keyboard shortcuts.

function Help(props: { readonly ref: (dialog: HTMLDialogElement) => void }) {
  const others = [
    ['/', t('search')],
    ['?', t('this help')],
    ['↑ ↓', t('move through a list; Enter opens, Esc closes')],
  ] as const;
  return (
    <dialog ref={props.ref} aria-labelledby="help-title">
      <h2 id="help-title">{t('Keyboard shortcuts')}</h2>
      <dl class="keys">
        <For each={listedViews()}>
          {({ key, title }) => (
            <div>
              <dt>
                <kbd>g</kbd> <kbd>{key}</kbd>
              </dt>
              <dd>{t(title)}</dd>
            </div>
          )}
        </For>
        <For each={others}>
          {([key, meaning]) => (
            <div>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          )}
        </For>
      </dl>
      <label>
        <input type="checkbox" checked={areKeysOn()} onChange={(event) => switchKeys(event.currentTarget.checked)} />{' '}
        {t('enable single-key shortcuts')}
      </label>
      <form method="dialog" class="actions">
        <button type="submit">{t('Close')}</button>
      </form>
    </dialog>
  );
}
