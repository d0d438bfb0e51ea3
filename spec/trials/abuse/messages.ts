// Floods of messages, as fast as the hub accepts them or one per response, and sockets whose small messages cause much work.

import { encodeClientFrame, encodeClientText, opcodes } from '../../support/load/web-socket.ts';
import { keepOpen, keepSending, keepWebSocketOpen, pour } from './attack.ts';
import type { Scenario } from './scenario.ts';

const moreParameters = Array.from(
  { length: 20_000 },
  (_, index) => `group-${index % 10}/sensor-${index}/value,F,${index}`,
);
const globs = Array.from({ length: 100 }, (_, index) => `*e*k/*ro*p-*/*en*or-*${index}*/*a*ue*`);

const plainChanges: Scenario = {
  about:
    'one plain socket sends changes as fast as they are accepted, 400 at a time, and all other sockets receive them',
  limits: [],
  attack(port) {
    let value = 0;
    const burst = () => Array.from({ length: 400 }, () => `{"p":"desk/neighbour/none","v":${value++}}`);
    keepWebSocketOpen(port, '/ws?filter=neighbour/none$', (socket) => {
      const send = () => void socket.write(Buffer.concat(burst().map(encodeClientText)));
      setInterval(send, 1).unref();
      send();
    });
  },
};

const v1Changes: Scenario = {
  about:
    'one patchbay.v1 socket sends changes as fast as they are acknowledged: 8 messages in flight, with 1,000 changes each',
  limits: [],
  attack(port) {
    for (let count = 0; count < 8; count++)
      keepSending(
        port,
        1,
        (number) =>
          JSON.stringify({
            set: Array.from({ length: 1000 }, (_, index) => ['desk/text', `${number} ${index}`]),
            ack: 1,
          }),
        (text) => text.includes('"ack":'),
      );
  },
};

const v1Pings: Scenario = {
  about: '50 patchbay.v1 sockets ping as fast as they are answered',
  limits: [],
  attack: (port) =>
    keepSending(
      port,
      50,
      (number) => `{"ping":${number}}`,
      (text) => text.includes('"pong":'),
    ),
};

const subscriptions: Scenario = {
  about:
    '20 patchbay.v1 sockets change their subscriptions to 20,000 parameters as fast as the hub accepts the changes',
  limits: [],
  parameters: moreParameters,
  attack: (port) =>
    keepSending(
      port,
      20,
      (number) => JSON.stringify({ sub: 1, include: [`desk/group-${number % 10}/*/value`], rate: number % 7 }),
      (text) => text.includes('"end":'),
    ),
};

const globLists: Scenario = {
  about: '20 patchbay.v1 sockets subscribe to 100 constantly changing globs with several stars, over 20,000 parameters',
  limits: [],
  parameters: moreParameters,
  attack: (port) =>
    keepSending(
      port,
      20,
      (number) => JSON.stringify({ sub: 1, include: globs.map((glob) => `${glob}${number % 1000 || ''}`) }),
      (text) => text.includes('"end":') || text.includes('"error":'),
    ),
};

const v1Snapshots: Scenario = {
  about: '50 patchbay.v1 sockets repeatedly request all 20,000 parameters',
  limits: [],
  parameters: moreParameters,
  attack: (port) =>
    keepSending(
      port,
      50,
      (number) => JSON.stringify({ sub: number % 30, include: ['**'] }),
      (text) => text.includes('"end":'),
    ),
};

const fragments: Scenario = {
  about: 'one plain socket sends its messages in fragments of one byte',
  limits: [],
  attack: (port) =>
    keepWebSocketOpen(port, '/ws', (socket) => {
      const bytes = Buffer.from('{"p":"desk/text","v":"fragments"}');
      const pieces = Array.from(bytes, (byte, index) => {
        const isLast = index === bytes.length - 1;
        return Buffer.of((isLast ? 0x80 : 0) | (index === 0 ? opcodes.text : 0), 0x81, 0, 0, 0, 0, byte);
      });
      pour(socket, Buffer.concat(pieces));
    }),
};

const compressed: Scenario = {
  about: 'sockets that offer compression and send frames marked as compressed',
  limits: [],
  attack(port) {
    for (let count = 0; count < 50; count++)
      keepOpen(port, (socket) => {
        socket.on('data', () => {
          const frame = encodeClientFrame(Buffer.alloc(1000), opcodes.text);
          frame[0]! |= 0x40; // RSV1 (RFC 7692 section 6)
          socket.write(frame);
        });
        socket.write(handshake('Sec-WebSocket-Extensions: permessage-deflate\r\n'));
      });
  },
};

const upgrades: Scenario = {
  about: '100 connections repeatedly perform valid and invalid handshakes',
  limits: [],
  attack(port) {
    for (let count = 0; count < 100; count++)
      keepOpen(port, (socket) => {
        socket.on('data', () => socket.destroy());
        socket.write(count % 2 === 0 ? handshake('') : handshake('').replace('Version: 13', 'Version: 7'));
      });
  },
};

function handshake(headers: string): string {
  return (
    'GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    `Sec-WebSocket-Key: cGF0Y2hiYXkgYmVuY2ggLg==\r\nSec-WebSocket-Version: 13\r\n${headers}\r\n`
  );
}

/** Abuses by messages, by name. */
export const messageAbuses: Readonly<Record<string, Scenario>> = {
  'plain-changes': plainChanges,
  'v1-changes': v1Changes,
  'v1-pings': v1Pings,
  subscriptions,
  'glob-lists': globLists,
  'v1-snapshots': v1Snapshots,
  fragments,
  compressed,
  upgrades,
};
