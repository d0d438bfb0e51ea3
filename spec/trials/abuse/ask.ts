// Abuses that ask for more than it costs them: each connection asks again as soon as it has been answered.

import { protocolName } from '../../../lib/wire/protocol.ts';
import { encodeClientText, openWebSocket } from '../../support/load/web-socket.ts';
import { keepOpen } from './pour.ts';

const reopenAfterMs = 10;

/** Opens so many HTTP connections, each of which asks for one path after the other, for ever. */
export function keepAsking(port: number, connections: number, pathOf: (number: number) => string): void {
  let number = 0;
  for (let count = 0; count < connections; count++)
    keepOpen(port, (socket) => {
      const ask = () => socket.write(`GET ${pathOf(number++)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      let end = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        end = Buffer.concat([end, chunk.subarray(-8)]).subarray(-8);
        if (isAnswered(chunk, end)) ask();
      });
      ask();
    });
}

/** Whether an answer has come to its end: the last chunk of a stream, or a whole body, which ends a line here. */
function isAnswered(chunk: Buffer, end: Buffer): boolean {
  if (end.includes('0\r\n\r\n')) return true;
  return chunk.toString('latin1', 0, 2000).includes('Content-Length') && end.at(-1) === 0x0a;
}

/** Opens so many sockets of patchbay.v1, each of which sends the next message when the last has been answered. */
export function keepSending(
  port: number,
  sockets: number,
  messageOf: (number: number) => string,
  isAnswer: (text: string) => boolean,
): void {
  let number = 0;
  const open = () => {
    let isOver = false;
    const reopen = () => {
      if (!isOver) setTimeout(open, reopenAfterMs);
      isOver = true;
    };
    let send = () => {};
    const onBytes = (bytes: Buffer, length: number) => {
      if (isAnswer(bytes.toString('latin1', 0, length))) send();
    };
    openWebSocket(port, '/ws', { onBytes, onClose: reopen }, protocolName).then((socket) => {
      socket.on('close', reopen);
      send = () => void socket.write(encodeClientText(messageOf(number++)));
      send();
    }, reopen);
  };
  for (let count = 0; count < sockets; count++) open();
}
