// GET and POST /hub/users: the users, their devices, and what those who manage do with them.

import { z } from 'zod';
import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import type { UserActed, UserAction, UserList } from '../../../../wire/http/operation/users.ts';
import type { Log } from '../../../connection.ts';
import { answerPost } from '../../http/answer-post.ts';
import type { Entry } from '../../http/guard/entry.ts';
import { remoteAddress } from '../../limits/remote-address.ts';
import type { Visitor } from '../../users/visitor.ts';

export function usersOf({ directory, devices }: Entry): UserList {
  const users = [...directory.accounts].map(({ name, rights: { settings }, hasPassword, tokenDigest }) => {
    const { read, write, deny, dashboards, manage, metrics } = settings;
    const grants = { read, write, deny, dashboards, manage, metrics };
    return { name, ...grants, hasPassword: hasPassword !== undefined, hasToken: tokenDigest !== undefined };
  });
  return { users, devices: devices.list() };
}

const nameExpected = 'the name of a device, or the ID of one that is revoked';
const actionSchema = z.strictObject({
  action: z.enum(['invite', 'revoke'], { error: 'one of "invite", "revoke"' }),
  user: z.string({ error: 'the name of a user' }).optional(),
  device: z.string({ error: nameExpected }).min(1, { error: nameExpected }),
  dashboard: z.string({ error: 'the name of a dashboard' }).optional(),
}) satisfies z.ZodType<UserAction>;

/** `POST /hub/users`. Errors: `not-found`, `conflict`. */
export function actOnUsers(
  entry: Entry,
  log: Log,
  visitor: Visitor,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const { devices, witness } = entry;
  const address = remoteAddress(response);
  answerPost(
    { response, request, visitor, log },
    actionSchema,
    ({ action, user = '', device, dashboard }): UserActed => {
      if (action === 'invite') {
        const code = devices.invite(user, device, dashboard);
        witness.note(visitor.name, address, 'invited', `kiosk "${device}" of ${user}`);
        return { link: `/hub/sign-in#${code}`, devices: devices.list() };
      }
      const { kind, name, user: whose } = devices.named(device);
      devices.end(device);
      witness.note(visitor.name, address, 'revoked', `${kind} "${name}" of ${whose}`);
      return { devices: devices.list() };
    },
  );
}
