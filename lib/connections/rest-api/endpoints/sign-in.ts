// POST /hub/sign-in and /hub/sign-out: a browser gets a separate token in a cookie, in exchange for the password of a user or the code of a
// kiosk link. GET /hub/sign-in: the sign-in page. GET /hub/me: the principal of the request.
import { z } from 'zod';
import { HubError } from '../../../model/error.ts';
import type { HttpResponse } from '../../../net/uws.ts';
import { text } from '../../../wire/http/shape.ts';
import {
  type Me,
  me,
  type SignedIn,
  type SignIn,
  signedIn,
  signIn as signInShape,
} from '../../../wire/http/user-shapes.ts';
import { begin, confine } from '../http/answer/headers.ts';
import { send } from '../http/answer/send.ts';
import { browserName } from '../http/browser-name.ts';
import type { Admitted, Entry } from '../http/guard/entry.ts';
import { hasGone } from '../proxies/trusted-proxies.ts';
import type { Principal } from '../users/principal.ts';
import { type Asked, action, type Context, type Endpoint, page as jsonPage } from './endpoint.ts';

const path = '/hub/sign-in';
const about = { need: 'nothing', tag: 'users' } as const;
/**
 * Excludes signing in from `requestsPerUser`, so that a client that guesses passwords does not keep users at the same address from signing
 * in.
 */
const isUnmetered = true;
const pageText = (...types: readonly string[]) => ({
  200: {
    description: 'The page, or one of its files',
    content: Object.fromEntries(types.map((type) => [type, text])),
  },
});

export const endpoints: Endpoint[] = [
  jsonPage({
    ...about,
    path: '/hub/me',
    id: 'readMe',
    summary: 'The current user and its rights',
    answer: me,
    read: ({ entry }, { principal }) => meOf(entry, principal),
  }),
  {
    ...about,
    method: 'GET',
    path,
    isUnmetered,
    id: 'readSignIn',
    summary: 'The sign-in page, for browsers',
    answers: pageText('text/html'),
    serve({ settings }) {
      const page = pageOf(settings.title || 'Patchbay');
      return (response) => reply(response, 'text/html; charset=utf-8', page);
    },
  },
  action({
    ...about,
    path,
    isUnmetered,
    id: 'signIn',
    summary: 'Signs a browser in: exchanges a password or the code of a kiosk link for a cookie',
    body: signInShape,
    answer: signedIn,
    answered: 'The user and its rights',
    setsCookie: true,
    act: signIn,
  }),
  {
    ...about,
    method: 'GET',
    path: `${path}/{file}`,
    isUnmetered,
    id: 'readSignInFile',
    summary: 'The script and the style of the sign-in page',
    names: { file: 'Name of the file' },
    answers: pageText('text/javascript', 'text/css'),
    errors: { 404: 'File not found' },
    serve: () => (response, request) => serveFile(response, request.getUrl()),
  },
  action({
    ...about,
    path: '/hub/sign-out',
    id: 'signOut',
    summary: 'Signs the browser out: revokes its cookie',
    body: z.strictObject({}),
    answer: me,
    answered: 'The rights without the cookie',
    errors: { 409: 'The cookie belongs to no signed-in user' },
    act({ entry }, _, { principal: { name, device }, response, sender }) {
      if (device === undefined)
        throw new HubError('conflict', 'sign-out: expected the cookie of a signed-in user, got none');
      response.cookies = entry.signOut(name, device, sender);
      return meOf(entry, entry.directory.anonymous ?? entry.directory.stranger);
    },
  }),
];

/** Returns the name and the rights of a principal. `deny` is omitted, because it names parameters that the principal may not see. */
function meOf({ directory, devices }: Pick<Entry, 'directory' | 'devices'>, { name, rights, device }: Principal): Me {
  const all = ['**'];
  const { read, write, dashboards, edit, manage, metrics } = rights?.settings ?? {
    ...{ read: all, write: all, dashboards: all, edit: all, manage: true, metrics: true },
  };
  const maySignIn = [...directory.accounts].length > 0;
  const kiosk = device === undefined ? undefined : devices.dashboardOf(device);
  return {
    ...{ user: name, isOpen: rights === undefined, maySignIn, read, write, dashboards, edit, manage, metrics },
    ...(kiosk !== undefined && { kiosk }),
  };
}

/** Signs a browser in with a password or with the code of a kiosk link. Errors: `unauthorized`, `too-many-attempts`. */
async function signIn(
  { entry }: Context,
  { user = '', password = '', code }: SignIn,
  { response, sender, userAgent }: Asked,
): Promise<SignedIn> {
  const signedInAs = ({ signedIn: signedInUser, cookies }: Admitted): SignedIn => {
    response.cookies = cookies;
    return meOf(entry, signedInUser);
  };
  if (code === undefined) {
    await entry.check(user, password, sender.address, () => hasGone(response));
    return signedInAs(entry.admit(user, 'browser', browserName(userAgent) || 'a browser', sender));
  }
  const { user: invited, name, dashboard } = entry.exchange(code, sender.address);
  return {
    ...signedInAs(entry.admit(invited, 'kiosk', name, sender, dashboard)),
    ...(dashboard !== undefined && { dashboard }),
  };
}

/** Serves the script or the style sheet of the sign-in page. Errors: `not-found`. */
function serveFile(response: HttpResponse, url: string): void {
  if (url === `${path}/page.js`) reply(response, 'text/javascript; charset=utf-8', script);
  else if (url === `${path}/page.css`) reply(response, 'text/css; charset=utf-8', style);
  else throw new HubError('not-found', `${url}: no such page`);
}

function reply(response: HttpResponse, type: string, body: string): void {
  confine(response);
  begin(response).writeHeader('Content-Type', type).writeHeader('Cache-Control', 'no-cache');
  send(response, body);
}

// The page for signing in and for kiosk links. The code in a link follows `#`, so that no server, log or link preview receives the code.

const pageOf = (title: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in · ${escaped(title)}</title>
<link rel="stylesheet" href="/hub/sign-in/page.css">
<script type="module" src="/hub/sign-in/page.js"></script>
<main>
<form>
<h1>${escaped(title)}</h1>
<label><span>User</span> <input name="user" autocomplete="username" autocapitalize="none" required autofocus></label>
<label><span>Password</span> <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
<p role="alert"></p>
</form>
<noscript>Signing in needs JavaScript; programs send HTTP Basic or Bearer.</noscript>
</main>
`;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const script = `const form = document.querySelector('form');
const alert = document.querySelector('[role=alert]');
const button = document.querySelector('button');
const place = location.hash.startsWith('#/') ? location.hash : '';
const code = place === '' ? location.hash.slice(1) : '';

// The language, chosen and kept as in the console. Messages are by the code of the hub's answer.
const key = 'patchbay-language';
const languages = {
  de: {
    texts: ['Benutzer', 'Passwort', 'Anmelden'],
    unauthorized: code === '' ? 'Benutzer oder Passwort ist falsch.' : 'Dieser Link ist ungültig, abgelaufen oder schon benutzt.',
    'too-many-attempts': 'Zu viele Versuche. Bitte warten Sie.',
    unreachable: 'Der Hub ist nicht erreichbar.',
  },
  fr: {
    texts: ['Utilisateur', 'Mot de passe', 'Se connecter'],
    unauthorized: code === '' ? 'Utilisateur ou mot de passe incorrect.' : 'Ce lien est invalide, expiré ou déjà utilisé.',
    'too-many-attempts': 'Trop de tentatives. Veuillez patienter.',
    unreachable: 'Le hub est injoignable.',
  },
};
const asked = new URLSearchParams(location.search).get('lang');
let kept = null;
try {
  if (['en', 'de', 'fr'].includes(asked)) localStorage.setItem(key, asked);
  kept = localStorage.getItem(key);
} catch {} // storage is denied
const language = [asked, kept, ...navigator.languages].map((one) => one?.slice(0, 2)).find((one) => one === 'en' || Object.hasOwn(languages, one ?? ''));
const said = languages[language];
if (said) {
  document.documentElement.lang = language;
  for (const [at, element] of [...form.querySelectorAll('span, button')].entries()) element.textContent = said.texts[at];
  document.title = document.title.replace(/^Sign in/, () => said.texts.at(-1));
}

async function signIn(body) {
  button.disabled = true;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  try {
    const response = await fetch('/hub/sign-in', { method: 'POST', headers, body: JSON.stringify(body) }).catch((error) => {
      throw new Error(said?.unreachable ?? error.message);
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(said?.[answer.code] ?? answer.detail);
    const { dashboard } = answer;
    location.replace('/hub/' + location.search + (dashboard ? '#/dashboards?name=' + encodeURIComponent(dashboard) : place));
  } catch (error) {
    alert.textContent = error.message;
    button.disabled = false;
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  signIn({ user: form.user.value, password: form.password.value });
});
addEventListener('hashchange', () => location.reload()); // a link that is opened where the page is open already
if (code !== '') {
  history.replaceState(null, '', location.pathname + location.search);
  signIn({ code });
}
`;

const style = `:root {
  font: 1rem/1.4 system-ui, sans-serif;
  color-scheme: light dark;
  --ground: light-dark(#f3f4f7, #14171c);
  --panel: light-dark(#fff, #1d2128);
  --line: light-dark(#8a93a0, #727c8a);
  --text: light-dark(#1a1d21, #e8eaed);
  --main: light-dark(#1a5fb4, #8ab4f8);
  --on-main: light-dark(#fff, #10141a);
  --error: light-dark(#b3261e, #ffb4ab);
}
@media (min-width: 2600px) and (min-height: 1500px) { :root { font-size: 1.3vh; } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--ground); color: var(--text); }
form { display: grid; gap: 1rem; width: min(20rem, 90vw); padding: 2rem; box-sizing: border-box; background: var(--panel); border-radius: .75rem; box-shadow: 0 1px 4px #0003; }
h1 { margin: 0; font-size: 1.5rem; overflow-wrap: anywhere; }
label { display: grid; gap: .25rem; }
input, button { font: inherit; padding: .6rem; border-radius: .4rem; color: inherit; }
input { border: 1px solid var(--line); background: var(--ground); }
button { border: 0; background: var(--main); color: var(--on-main); cursor: pointer; }
button:disabled { opacity: .6; }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
[role=alert] { margin: 0; color: var(--error); }
`;
