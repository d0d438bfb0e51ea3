// Attacks on memory: pending values of 60 KB, responses and changes that nobody reads, bodies that never end.

import { getHeapStatistics } from 'node:v8';
import { mostTextCharacters } from '../../../lib/graph/text-room.ts';
import { protocolName } from '../../../lib/wire/protocol.ts';
import { encodeClientText } from '../../support/load/web-socket.ts';
import { keepOpen, keepWebSocketOpen, pour } from './attack.ts';
import type { Scenario } from './scenario.ts';

const longText = 'x'.repeat(60_000);
const keptTextParameters = 5000;

/** Writes ever other texts of 60 KB, a hundred a second by each of ten sockets. */
function writeLongTexts(port: number, addressOf: (number: number) => string): void {
  let number = 0;
  for (let count = 0; count < 10; count++)
    keepWebSocketOpen(port, '/ws?filter=none', (socket) => {
      const write = () => {
        const message = JSON.stringify({ p: addressOf(number), v: `${number++} ${longText}` });
        if (socket.writableLength < 1024 * 1024) socket.write(encodeClientText(message));
      };
      const timer = setInterval(write, 10);
      socket.on('close', () => clearInterval(timer));
    });
}

const steps = [{ delay: '10s' }, { debounceTime: '10s' }, { pairwise: 'previous + value' }, { count: '10s' }];

const delayedTexts: Scenario = {
  about: 'text values of 60 KB; rules hold those of the last ten seconds',
  limits: [],
  parameters: steps.map((_, index) => `copy/${index}`),
  rules: steps.map((step, index) => ({
    name: `step ${index}`,
    from: 'desk/text',
    pipe: [step],
    to: `desk/copy/${index}`,
  })),
  attack: (port) => writeLongTexts(port, () => 'desk/text'),
};

const keptTexts: Scenario = {
  about: 'text values of 60 KB, written to constantly changing parameters out of 5,000',
  limits: [],
  parameters: Array.from({ length: keptTextParameters }, (_, index) => `texts/${index}`),
  keptMiB: mostTextCharacters(getHeapStatistics().heap_size_limit) / 2 / (1024 * 1024), // the half that one writer may have
  attack: (port) => writeLongTexts(port, (number) => `desk/texts/${number % keptTextParameters}`),
};

const unreadSockets: Scenario = {
  about: '960 sockets from four addresses are sent text values of 60 KB but read nothing',
  limits: [],
  attack(port) {
    for (let count = 0; count < 960; count++)
      keepWebSocketOpen(
        port,
        '/ws?filter=text$',
        (socket) => void socket.pause(),
        undefined,
        `127.0.0.${2 + (count % 4)}`,
      );
    writeLongTexts(port, () => 'desk/text');
  },
};

const unreadV1Sockets: Scenario = {
  about: '960 patchbay.v1 sockets from four addresses subscribe to text values of 60 KB but read nothing',
  limits: [],
  attack(port) {
    for (let count = 0; count < 960; count++)
      keepWebSocketOpen(
        port,
        '/ws',
        (socket) => {
          socket.write(encodeClientText('{"sub":1,"include":["desk/text"],"rate":0}'));
          socket.pause();
        },
        protocolName,
        `127.0.0.${2 + (count % 4)}`,
      );
    writeLongTexts(port, () => 'desk/text');
  },
};

const unreadLists: Scenario = {
  about: '500 HTTP connections request long responses but read nothing',
  limits: [],
  parameters: Array.from({ length: 20_000 }, (_, index) => `sensor-${index}/value,F,${index}`),
  attack(port) {
    for (let count = 0; count < 500; count++)
      keepOpen(port, (socket) => {
        socket.pause();
        const path = ['/hub/parameters', '/hub/openapi.json', '/hub/client.js', '/parameters/desk/text'][count % 4];
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      });
  },
};

const unfinishedBodies: Scenario = {
  about: '2,000 connections send a body of 64 KB except for its last byte, and then wait',
  limits: ['heldBodies'],
  attack(port) {
    const head =
      'POST /update HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n';
    for (let count = 0; count < 2000; count++) keepOpen(port, (socket) => void socket.write(head + 'x'.repeat(65_535)));
  },
};

const longMessages: Scenario = {
  about: '20 plain sockets send messages of 60 KB as fast as they can',
  limits: ['backlogBytes'],
  attack(port) {
    const message = encodeClientText(JSON.stringify({ p: 'desk/text', v: longText }));
    for (let count = 0; count < 20; count++)
      keepWebSocketOpen(port, '/ws?filter=none', (socket) => pour(socket, message));
  },
};

/** Abuses of memory, by name. */
export const memoryAbuses: Readonly<Record<string, Scenario>> = {
  'delayed-texts': delayedTexts,
  'kept-texts': keptTexts,
  'unread-sockets': unreadSockets,
  'unread-v1-sockets': unreadV1Sockets,
  'unread-lists': unreadLists,
  'unfinished-bodies': unfinishedBodies,
  'long-messages': longMessages,
};
