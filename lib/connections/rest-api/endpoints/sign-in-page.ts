// The page on which somebody signs in, and on which a kiosk opens its link. Its code stands behind #, so that no server, log or preview of
// links gets it.

export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in · Patchbay</title>
<link rel="stylesheet" href="/hub/sign-in/page.css">
<script type="module" src="/hub/sign-in/page.js"></script>
<main>
<h1>Patchbay</h1>
<form>
<label>User <input name="user" autocomplete="username" autocapitalize="none" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
<p role="alert"></p>
</form>
<noscript>Signing in needs JavaScript; programs send HTTP Basic or Bearer.</noscript>
</main>
`;

export const script = `const form = document.querySelector('form');
const alert = document.querySelector('[role=alert]');
const button = document.querySelector('button');
const place = location.hash.startsWith('#/') ? location.hash : '';
const code = place === '' ? location.hash.slice(1) : '';

async function signIn(body) {
  button.disabled = true;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  try {
    const response = await fetch('/hub/sign-in', { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    const { dashboard } = answer;
    location.replace('/hub/' + (dashboard ? '#/dashboards?name=' + encodeURIComponent(dashboard) : place));
  } catch (error) {
    alert.textContent = error.message;
    button.disabled = false;
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  signIn({ user: form.user.value, password: form.password.value });
});
if (code !== '') {
  history.replaceState(null, '', location.pathname);
  signIn({ code });
}
`;

export const style = `:root { font: 1rem/1.4 system-ui, sans-serif; color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
form { display: grid; gap: 1rem; width: min(20rem, 90vw); }
label { display: grid; gap: .25rem; }
input, button { font: inherit; padding: .6rem; }
[role=alert] { margin: 0; min-height: 3em; }
`;
