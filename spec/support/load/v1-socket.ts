// A socket of patchbay.v1 (docs/protocol.md), reduced to what a load needs: incoming frames, outgoing messages, subscriptions.

import type { Socket } from 'node:net';
import { protocolName } from '../../../lib/wire/protocol.ts';
import type { Subscribe, Write } from '../../../lib/wire/v1/client-messages.ts';
import type { ReceivedMessage } from '../../../lib/wire/v1/hub-messages.ts';
import { type FrameListener, FrameReader } from './frame-reader.ts';
import { encodeClientFrame, encodeClientText, opcodes, openWebSocket } from './web-socket.ts';

/** Any message of the hub; which keys it has says what it is. The parameters of loads are numbers. */
export type V1Message = Omit<ReceivedMessage, 'set'> & {
  readonly set?: readonly (readonly [id: number, value: number])[] | undefined;
};

export interface V1Socket {
  readonly socket: Socket;
  /** How many bytes of frames have come. */
  receivedBytes(): number;
  send(message: Subscribe | Write): void;
}

/** Opens a socket; `onText` receives the payload of each text frame, `onEnd` the reason why the socket or its reader ended. */
export async function openV1Socket(
  port: number,
  onText: (payload: Buffer) => void,
  onEnd: (reason: string) => void,
  headers: Readonly<Record<string, string>> = {},
): Promise<V1Socket> {
  let bytes = 0;
  let opened: Socket | undefined;
  const onFrame: FrameListener = (payload, opcode) => {
    if (opcode === opcodes.text) onText(payload);
    else if (opcode === opcodes.ping) opened?.write(encodeClientFrame(payload, opcodes.pong));
    else if (opcode === opcodes.close) onEnd(`closed with ${payload.readUInt16BE(0)} ${payload.toString('utf8', 2)}`);
    else onEnd(`expected texts, got opcode ${opcode}`);
  };
  const frames = new FrameReader(onFrame);
  const onBytes = (chunk: Buffer, length: number) => {
    bytes += length;
    try {
      frames.read(chunk, length);
    } catch (error) {
      onEnd((error as Error).message);
    }
  };
  const socket = await openWebSocket(port, '/ws', { onBytes, onClose: onEnd }, protocolName, { headers });
  opened = socket;
  return {
    socket,
    receivedBytes: () => bytes,
    send: (message) => void socket.write(encodeClientText(JSON.stringify(message))),
  };
}

/** What a message of the hub says. Errors: when it says that something was wrong. */
export function readMessage(text: string): V1Message {
  const message = JSON.parse(text) as V1Message;
  if (message.error !== undefined || (message.errors?.length ?? 0) > 0)
    throw new Error(`expected no error, got ${text.slice(0, 300)}`);
  return message;
}
