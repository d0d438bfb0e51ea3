// `{"unsub":1}` ends a subscription.

import { z } from 'zod';
import { HubError } from '../../../../../model/error.ts';
import { parse } from '../../../input/parse.ts';
import { encode } from '../frames.ts';
import type { Handler } from './handler.ts';
import { subscriptionId } from './subscription-reader.ts';

const schema = z.strictObject({ unsub: subscriptionId });

export const handleUnsub: Handler = ({ groups }, client, message) => {
  const { unsub } = parse(schema, message);
  if (!client.subscriptions.some(({ id }) => id === unsub))
    throw new HubError('bad-request', `unsub: there is no subscription ${unsub}`);
  groups.unsubscribe(client, unsub, encode({ unsub }));
  return undefined;
};
