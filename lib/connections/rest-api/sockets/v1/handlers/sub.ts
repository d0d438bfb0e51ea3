// `{"sub":1,"include":["desk/**"],"rate":60}` subscribes. Patterns are compiled, and matched with the parameters, in the slices of
// the client.

import { LimitError } from '../../../limits/limit-error.ts';
import { costOf } from '../../user-shares.ts';
import type { Client } from '../client.ts';
import { encode } from '../frames.ts';
import type { Desk, Handler } from './handler.ts';
import type { Request } from './subscription-reader.ts';

export const handleSub: Handler = (desk, client, message) => {
  let request: Request | undefined;
  const { sub } = message;
  return {
    subject: typeof sub === 'number' ? { sub } : {},
    advance(endMs) {
      request ??= readRequest(desk, client, message);
      if (request.subscription.selection.prepare(() => desk.hub.parameters(), endMs)) return true;
      subscribe(desk, client, request);
      return false;
    },
  };
};

function readRequest(desk: Desk, client: Client, message: object): Request {
  const request = desk.readSubscription(message, client.visitor);
  const { id, selection } = request.subscription;
  const others = client.subscriptions.filter((one) => one.id !== id);
  const steps = others.reduce((sum, one) => sum + one.selection.work, selection.work);
  const { clientSteps } = desk.limits;
  if (steps > clientSteps)
    throw new LimitError(
      'clientSteps',
      'bad-request',
      `sub: expected patterns of at most ${clientSteps} steps in all subscriptions together, got about ${Math.ceil(steps)}`,
    );
  return request;
}

function subscribe({ hub, groups, shares, limits }: Desk, client: Client, { subscription, since }: Request): void {
  const { id, rate, delivery } = subscription;
  const before = client.subscriptions.find((one) => one.id === id);
  if (before === undefined && client.subscriptions.length >= limits.subscriptions)
    throw new LimitError(
      'subscriptions',
      'bad-request',
      `sub: expected at most ${limits.subscriptions} subscriptions, got ${client.subscriptions.length + 1}`,
    );
  if (client.membership.name !== 'closed') {
    const others = client.subscriptions.filter((one) => one !== before);
    shares.change(client.share, costOf(client.subscriptions), costOf([...others, subscription]));
  }
  const canResume = since?.epoch === client.epoch && groups.structure.canResume(since.rev);
  if (canResume) client.definitions = client.definitions.resume(since.rev, hub.revision);
  const isSame = since === undefined && before?.patterns === subscription.patterns;
  const from = isSame ? undefined : canResume ? since.rev : 0;
  const mode = from === 0 && !canResume ? 'snapshot' : 'resume';
  groups.subscribe(client, subscription, from, encode({ sub: id, mode, rate, delivery }));
}
