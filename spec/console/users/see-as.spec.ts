// A manager sees the console as another user does: what that user reads, and nothing can be changed.

import test from 'ava';
import { expectAccessible } from '../../support/browser/accessible.ts';
import { openConsole, signIn, waitUntil } from '../../support/browser/console.ts';
import { pale } from '../../support/browser/legible.ts';
import { browser } from '../../support/browser/own-browser.ts';
import { ask } from '../../support/http.ts';
import { api, startTestHub, writer } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';

const users = {
  root: { password: 'root', read: ['**'], write: ['**'], manage: true, edit: ['**'] },
  reception: { password: 'reception', read: ['door/**'], write: ['door/**'] },
  other: { password: 'other', read: ['**'], manage: false },
};
const start = shared(async (t) =>
  startTestHub(t, {
    connections: {
      api: { ...api, users },
      door: { type: 'dummy', parameters: ['open,B,false'] },
      desk: { type: 'dummy', parameters: ['mic,B,false'] },
    },
  }),
);
const basic = (user: string) => ({ authorization: `Basic ${btoa(`${user}:${user}`)}` });

test.serial('the hub answers a manager as it would answer the user, and refuses every change', async (t) => {
  const hub = await start();
  const { port } = hub;
  const headers = { ...basic('root'), 'patchbay-see-as': 'reception', 'content-type': 'application/json' };
  const me = JSON.parse((await ask(t, port, 'GET /hub/me', { headers })).text) as Record<string, unknown>;
  t.like(me, { user: 'reception', read: ['door/**'], write: [], edit: [], manage: false });
  const list = JSON.parse(
    (await ask(t, port, 'GET /hub/parameters', { headers: { ...headers, accept: 'application/json' } })).text,
  );
  t.deepEqual(
    (list as { parameter: string }[]).map(({ parameter }) => parameter),
    ['door/open'],
  );
  t.is((await ask(t, port, 'GET /hub/explain/desk/mic', { headers })).status, 404);
  t.is((await ask(t, port, 'GET /hub/connections', { headers })).status, 403);
  const update = { headers, body: JSON.stringify({ parameter: 'door/open', value: true }) };
  t.is((await ask(t, port, 'POST /update', update)).status, 403);
  t.is((await ask(t, port, 'GET /update?parameter=door/open&value=true', { headers })).status, 403);
  t.is(
    (await ask(t, port, 'POST /hub/users', { headers, body: '{"action":"invite","user":"root","device":"x"}' })).status,
    403,
  );
  const upgrade = { ...headers, upgrade: 'websocket' };
  t.not((await ask(t, port, 'POST /update', { ...update, headers: upgrade })).status, 200);
  t.is(hub.find('door/open')?.value, false);
  for (const user of ['reception', 'other'])
    t.is(
      (await ask(t, port, 'GET /hub/me', { headers: { ...headers, ...basic(user), 'patchbay-see-as': 'root' } }))
        .status,
      403,
    );
  t.is((await ask(t, port, 'GET /hub/me', { headers: { ...headers, 'patchbay-see-as': 'nobody' } })).status, 404);
  t.is((await ask(t, port, 'GET /hub/me', { headers: { ...headers, 'patchbay-see-as': '%zz' } })).status, 400);
  t.like(JSON.parse((await ask(t, port, 'GET /hub/me', { headers: basic('reception') })).text), { write: ['door/**'] });
});

test.serial('the page says as whom it is seen, shows only what the user sees, live, and leads back', async (t) => {
  const hub = await start();
  const page = await openConsole(t, browser, hub.port, '#/users');
  await signIn(page, 'root', 'root');
  await page.evaluate("location.hash = '#/users'");
  await page.getByRole('link', { name: 'See as reception' }).click();
  const note = page.getByRole('note').getByText('You are viewing the console as reception.');
  await note.waitFor();
  t.deepEqual(await page.evaluate(pale()), []);
  await page.evaluate("location.hash = '#/parameters'");
  const row = page.locator('[role=row][data-address="door/open"]');
  await row.getByText('false').waitFor();
  hub.write('door/open', true, writer);
  await row.getByText('true').waitFor();
  t.is(await page.locator('[data-address="desk/mic"]').count(), 0);
  t.is(await page.getByRole('navigation').getByRole('link', { name: 'Users' }).count(), 0);
  await page.evaluate("location.hash = '#/parameters?address=door/open'");
  await page.getByText('Read-only: you are not allowed to set it.').first().waitFor();
  await expectAccessible(t, page);
  await page.reload();
  await note.waitFor();
  await page.getByRole('link', { name: 'Back to your own view' }).click();
  await page.getByTitle('Sign out root').waitFor();
  await waitUntil(page, async () => (await page.getByText('You are viewing the console as').count()) === 0);
  await page.getByRole('link', { name: 'See as other' }).waitFor();
});
