// A WebSocket client (RFC 6455) reduced to what a load needs: the handshake, whole frames, and the raw bytes received. All sockets read
// into one buffer, allocated once.

import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** The opcodes of frames that loads send or are sent (RFC 6455 section 5.2). */
export const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const longestShort = 125;
const longestMiddle = 65_535;
const readBuffer = Buffer.allocUnsafeSlow(256 * 1024);

/** The events of a socket: bytes of frames (valid only during the call), and its end. */
interface SocketHandlers {
  onBytes(chunk: Buffer, length: number): void;
  onClose(reason: string): void;
}

/** Headers of the handshake, and the address of this machine that the socket comes from. */
export interface Further {
  readonly headers?: Readonly<Record<string, string>>;
  readonly localAddress?: string | undefined;
}

/** Opens a socket; resolves after the handshake. Errors: when the answer is another than RFC 6455 asks for. */
export function openWebSocket(
  port: number,
  path: string,
  handlers: SocketHandlers,
  protocol?: string,
  { headers = {}, localAddress }: Further = {},
): Promise<Socket> {
  const key = 'cGF0Y2hiYXkgYmVuY2ggLg==';
  return new Promise((resolve, reject) => {
    let isOpen = false;
    let head = '';
    const onRead = (length: number, chunk: Uint8Array): boolean => {
      const bytes = chunk as Buffer;
      if (isOpen) handlers.onBytes(bytes, length);
      else {
        head += bytes.toString('latin1', 0, length);
        const end = head.indexOf('\r\n\r\n') + 4;
        if (end < 4) return true;
        const mistake = handshakeMistake(head, key, protocol);
        if (mistake !== undefined) reject(new Error(mistake));
        isOpen = true;
        const frames = Buffer.from(head.slice(end), 'latin1');
        if (frames.length > 0) handlers.onBytes(frames, frames.length);
        resolve(socket);
      }
      return true;
    };
    const socket = connect({
      host: '127.0.0.1',
      port,
      ...(localAddress !== undefined && { localAddress }),
      noDelay: true,
      onread: { buffer: readBuffer, callback: onRead },
    });
    socket.on('error', (error) => (isOpen ? handlers.onClose(error.message) : reject(error)));
    socket.on('end', () => (isOpen ? handlers.onClose('the server ended it') : reject(new Error('refused'))));
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n` +
        `${protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`}` +
        `${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n`,
    );
  });
}

/** A frame as a client sends it, masked with zeros: what masking hides a proxy from, a benchmark has not. */
export function encodeClientFrame(payload: Uint8Array, opcode: number): Buffer {
  const head = frameHead(payload.length, opcode);
  head[1]! |= 0x80;
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

export function encodeClientText(text: string): Buffer {
  return encodeClientFrame(Buffer.from(text), opcodes.text);
}

/** The frame of a message as a server sends it. */
export function encodeServerText(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([frameHead(payload.length, opcodes.text), payload]);
}

/** The head of a last frame with so much payload, at most 4 GiB (RFC 6455 section 5.2). */
function frameHead(bytes: number, opcode: number): Buffer {
  if (bytes <= longestShort) return Buffer.of(0x80 | opcode, bytes);
  if (bytes <= longestMiddle) return Buffer.of(0x80 | opcode, 126, bytes >> 8, bytes & 0xff);
  const head = Buffer.alloc(10);
  head.writeUInt16BE(((0x80 | opcode) << 8) | 127);
  head.writeUInt32BE(bytes, 6);
  return head;
}

function handshakeMistake(head: string, key: string, protocol: string | undefined): string | undefined {
  if (!head.startsWith('HTTP/1.1 101 ')) return `expected 101, got ${head.split('\r\n', 1)[0]}`;
  const accept = createHash('sha1')
    .update(key + guid)
    .digest('base64');
  if (!head.includes(`: ${accept}\r\n`)) return 'expected the digest of the key in Sec-WebSocket-Accept';
  if (protocol === undefined || new RegExp(`^Sec-WebSocket-Protocol: ${protocol}\r$`, 'im').test(head))
    return undefined;
  return `expected the subprotocol ${protocol}, got none`;
}
