// `{"unsub":1}` ends a subscription.

import { z } from 'zod';
import { HubError } from '../../../../../model/error.ts';
import { parse } from '../../../input/parse.ts';
import { costOf } from '../../user-shares.ts';
import { encode } from '../frames.ts';
import type { Handler } from './handler.ts';
import { subscriptionId } from './subscription-reader.ts';

const schema = z.strictObject({ unsub: subscriptionId });

export const handleUnsub: Handler = ({ groups, shares }, client, message) => {
  const { unsub } = parse(schema, message);
  if (!client.subscriptions.some(({ id }) => id === unsub))
    throw new HubError('bad-request', `unsub: there is no subscription ${unsub}`);
  if (client.membership.name !== 'closed') {
    const others = client.subscriptions.filter(({ id }) => id !== unsub);
    shares.change(client.share, costOf(client.subscriptions), costOf(others));
  }
  groups.unsubscribe(client, unsub, encode({ unsub }));
  return undefined;
};
