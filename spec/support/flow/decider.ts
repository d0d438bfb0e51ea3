// A gateway that holds everything back until a spec decides.

import { NEVER, Observable } from 'rxjs';
import { z } from 'zod';
import { defineGatewayType } from '../../../lib/connections/connection.ts';
import type { HubPort } from '../../../lib/connections/hub-port.ts';

/** The type `decider`; `take` gets the port of the hub, by which it is decided. */
export function createDecider(take: (port: HubPort) => void) {
  return defineGatewayType({
    type: 'decider',
    isExternal: true,
    settingsSchema: z.strictObject({}),
    parameters: () => [],
    startsOnLeaderOnly: () => 'waits for the decider',
    run: (_, hub) =>
      new Observable((subscriber) => {
        take(hub);
        subscriber.next({ state: 'running' });
        return NEVER.subscribe();
      }),
  });
}
