// Many clients that flood at once, in every way that one of them can.

import { protocolName } from '../../../../lib/wire/protocol.ts';
import { encodeClientText } from '../../../support/load/web-socket.ts';
import { keepOpen, keepWebSocketOpen, pour } from '../pour.ts';
import type { Scenario } from '../scenario.ts';

const floodersOfAKind = 17;

export const manyFloods: Scenario = {
  p99Ms: 250, // each of them comes again as soon as it has been ended
  about: '51 clients flood at once: 17 plain sockets, 17 of patchbay.v1, 17 HTTP connections',
  limits: ['backlogBytes', 'pipelinedRequests'],
  attack(port) {
    for (let count = 0; count < floodersOfAKind; count++) {
      keepWebSocketOpen(port, '/ws', (socket) => pour(socket, encodeClientText('{"p":"desk/text","v":"flood"}')));
      keepWebSocketOpen(port, '/ws', (socket) => pour(socket, encodeClientText('{"ping":1}')), protocolName);
      keepOpen(port, (socket) => {
        socket.on('data', () => {});
        pour(socket, Buffer.from('GET /parameters/desk/lamp HTTP/1.1\r\nHost: localhost\r\n\r\n'));
      });
    }
  },
};
