// One WebSocket that sends as fast as it can.

import { protocolName } from '../../../../lib/wire/protocol.ts';
import { encodeClientFrame, encodeClientText, opcodes } from '../../../support/load/web-socket.ts';
import { keepWebSocketOpen, pour } from '../pour.ts';
import type { Scenario } from '../scenario.ts';

export const plainFlood: Scenario = {
  about: 'one plain socket sends messages as fast as it can',
  limits: ['backlogBytes'],
  attack: (port) =>
    keepWebSocketOpen(port, '/ws', (socket) => pour(socket, encodeClientText('{"p":"desk/text","v":"flood"}'))),
};

export const v1PingFlood: Scenario = {
  about: 'one patchbay.v1 socket sends pings as fast as it can',
  limits: ['backlogBytes'],
  attack: (port) =>
    keepWebSocketOpen(port, '/ws', (socket) => pour(socket, encodeClientText('{"ping":1}')), protocolName),
};

export const pingFlood: Scenario = {
  about: 'one socket sends ping frames of the WebSocket protocol as fast as it can',
  limits: ['backlogBytes'],
  attack: (port) =>
    keepWebSocketOpen(port, '/ws', (socket) => pour(socket, encodeClientFrame(Buffer.alloc(0), opcodes.ping))),
};
