// Messages of thousands of writes, all of which fail.

import { keepSending } from '../ask.ts';
import type { Scenario } from '../scenario.ts';

const sockets = 20;
const items = 5000;
const message = JSON.stringify({ set: Array.from({ length: items }, (_, index) => [`x/${index}`, 1]), ack: 1 });

export const setErrors: Scenario = {
  about: '20 patchbay.v1 sockets write 5,000 unknown addresses in each message',
  limits: [],
  attack: (port) =>
    keepSending(
      port,
      sockets,
      () => message,
      (text) => text.includes('"ack":'),
    ),
};
