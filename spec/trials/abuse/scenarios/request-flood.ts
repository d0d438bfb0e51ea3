// One HTTP connection that pipelines requests as fast as it can, and reads what is answered.

import { keepOpen, pour } from '../pour.ts';
import type { Scenario } from '../scenario.ts';

const refused = Buffer.from('GET /parameters/desk/lampe HTTP/1.1\r\nHost: localhost\r\n\r\n');

export const requestFlood: Scenario = {
  about: 'one HTTP connection pipelines requests that are refused, and reads the answers',
  limits: ['pipelinedRequests'],
  attack: (port) =>
    keepOpen(port, (socket) => {
      socket.on('data', () => {});
      pour(socket, refused);
    }),
};
