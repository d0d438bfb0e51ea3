// What the contract suite has to know of mqtt.

import type { ContractCase } from '../../support/contract.ts';
import { startMosquitto } from '../../support/mosquitto.ts';
import { needs } from '../../support/programs.ts';

needs('mosquitto');

const parameters = { lamp: { type: 'B', topic: 'lamp', set: 'lamp/set' }, go: { type: 'T', set: 'go' } };

export const contractCase: ContractCase = {
  settings: { url: 'mqtt://127.0.0.1:9', parameters },
  troubles: [
    {
      what: 'there is no broker',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
      async cause(t) {
        const broker = await startMosquitto(t);
        await broker.kill();
        return { settings: { url: broker.url, parameters }, end: () => broker.start() };
      },
    },
  ],
};
