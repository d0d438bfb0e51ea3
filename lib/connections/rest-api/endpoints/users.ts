// GET and POST /hub/users: the users, their devices and kiosk links, and managers' actions.

import { HubError } from '../../../model/error.ts';
import {
  type UserActed,
  type UserAction,
  type UserList,
  userActed,
  userAction,
  userList,
} from '../../../wire/http/user-shapes.ts';
import type { Entry } from '../http/guard/entry.ts';
import { expectPresent } from '../users/view.ts';
import { type Asked, action, type Context, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/users',
    need: 'manage',
    id: 'listUsers',
    tag: 'users',
    summary: 'Users, signed-in devices, and unopened kiosk links',
    answer: userList,
    read: ({ entry }) => usersOf(entry),
  }),
  action({
    path: '/hub/users',
    need: 'manage',
    id: 'actOnUsers',
    tag: 'users',
    summary: 'Creates a one-time link that signs a kiosk in, or revokes a device or unopened links',
    body: userAction,
    answer: userActed,
    answered: 'The devices, the unopened links, and the new link',
    errors: { 404: 'User, dashboard, device or link not found', 409: 'Too many unopened links' },
    act: (context, body, asked) => (body.action === 'invite' ? invite : revoke)(context, body, asked),
  }),
];

function usersOf({ directory, devices }: Entry): UserList {
  const users = [...directory.accounts].map(({ name, rights: { settings }, password, tokenDigest }) => {
    const { read, write, deny, dashboards, edit, manage, metrics } = settings;
    const grants = { read, write, deny, dashboards, edit, manage, metrics };
    return { name, ...grants, hasPassword: password !== undefined, hasToken: tokenDigest !== undefined };
  });
  return { users, ...devices.list() };
}

/** Creates a link with which a kiosk can sign in as a user. Errors: `not-found`, `forbidden`, `conflict`. */
async function invite(
  { entry: { devices, auditSink }, dashboards }: Context,
  { user = '', device, dashboard }: UserAction,
  { principal, sender }: Asked,
): Promise<UserActed> {
  if (dashboard !== undefined && !(await dashboards.has(dashboard)))
    throw new HubError('not-found', `dashboard: expected the name of a dashboard, got "${dashboard}"`);
  expectPresent(principal); // the rights may have changed while the disk was being read
  const code = devices.invite(user, device, dashboard);
  auditSink.note(principal.name, sender.address, 'invited', `kiosk "${device}" of ${user}`);
  return { link: `/hub/sign-in#${code}`, ...devices.list() };
}

/** Signs a device out, or revokes a kiosk link. Errors: `not-found`. */
function revoke(
  { entry: { devices, auditSink } }: Context,
  { device }: UserAction,
  { principal, sender }: Asked,
): UserActed {
  for (const revoked of devices.revoke(device)) auditSink.note(principal.name, sender.address, 'revoked', revoked);
  return devices.list();
}
