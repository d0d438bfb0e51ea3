// GET and POST /hub/users: the users, their devices, links to kiosks, and what those who manage do with them.

import { HubError } from '../../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import { type UserActed, type UserAction, type UserList, userAction } from '../../../../wire/http/users.ts';
import type { Log } from '../../../connection.ts';
import { answerPost } from '../../http/answer-post.ts';
import type { Entry } from '../../http/guard/entry.ts';
import type { FairQueue } from '../../pacing/fair-queue.ts';
import { remoteAddressOf } from '../../proxies/remote-address.ts';
import { expectPresent } from '../../users/present.ts';
import type { Visitor } from '../../users/visitor.ts';
import type { Dashboards } from '../dashboards.ts';

export function usersOf({ directory, devices }: Entry): UserList {
  const users = [...directory.accounts].map(({ name, rights: { settings }, password, tokenDigest }) => {
    const { read, write, deny, dashboards, manage, metrics } = settings;
    const grants = { read, write, deny, dashboards, manage, metrics };
    return { name, ...grants, hasPassword: password !== undefined, hasToken: tokenDigest !== undefined };
  });
  return { users, ...devices.list() };
}

export interface UserOffice {
  readonly entry: Entry;
  readonly log: Log;
  readonly queue: FairQueue;
  readonly dashboards: Pick<Dashboards, 'has'>;
}

/** `POST /hub/users`. Errors: `not-found`, `forbidden`, `conflict`. */
export function actOnUsers(
  { entry: { devices, witness }, log, queue, dashboards }: UserOffice,
  visitor: Visitor,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const address = remoteAddressOf(response);
  answerPost({ response, request, visitor, queue, log }, userAction, (act) =>
    act.action === 'invite' ? invite(act) : revoke(act),
  );

  async function invite({ user = '', device, dashboard }: UserAction): Promise<UserActed> {
    if (dashboard !== undefined && !(await dashboards.has(dashboard)))
      throw new HubError('not-found', `dashboard: there is no "${dashboard}"`);
    expectPresent(visitor); // also when the disk is slow
    const code = devices.invite(user, device, dashboard);
    witness.note(visitor.name, address, 'invited', `kiosk "${device}" of ${user}`);
    return { link: `/hub/sign-in#${code}`, ...devices.list() };
  }

  function revoke({ device }: UserAction): UserActed {
    for (const revoked of devices.revoke(device)) witness.note(visitor.name, address, 'revoked', revoked);
    return devices.list();
  }
}
