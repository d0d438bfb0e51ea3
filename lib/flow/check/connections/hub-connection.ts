// The parameters of the hub itself. They are there once a flow file names one of them: then the plan has a connection `hub`, which
// no file may declare.

import { concatWith, NEVER, of } from 'rxjs';
import { z } from 'zod';
import { type ConnectionEvent, defineConnectionType } from '../../../connections/connection.ts';
import { type ConnectionPlan, hubId, hubParameters } from '../../plan.ts';

const hubType = defineConnectionType({
  type: 'hub',
  isExternal: false,
  settingsSchema: z.strictObject({}),
  parameters: () => hubParameters,
  run: () => of<ConnectionEvent>({ state: 'running' }).pipe(concatWith(NEVER)),
});

/** The hub as a connection. It listens to nothing. */
export const hubConnection: ConnectionPlan = {
  id: hubId,
  file: '',
  type: hubType,
  settings: {},
  secrets: [],
  enabled: true,
  description: 'the hub itself',
  parameters: hubParameters,
  folder: '',
  key: hubId,
  inputs: {},
  inputTypes: new Map(),
  settleOrder: -1,
};
