// Users: their rights, the devices on which they have signed in, and unopened kiosk links. Devices and links can be revoked.

import { Show } from 'solid-js';
import { counted } from '../../model/digits.ts';
import type { Device, KioskLink, UserAction, UserInfo, UserList } from '../../wire/http/user-shapes.ts';
import { createAttempt, postJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { t } from '../language/language.ts';
import { route, setParams } from '../page/route.ts';
import { formatDate, formatSpan, useNow } from '../page/units.ts';
import { createConfirmation } from '../parts/confirm.tsx';
import { GuardedFor } from '../parts/guarded.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Fault, isSought, Search } from '../parts/view-bar.tsx';
import { createKioskInvitation } from './kiosk-invitation.tsx';
import { Matrix } from './matrix.tsx';

export default function Users() {
  const { data, error, refresh } = usePolled<UserList>('/hub/users');
  const { ask, Confirmation } = createConfirmation();
  const { failure, run } = createAttempt(refresh);
  const revoke = (device: string) =>
    run(() => postJson('/hub/users', { action: 'revoke', device } satisfies UserAction));
  const confirm: Confirm = (name, text, device) =>
    ask({ title: `Revoke ${name}?`, text, verb: 'Revoke', act: () => revoke(device) });
  const { invite, KioskInvitation } = createKioskInvitation(refresh);
  const isMatrix = () => route().params.as === 'matrix';
  const users = () => data()?.users.filter(({ name }) => isSought(name)) ?? [];
  const devices = () => data()?.devices.filter(({ name, user, kind }) => isSought(name, user, kind)) ?? [];
  const links = () => data()?.kioskLinks.filter(({ name, user }) => isSought(name, user, 'kiosk', 'link')) ?? [];
  return (
    <>
      <div class="bar">
        <h1>{t('Users')}</h1>
        <span class="count">
          {counted(users().length, 'user')}, {counted(devices().length, 'device')}
          {links().length > 0 && `, ${counted(links().length, 'unopened link')}`}
        </span>
        <Search label="Search users and devices" placeholder="Search by user, device or kind" />
        <Show when={users().length > 0}>
          <button
            type="button"
            aria-pressed={isMatrix()}
            onClick={() => setParams({ as: isMatrix() ? undefined : 'matrix' })}
          >
            Matrix
          </button>
        </Show>
      </div>
      <Fault text={error()} />
      <div class="scroll" tabIndex={-1}>
        <Show when={data()?.users.length === 0}>
          <p class="note">
            This hub is open: anyone can do anything. To restrict access, define users and their rights in the{' '}
            <code>users</code> setting of the REST API connection.
          </p>
        </Show>
        <Show when={users().length > 0}>
          <Show when={isMatrix()} fallback={<UserTable users={users()} invite={invite} />}>
            <Matrix users={users()} />
          </Show>
        </Show>
        <Fault text={failure()} />
        <Show when={data() && data()!.users.length > 0}>
          <Show when={devices().length > 0} fallback={<p class="note">No browser or kiosk is signed in.</p>}>
            <DeviceTable devices={devices()} confirm={confirm} />
          </Show>
          <Show when={links().length > 0}>
            <LinkTable links={links()} confirm={confirm} />
          </Show>
        </Show>
      </div>
      <Confirmation />
      <KioskInvitation />
    </>
  );
}

/** Asks for confirmation before a device or link is revoked. `text` explains the effect of the revocation. */
type Confirm = (name: string, text: string, device: string) => void;

function UserTable(props: { readonly users: readonly UserInfo[]; readonly invite: (user: UserInfo) => void }) {
  return (
    <table class="cards">
      <TableHead columns={['User', 'Reads', 'Writes', 'Denied', 'Dashboards', 'Also', 'Actions']} />
      <tbody>
        <GuardedFor each={props.users} as="tr">
          {(user) => (
            <tr data-user={user.name}>
              <td>
                <strong>{user.name || 'the username set in the connection'}</strong>
                <div class="muted">{waysIn(user)}</div>
              </td>
              <Globs label="reads" list={user.read} />
              <Globs label="writes" list={user.write} />
              <Globs label="denied" list={user.deny} />
              <Globs label="dashboards" list={user.manage ? ['**'] : user.dashboards} />
              <td data-label="also">{also(user)}</td>
              <td class="nowrap actions">
                <Show when={user.name}>
                  <button type="button" aria-label={`Invite kiosk for ${user.name}`} onClick={() => props.invite(user)}>
                    Invite kiosk
                  </button>
                  <a
                    class="button"
                    href={`/hub/?as=${encodeURIComponent(user.name)}`}
                    title="The console as this user sees it, read-only"
                    aria-label={`See as ${user.name}`}
                  >
                    See as
                  </a>
                </Show>
              </td>
            </tr>
          )}
        </GuardedFor>
      </tbody>
    </table>
  );
}

function Globs(props: { readonly label: string; readonly list: readonly string[] }) {
  return (
    <td class="mono" data-label={props.label}>
      {props.list.join(', ') || '–'}
    </td>
  );
}

/** Returns the kinds of credentials that a user has. A user without credentials exists only for kiosks. */
function waysIn({ hasPassword, hasToken }: UserInfo): string {
  return [...(hasPassword ? ['password'] : []), ...(hasToken ? ['token'] : [])].join(', ') || 'kiosks only';
}

function also({ manage, metrics }: UserInfo): string {
  if (manage) return 'manages the hub';
  return metrics ? 'metrics' : '–';
}

function DeviceTable(props: { readonly devices: readonly Device[]; readonly confirm: Confirm }) {
  const now = useNow();
  const textOf = ({ kind, user }: Device) =>
    `The ${kind} of ${user} will be signed out immediately and will ${kind === 'kiosk' ? 'need a new link' : 'have to sign in again'}.`;
  return (
    <table class="cards">
      <TableHead columns={['Device', 'Kind', 'User', 'Since', 'Last seen', 'Actions']} />
      <tbody>
        <GuardedFor each={props.devices} as="tr">
          {(device) => (
            <tr data-device={device.id}>
              <td class="wide">
                <strong>{device.name}</strong>
              </td>
              <td>{device.kind}</td>
              <td data-label="user">{device.user}</td>
              <td class="nowrap" data-label="since" title={formatDate(device.since)}>
                {formatSpan(now() - Date.parse(device.since))}
              </td>
              <td class="nowrap" data-label="last seen" title={`${formatDate(device.seen)} (accurate to the hour)`}>
                {formatSpan(now() - Date.parse(device.seen))}
              </td>
              <RevokeCell what={device.name} revoke={(what) => props.confirm(what, textOf(device), device.id)} />
            </tr>
          )}
        </GuardedFor>
      </tbody>
    </table>
  );
}

function LinkTable(props: { readonly links: readonly KioskLink[]; readonly confirm: Confirm }) {
  const now = useNow();
  const text = 'All unopened links with this name will stop working.';
  return (
    <table class="cards">
      <TableHead columns={['Unopened link', 'User', 'Dashboard', 'Valid for', 'Actions']} />
      <tbody>
        <GuardedFor each={props.links} as="tr">
          {(link) => (
            <tr data-link={link.name}>
              <td class="wide">
                <strong>{link.name}</strong>
              </td>
              <td data-label="user">{link.user}</td>
              <td data-label="dashboard">{link.dashboard ?? '–'}</td>
              <td class="nowrap" data-label="valid for" title={`until ${formatDate(link.until)}`}>
                {formatSpan(Date.parse(link.until) - now())}
              </td>
              <RevokeCell what={`the link for ${link.name}`} revoke={(what) => props.confirm(what, text, link.name)} />
            </tr>
          )}
        </GuardedFor>
      </tbody>
    </table>
  );
}

function RevokeCell(props: { readonly what: string; readonly revoke: (what: string) => void }) {
  return (
    <td class="nowrap actions">
      <button type="button" aria-label={`Revoke ${props.what}`} onClick={() => props.revoke(props.what)}>
        Revoke
      </button>
    </td>
  );
}
