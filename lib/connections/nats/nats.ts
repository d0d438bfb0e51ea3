// NATS: hubs of one domain see the parameters of one another, by address.

import { Observable } from 'rxjs';
import { type ConnectionEvent, defineGatewayType } from '../connection.ts';
import { openLink } from './link/link.ts';
import { settingsSchema } from './settings.ts';

export const nats = defineGatewayType({
  type: 'nats',
  isExternal: true,
  settingsSchema,
  parameters: () => [],
  claims: () => [{ kind: 'domain', name: 'the domain of the hub', scope: '*' }],
  run: (context) =>
    new Observable<ConnectionEvent>((subscriber) => {
      const link = openLink(context);
      const following = link.state$.subscribe({
        next: (state) => {
          if (state.session !== undefined) subscriber.next({ state: 'running' });
          else if (state.reason !== '') subscriber.next({ state: 'degraded', reason: state.reason });
        },
        error: (error) => subscriber.error(error),
      });
      return () => {
        following.unsubscribe();
        context.finish(link.close());
      };
    }),
});
