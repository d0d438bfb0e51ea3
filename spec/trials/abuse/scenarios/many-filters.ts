// A filter of its own for each of a thousand sockets, while all parameters change.

import { encodeClientText } from '../../../support/load/web-socket.ts';
import { manyParameters } from '../many-parameters.ts';
import { keepWebSocketOpen } from '../pour.ts';
import type { Scenario } from '../scenario.ts';

const sockets = 1000;
const writesPerSecond = 10_000;
const everyMs = 10;

export const manyFilters: Scenario = {
  about: '1,000 plain sockets with a regular expression each, and 10,000 writes a second over 10,000 parameters',
  limits: [],
  parameters: manyParameters,
  attack(port) {
    for (let index = 0; index < sockets; index++) {
      const filter = encodeURIComponent(`group-[${index % 10}a-f]/sensor-${index}.*(value|state)$`);
      keepWebSocketOpen(port, `/ws?filter=${filter}`, () => {});
    }
    let number = 0;
    keepWebSocketOpen(port, '/ws?filter=none', (socket) => {
      const write = () => {
        for (let count = 0; count < (writesPerSecond * everyMs) / 1000; count++) {
          const index = number++ % manyParameters.length;
          const p = `desk/group-${index % 10}/sensor-${index}/value`;
          socket.write(encodeClientText(JSON.stringify({ p, v: number })));
        }
      };
      const timer = setInterval(write, everyMs);
      socket.on('close', () => clearInterval(timer));
    });
  },
};
