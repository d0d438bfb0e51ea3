// NATS: hubs of one domain see the parameters of one another, by address.

import { Observable } from 'rxjs';
import { type ConnectionEvent, defineGatewayType } from '../connection.ts';
import { selectBy } from './globs.ts';
import { openLink } from './link/link.ts';
import { Mirrors } from './mirrors/mirrors.ts';
import { unrivalled } from './ownership.ts';
import { settingsSchema } from './settings.ts';
import { Sharer } from './sharing/sharer.ts';

export const nats = defineGatewayType({
  type: 'nats',
  isExternal: true,
  settingsSchema,
  parameters: () => [],
  claims: () => [{ kind: 'domain', name: 'the domain of the hub', scope: '*' }],
  run: (context, hub) =>
    new Observable<ConnectionEvent>((subscriber) => {
      const { settings, scheduler, timeOfDay, log, finish } = context;
      const shared = { hub, name: settings, ownership: unrivalled, scheduler };
      const mirrors = new Mirrors({ ...shared, isSelected: selectBy(settings.mirror), timeOfDay, log });
      const sharer = new Sharer({ ...shared, isSelected: selectBy(settings.share), soon: setImmediate });
      const link = openLink(context);
      const following = link.state$.subscribe({
        next: (state) => {
          if (state.session !== undefined) {
            const { transport } = state.session;
            mirrors.attach(transport);
            sharer.attach(transport);
            subscriber.next({ state: 'running' });
          } else {
            sharer.detach();
            mirrors.detach();
            if (state.reason !== '') subscriber.next({ state: 'degraded', reason: state.reason });
          }
        },
        error: (error) => subscriber.error(error),
      });
      return () => {
        sharer.flush();
        following.unsubscribe();
        sharer.stop();
        mirrors.stop();
        finish(link.close());
      };
    }),
});
