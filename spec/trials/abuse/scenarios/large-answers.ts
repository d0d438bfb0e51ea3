// What takes the hub long to answer, asked for by many at once.

import { keepAsking } from '../ask.ts';
import { manyParameters } from '../many-parameters.ts';
import { keepWebSocketOpen } from '../pour.ts';
import type { Scenario } from '../scenario.ts';

const connections = 300;
const sockets = 1000;
const closeAfterMs = 200;
const pages = ['/hub/log', '/hub/clients', '/hub/rules', '/hub/trace?rule=none', '/hub/explain/desk/lamp'];

export const lists: Scenario = {
  about: '300 HTTP connections list 10,000 parameters again and again',
  limits: [],
  parameters: manyParameters,
  attack: (port) => keepAsking(port, connections, () => '/hub/parameters'),
};

export const pageRequests: Scenario = {
  about: '300 HTTP connections ask for the log, the clients and the rules again and again',
  limits: [],
  parameters: manyParameters,
  attack: (port) => keepAsking(port, connections, (number) => pages[number % pages.length]!),
};

export const snapshots: Scenario = {
  about: '1,000 plain sockets ask for a snapshot of 10,000 parameters, and come again',
  limits: [],
  parameters: manyParameters,
  attack(port) {
    for (let index = 0; index < sockets; index++)
      keepWebSocketOpen(port, '/ws?snapshot=true', (socket) => void setTimeout(() => socket.destroy(), closeAfterMs));
  },
};
