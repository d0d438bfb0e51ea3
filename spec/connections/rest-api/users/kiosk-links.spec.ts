// Links that let a kiosk in: until they are opened they are listed and can be revoked, and they lead to no dashboard that cannot be opened.

import test, { type ExecutionContext } from 'ava';
import { KioskLinks } from '../../../../lib/connections/rest-api/users/devices.ts';
import type { UserActed, UserList } from '../../../../lib/wire/http/user-shapes.ts';
import { eventually } from '../../../support/deadline.ts';
import { ask } from '../../../support/http.ts';
import { api, expectQuietLog, startHubFrom } from '../../../support/hub.ts';

const users = {
  root: { token: 'root-token', read: ['**'], manage: true },
  ann: { token: 'ann-token', read: ['**'], dashboards: ['door', 'gone'] },
  door: { read: ['desk/**'], dashboards: ['door'] },
};
const files = {
  'flow.json5': {
    connections: {
      api: { ...api, users, dashboards: 'dashboards' },
      desk: { type: 'dummy', parameters: ['lamp,B,true'] },
    },
  },
  'dashboards/door.json5': '{ widgets: [] }',
  'dashboards/desk.json5': '{ widgets: [] }',
};
const json = { 'content-type': 'application/json', accept: 'application/json' };
const headers = { ...json, authorization: 'Bearer root-token' };

async function start(t: ExecutionContext) {
  const hub = await startHubFrom(t, files);
  const post = (body: object) => ask(t, hub.port, 'POST /hub/users', { headers, body: JSON.stringify(body) });
  return {
    hub,
    post,
    invite: async (device: string, user = 'door', dashboard?: string) => {
      const answer = await post({ action: 'invite', user, device, dashboard });
      return JSON.parse(answer.text) as UserActed;
    },
    /** The status of a device that opens a link. */
    open: async (link: string | undefined) => {
      const body = JSON.stringify({ code: link!.split('#')[1] });
      return (await ask(t, hub.port, 'POST /hub/sign-in', { headers: json, body })).status;
    },
    list: async () => {
      const { text } = await ask(t, hub.port, 'GET /hub/users', { headers });
      return { text, ...(JSON.parse(text) as UserList) };
    },
  };
}

test('a link is listed until it is opened: with its user, dashboard and end, but without its code', async (t) => {
  const { hub, invite, open, list } = await start(t);
  const { link, kioskLinks } = await invite('Reception', 'door', 'door');
  await invite('x'.repeat(5000), 'ann');
  const listed = await list();
  t.like(kioskLinks, [{ user: 'door', name: 'Reception', dashboard: 'door' }]);
  t.like(listed.kioskLinks, [kioskLinks[0], { user: 'ann', name: 'x'.repeat(100) }]);
  t.false('dashboard' in listed.kioskLinks[1]!);
  const hours = (Date.parse(kioskLinks[0]!.until) - Date.now()) / 3_600_000;
  t.true(hours > 23.9 && hours <= 24);
  t.false(listed.text.includes(link!.split('#')[1]!));
  t.is((await ask(t, hub.port, 'GET /hub/users', { headers: { authorization: 'Bearer ann-token' } })).status, 403);
  t.is(await open(link), 200);
  const after = await list();
  t.deepEqual([after.kioskLinks.length, after.devices.length], [1, 1]);
  expectQuietLog(t, hub);
});

test('all links of a name are revoked; others, and a kiosk with that name, stay', async (t) => {
  const { hub, post, invite, open, list } = await start(t);
  const opened = await invite('Reception');
  t.is(await open(opened.link), 200);
  const revoked = [await invite('Reception'), await invite('Reception', 'ann'), await invite('y'.repeat(101))];
  const other = await invite('Reception 2');
  t.is((await post({ action: 'revoke', device: 'Reception' })).status, 200);
  const { status, text } = await post({ action: 'revoke', device: 'y'.repeat(101) });
  t.is(status, 200);
  t.like(JSON.parse(text), { devices: [{ name: 'Reception' }], kioskLinks: [{ name: 'Reception 2' }] });
  for (const { link } of revoked) t.is(await open(link), 401);
  t.is(await open(other.link), 200);
  t.is((await list()).devices.length, 2);
  const again = await post({ action: 'revoke', device: 'Reception' });
  t.is(again.status, 404);
  t.regex(again.text, /device: no device has the ID \\"Reception\\" \(string\), and no unopened link has this name/);
  await hub.logged(/revoked, link to kiosk "Reception" of door/);
});

const dashboards: [user: string, dashboard: string, status: number, detail: RegExp][] = [
  ['door', 'none', 404, /dashboard: expected the name of a dashboard, got \\"none\\"/],
  ['ann', 'gone', 404, /dashboard: expected the name of a dashboard, got \\"gone\\"/],
  ['ann', '../dashboards/door', 404, /dashboard: expected the name of a dashboard/],
  ['door', 'desk', 403, /dashboard: expected a dashboard that user \\"door\\" may open, got \\"desk\\" \(string\)/],
  ['none', 'door', 404, /user: expected the name of a user, got \\"none\\"/],
];
for (const [user, dashboard, status, detail] of dashboards)
  test(`no link leads ${user} to the dashboard ${dashboard}: ${status}`, async (t) => {
    const { post, list } = await start(t);
    const answer = await post({ action: 'invite', user, device: 'Reception', dashboard });
    t.is(answer.status, status);
    t.regex(answer.text, detail);
    t.deepEqual((await list()).kioskLinks, []);
  });

test('a manager may open all dashboards', async (t) => {
  const { invite } = await start(t);
  t.like(await invite('Wall', 'root', 'desk'), { kioskLinks: [{ dashboard: 'desk' }] });
});

test('an expired link is no longer listed, and has no effect', async (t) => {
  const links = new KioskLinks(50);
  const invitation = { user: 'door', name: 'Reception', dashboard: undefined };
  const code = links.add(invitation);
  t.like(links.list(), [invitation]);
  await eventually(() => links.list().length === 0);
  t.is(links.exchange(code), undefined);
});
