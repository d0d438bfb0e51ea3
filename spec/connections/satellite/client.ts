// A surface, written from the published Satellite protocol (docs of Bitfocus Companion, "Satellite Protocol API") and from nothing of the hub:
// it has no screen, but keeps what its keys would show.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';

export interface KeyShown {
  readonly bitmap?: Buffer;
  readonly color?: string;
  readonly textColor?: string;
  readonly text?: string;
  readonly fontSize?: string;
}

export interface SurfaceOptions {
  readonly port: number;
  readonly host?: string;
  readonly over?: 'tcp' | 'ws';
  readonly deviceId: string;
  /** Further arguments of ADD-DEVICE, as they are written: `BITMAPS=72 TEXT=true`. */
  readonly args?: string;
  /** Whether it answers the pings of the server and sends its own, as the protocol asks for. */
  readonly isSilent?: boolean;
  /** What it does with the beginning and the length of each KEY-STATE; without it, it keeps them. */
  onKey?(key: number, head: string, length: number): void;
}

export class SurfaceClient {
  readonly lines: string[] = [];
  readonly keys = new Map<number, KeyShown>();
  brightness: number | undefined;
  begin: string | undefined;
  isClosed = false;
  clears = 0;
  readonly options: SurfaceOptions;
  #write: (text: string) => void = () => {};
  #destroy: () => void = () => {};
  #rest = Buffer.alloc(0);
  #pinging: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(options: SurfaceOptions) {
    this.options = options;
  }

  /** Connects and adds the device. Resolves with the answer to ADD-DEVICE. */
  async start(): Promise<string> {
    await this.open();
    return this.add();
  }

  async open(): Promise<void> {
    const { host = '127.0.0.1', port, over = 'tcp' } = this.options;
    if (over === 'tcp') {
      const socket: Socket = connect({ host, port, noDelay: true });
      this.#write = (text) => void socket.write(text);
      this.#destroy = () => socket.destroy();
      socket.on('data', (bytes) => this.#received(bytes as Buffer));
      socket.on('error', () => {});
      socket.on('close', () => this.#closed());
      await once(socket, 'connect');
    } else {
      const socket = new WebSocket(`ws://${host}:${port}`);
      this.#write = (text) => socket.send(text);
      this.#destroy = () => socket.terminate();
      socket.on('message', (data) => this.#received(data as Buffer));
      socket.on('error', () => {});
      socket.on('close', () => this.#closed());
      await once(socket, 'open');
    }
    if (this.options.isSilent !== true) this.#pinging = setInterval(() => this.send('PING 1'), 1000);
    await this.until(() => this.begin !== undefined);
  }

  async add(): Promise<string> {
    const { deviceId, args = '' } = this.options;
    this.send(`ADD-DEVICE DEVICEID="${deviceId}" PRODUCT_NAME="Test surface" ${args}`);
    let answer: string | undefined;
    await this.until(() => {
      answer = this.lines.find((line) => line.startsWith('ADD-DEVICE ') && line.includes(`DEVICEID="${deviceId}"`));
      return answer !== undefined || this.isClosed;
    });
    return answer ?? 'closed';
  }

  send(line: string): void {
    if (!this.isClosed) this.#write(`${line}\n`);
  }

  sendRaw(text: string): void {
    if (!this.isClosed) this.#write(text);
  }

  press(key: number | string, pressed = true): void {
    this.send(`KEY-PRESS DEVICEID="${this.options.deviceId}" KEY=${key} PRESSED=${pressed}`);
  }

  rotate(key: number, direction: 1 | -1): void {
    this.send(`KEY-ROTATE DEVICEID="${this.options.deviceId}" KEY=${key} DIRECTION=${direction}`);
  }

  end(): void {
    clearInterval(this.#pinging);
    this.#destroy();
  }

  /** Resolves once something is so that a received line or the end of the link can have made so. */
  async until(isSo: () => boolean, limitMs = 60_000): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(
          new Error(
            `${this.options.deviceId}: ${isSo} did not become true, lines: ${this.lines.slice(-5).join(' | ')}`,
          ),
        );
      }, limitMs);
      const look = () => {
        if (!isSo()) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }

  #closed(): void {
    this.isClosed = true;
    clearInterval(this.#pinging);
    for (const look of [...this.#waiting]) look();
  }

  #received(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let from = 0;
    for (let end = all.indexOf(10); end >= 0; end = all.indexOf(10, from)) {
      this.#line(all.subarray(from, end));
      from = end + 1;
    }
    this.#rest = Buffer.from(all.subarray(from));
    for (const look of [...this.#waiting]) look();
  }

  #line(bytes: Buffer): void {
    const { onKey } = this.options;
    if (onKey !== undefined && bytes.length > 1000) {
      const head = bytes.toString('latin1', 0, 400); // the bitmap is last
      onKey(Number(argumentOf(head, 'KEY')), head, bytes.length);
      return;
    }
    const line = bytes.toString().replace(/\r$/, '');
    const [command = ''] = line.split(' ', 1);
    if (command === 'BEGIN') this.begin = line;
    else if (command === 'PING') {
      if (this.options.isSilent !== true) this.send(line.replace('PING', 'PONG'));
    } else if (command === 'KEYS-CLEAR') {
      this.clears++;
      this.keys.clear();
    } else if (command === 'BRIGHTNESS') this.brightness = Number(argumentOf(line, 'VALUE'));
    else if (command === 'KEY-STATE') {
      const key = Number(argumentOf(line, 'KEY'));
      if (onKey !== undefined) onKey(key, line, bytes.length);
      else this.keys.set(key, shownBy(line));
    } else if (command !== 'PONG') this.lines.push(line);
  }
}

/** The value of an argument of a line, quoted or not. */
export function argumentOf(line: string, name: string): string | undefined {
  const found = new RegExp(`(?:^| )${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|(\\S*))`).exec(line);
  return found === null ? undefined : (found[1]?.replaceAll(/\\(.)/g, '$1') ?? found[2]);
}

function shownBy(line: string): KeyShown {
  const [bitmap, text] = [argumentOf(line, 'BITMAP'), argumentOf(line, 'TEXT')];
  const rest = {
    color: argumentOf(line, 'COLOR'),
    textColor: argumentOf(line, 'TEXTCOLOR'),
    fontSize: argumentOf(line, 'FONT_SIZE'),
  };
  return {
    ...(bitmap !== undefined && { bitmap: Buffer.from(bitmap, 'base64') }),
    ...(text !== undefined && { text: Buffer.from(text, 'base64').toString() }),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
  };
}

/** The colour of a pixel of a bitmap of three bytes per pixel: `#ff0000`. */
export function pixelOf(bitmap: Buffer, x: number, y: number): string {
  const size = Math.sqrt(bitmap.length / 3);
  return `#${bitmap.toString('hex', (y * size + x) * 3, (y * size + x) * 3 + 3)}`;
}
