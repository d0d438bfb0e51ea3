// The attacks: the code of each, and what the log of the hub must say about it.

import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { protocolName } from '../../../lib/wire/protocol.ts';
import { encodeClientFrame, encodeClientText, opcodes } from '../../support/load/web-socket.ts';
import { keepAsking, keepOpen, keepSending, keepWebSocketOpen, pour } from './attack.ts';
import { memoryAbuses } from './memory.ts';
import { messageAbuses } from './messages.ts';
import { requestAbuses } from './requests.ts';
import { asAbuser, manyParameters, type Scenario } from './scenario.ts';

const floodersOfAKind = 17;
const longText = 'x'.repeat(60_000);
const listers = 50;
const subscribers = 50;
const refusedEvery = 100;
const globs = 1500;
const filterers = 1000;
const writesPerSecond = 10_000;
const everyMs = 10;
const wrongWriters = 20;
const guessers = 100;
/** Neighbours come without credentials. */
const wrongWrites = JSON.stringify({ set: Array.from({ length: 5000 }, (_, index) => [`x/${index}`, 1]), ack: 1 });
const askers = 300;
const pages = ['/hub/log', '/hub/clients', '/hub/rules', '/hub/trace?rule=none', '/hub/explain/desk/lamp'];
const returners = 1000;
const closeAfterMs = 200;
const comers = 50;
const tricklers = 1000;
const trickleEveryMs = 100;
const writers = 500;
const mostClients = 200;
const refused = Buffer.from('GET /parameters/desk/lampe HTTP/1.1\r\nHost: localhost\r\n\r\n');
/** The head of a masked text frame of 4 MiB (RFC 6455 section 5.2). */
const longFrameHead = Buffer.of(0x81, 0xff, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0);
/** The largest message that is read at all, but for its last byte. */
const unfinishedFrame = Buffer.concat([
  Buffer.of(0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
  Buffer.alloc(65_535),
]);
/** By name. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'plain-flood': {
    about: 'one plain socket sends messages as fast as it can',
    limits: ['backlogBytes'],
    attack: (port) =>
      keepWebSocketOpen(port, '/ws', (socket) => pour(socket, encodeClientText('{"p":"desk/text","v":"flood"}'))),
  },
  'v1-ping-flood': {
    about: 'one patchbay.v1 socket sends pings as fast as it can',
    limits: ['backlogBytes'],
    attack: (port) =>
      keepWebSocketOpen(port, '/ws', (socket) => pour(socket, encodeClientText('{"ping":1}')), protocolName),
  },
  'ping-flood': {
    about: 'one socket sends ping frames of the WebSocket protocol as fast as it can',
    limits: ['backlogBytes'],
    attack: (port) =>
      keepWebSocketOpen(port, '/ws', (socket) => pour(socket, encodeClientFrame(Buffer.alloc(0), opcodes.ping))),
  },
  'request-flood': {
    about: 'one HTTP connection pipelines requests that are refused, and reads the responses',
    limits: ['pipelinedRequests'],
    attack: (port) =>
      keepOpen(port, (socket) => {
        socket.on('data', () => {});
        pour(socket, refused);
      }),
  },
  'many-floods': {
    about: '51 clients flood the hub at once: 17 plain sockets, 17 patchbay.v1 sockets and 17 HTTP connections',
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
  },
  'unread-answers': {
    about: 'one HTTP connection pipelines requests for a value of 60 KB, and reads nothing',
    limits: ['unreadAnswers', 'pipelinedRequests'],
    async attack(port) {
      await new Promise<void>((resolve, reject) => {
        const headers = { 'content-type': 'application/json' };
        const asking = request({ port, host: '127.0.0.1', path: '/update', method: 'POST', headers }, (answer) => {
          answer.resume().on('end', resolve);
        });
        asking.on('error', reject).end(JSON.stringify({ parameter: 'desk/text', value: longText }));
      });
      keepOpen(port, (socket) => {
        socket.pause();
        pour(socket, Buffer.from('GET /parameters/desk/text HTTP/1.1\r\nHost: localhost\r\n\r\n'));
      });
    },
  },
  'pattern-lists': {
    about: '50 HTTP connections list 10,000 parameters with the most expensive filters possible',
    limits: ['patternSteps'],
    parameters: manyParameters,
    attack: (port) =>
      keepAsking(port, listers, (number) => {
        const times = number % refusedEvery === 0 ? 200 : 190;
        return `/hub/parameters?filter=${encodeURIComponent(`(?i)(.*){1,${times}}~${number}`)}`;
      }),
  },
  'pattern-subs': {
    about:
      '50 patchbay.v1 sockets subscribe to constantly changing patterns: regexes with large programs and 1,500 globs with many stars',
    limits: ['patternSteps'],
    parameters: manyParameters,
    attack: (port) =>
      keepSending(port, subscribers, subscriptionOf, (text) => text.includes('"end":') || text.includes('"error":')),
  },
  'many-filters': {
    about: '1,000 plain sockets with one regular expression each, and 10,000 writes per second to 10,000 parameters',
    limits: [],
    parameters: manyParameters,
    attack(port) {
      for (let index = 0; index < filterers; index++) {
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
  },
  'set-errors': {
    about: '20 patchbay.v1 sockets write to 5,000 unknown addresses in each message',
    limits: [],
    attack: (port) =>
      keepSending(
        port,
        wrongWriters,
        () => wrongWrites,
        (text) => text.includes('"ack":'),
      ),
  },
  lists: {
    about: '300 HTTP connections repeatedly list 10,000 parameters',
    limits: [],
    parameters: manyParameters,
    attack: (port) => keepAsking(port, askers, () => '/hub/parameters'),
  },
  pages: {
    about: '300 HTTP connections repeatedly request the log, the clients and the rules',
    limits: [],
    parameters: manyParameters,
    attack: (port) =>
      keepAsking(port, askers, (number) => ({ line: `GET ${pages[number % pages.length]}`, headers: asAbuser })),
  },
  snapshots: {
    about: '1,000 plain sockets request a snapshot of 10,000 parameters, and then reconnect',
    limits: [],
    parameters: manyParameters,
    attack(port) {
      for (let index = 0; index < returners; index++)
        keepWebSocketOpen(port, '/ws?snapshot=true', (socket) => void setTimeout(() => socket.destroy(), closeAfterMs));
    },
  },
  churn: {
    about: '50 connections repeatedly open a WebSocket, subscribe to everything and are cut off',
    limits: [],
    attack(port) {
      for (let count = 0; count < comers; count++) comeAndGo(port);
    },
  },
  trickle: {
    about: '1,000 connections send a request byte by byte: half of them the headers, and half of them the body',
    limits: [],
    attack(port) {
      const head = 'GET /parameters/desk/lamp HTTP/1.1\r\nHost: localhost\r\nX-Filler: ';
      const body =
        'POST /update HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n';
      for (let count = 0; count < tricklers; count++)
        keepOpen(port, (socket) => {
          socket.write(count % 2 === 0 ? head : body);
          const timer = setInterval(() => socket.write('x'), trickleEveryMs);
          socket.on('close', () => clearInterval(timer));
        });
    },
  },
  'long-frames': {
    about: '500 sockets repeatedly begin a message of 4 MiB',
    limits: ['frameBytes'],
    attack(port) {
      for (let count = 0; count < writers; count++)
        keepWebSocketOpen(
          port,
          '/ws',
          (socket) => void socket.write(Buffer.concat([longFrameHead, Buffer.alloc(65_536)])),
        );
    },
  },
  'unfinished-frames': {
    about: '500 sockets send a message of 64 KiB except for its last byte, and then wait',
    limits: [],
    attack(port) {
      for (let count = 0; count < writers; count++)
        keepWebSocketOpen(port, '/ws', (socket) => void socket.write(unfinishedFrame));
    },
  },
  'wrong-tokens': {
    about: '20 HTTP connections from one address send one wrong token after another',
    limits: ['wrongCredentials'],
    users: { op: { token: 'a-token-that-nobody-guesses', read: ['**'] } },
    attack: (port) =>
      keepAsking(port, wrongWriters, (number) => ({
        line: 'GET /parameters/desk/lamp',
        headers: { Authorization: `Bearer no-such-token-at-all-${number}` },
      })),
  },
  'wrong-passwords': {
    about: 'a hundred addresses behind a proxy send one wrong password after another',
    limits: [],
    settings: { trustedProxies: ['127.0.0.1'] },
    users: { op: { password: `$scrypt$ln=15,r=8,p=3$${'a'.repeat(22)}$${'a'.repeat(43)}`, read: ['**'] } },
    attack: (port) =>
      keepAsking(port, guessers, (number) => ({
        line: 'GET /parameters/desk/lamp',
        headers: {
          Authorization: `Basic ${Buffer.from(`op:${number}`).toString('base64')}`,
          'X-Forwarded-For': `198.51.100.${number % guessers}`,
        },
      })),
  },
  'many-clients': {
    about: 'more and more WebSockets from one address, 500 at a time',
    limits: ['clientsPerAddress'],
    settings: { limits: { clientsPerAddress: mostClients } },
    attack(port) {
      for (let count = 0; count < writers; count++) keepWebSocketOpen(port, '/ws', () => {});
    },
  },
  ...requestAbuses,
  ...messageAbuses,
  ...memoryAbuses,
};

function subscriptionOf(number: number): string {
  if (number % refusedEvery === 0) return JSON.stringify({ sub: 1, include: [{ regex: '(?i)(.*){1,200}~' }] });
  if (number % 2 === 0) return JSON.stringify({ sub: 1, include: [{ regex: `(?i)(.*){1,190}~${number}` }] });
  const include = Array.from({ length: globs }, (_, index) => `*e*${number + index}*s*a*e*o*a*u*~`);
  return JSON.stringify({ sub: 1, include });
}

/** Opens a socket, and cuts it as soon as something has come. */
function comeAndGo(port: number): void {
  const socket: Socket = connect({ host: '127.0.0.1', port });
  socket.write(
    'GET /ws?snapshot=true HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Key: cGF0Y2hiYXkgYmVuY2ggLg==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  socket.once('data', () => socket.resetAndDestroy());
  socket.on('error', () => {});
  socket.on('close', () => setImmediate(comeAndGo, port));
}
