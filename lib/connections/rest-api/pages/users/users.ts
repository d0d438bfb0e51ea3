// GET and POST /hub/users: the users, their devices, links to kiosks, and what those who manage do with them.

import { z } from 'zod';
import { HubError } from '../../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import type { UserActed, UserAction, UserList } from '../../../../wire/http/operation/users.ts';
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

const nameExpected = 'the name of a device; of one that is revoked its ID, or the name in links to it';
const actionSchema = z.strictObject({
  action: z.enum(['invite', 'revoke'], { error: 'one of "invite", "revoke"' }),
  user: z.string({ error: 'the name of a user' }).optional(),
  device: z.string({ error: nameExpected }).min(1, { error: nameExpected }),
  dashboard: z.string({ error: 'the name of a dashboard' }).optional(),
}) satisfies z.ZodType<UserAction>;

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
  answerPost({ response, request, visitor, queue, log }, actionSchema, (act) =>
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
