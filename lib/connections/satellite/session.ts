// The server side of the Companion Satellite protocol: surfaces register on links, report key presses, and receive the contents of their
// keys. A link may serve several surfaces. Each link is paced separately: a surface that reads slowly receives only the latest state of its
// keys and does not delay other surfaces.

import type { SchedulerLike, Subscription } from 'rxjs';
import { LineReader } from '../../device/line-reader.ts';
import type { Value } from '../../model/value.ts';
import { bitmapBytes, drawKey, type KeyFace, keptBitmap, maxBitmapPixels, rgbOf } from './drawing.ts';
import { type Arguments, apiVersion, isTrue, type Line, maxLineBytes, readLine, writeLine } from './lines.ts';
import { type Link, type LinkEvents, maxQueuedBytes, ReusedBuffers } from './links.ts';
import { anyDevice, idOf, type OwnKey, type OwnSurface, readPlaceOfKey } from './settings.ts';

/** The maximum number of surfaces on a link. */
export const maxSurfacesPerLink = 16;
/** The maximum number of surfaces that can use a connection at the same time. */
export const maxSurfaces = 256;
/** The maximum time spent on drawing in one round of the event loop, in milliseconds. */
const drawPerRoundMs = 2;
/** How long a key is drawn before other keys after it has been pressed or turned, in milliseconds. */
const touchedMs = 1000;
/**
 * The time within which a connected surface must send data after another surface has registered with the same device ID, in milliseconds.
 * Otherwise, the other surface takes over.
 */
export const contestMs = 2000;
const pingMs = 1000;
/**
 * The maximum number of unconfirmed bitmap bytes of a link, and of all links of a connection. A link may always have `confirmBytes`
 * unconfirmed, and twice `windowBytes` for keys that have just been touched. Any further data would wait in the operating system's buffers
 * and delay the lamp of a pressed key.
 */
export const windowBytes = 131_072;
export const sharedWindowBytes = 1_048_576;
/** The number of bitmap bytes after which a surface must confirm that it has read them. */
const confirmBytes = 32_768;
const confirmation = 'drawn';

export interface SessionOptions {
  readonly surfaces: readonly OwnSurface[];
  readonly idleTimeoutMs: number;
  readonly scheduler: SchedulerLike;
  /** Whether all keys are drawn immediately, as in virtual time. */
  readonly isPlayed: boolean;
  /** Returns what a key currently shows. */
  faceOf(key: OwnKey): KeyFace;
  /** Returns the brightness of a surface in percent. */
  brightnessOf(surface: OwnSurface): number;
}

export interface SessionEvents {
  set(parameterId: string, value: Value): void;
  /** Called when the first device of a surface has connected and when its last device has disconnected. */
  connected(surface: OwnSurface, isConnected: boolean): void;
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  log(message: string, kind: string): void;
}

interface Client {
  readonly link: Link;
  readonly lines: LineReader;
  readonly surfaces: Map<string, Surface>;
  heardMs: number;
  pingedMs: number;
  isOpen: boolean;
  /**
   * The total number of bitmap bytes that were sent, for which a confirmation was requested, and that were confirmed. `confirmedBytes` is
   * undefined until the first confirmation.
   */
  drawnBytes: number;
  askedBytes: number;
  confirmedBytes: number | undefined;
}

/** A connected surface and the state of its keys. */
interface Surface {
  readonly client: Client;
  readonly deviceId: string;
  readonly own: OwnSurface;
  readonly keys: ReadonlyMap<number, OwnKey>;
  readonly numbers: ReadonlyMap<OwnKey, number>;
  readonly format: Format;
  readonly held: Set<OwnKey>;
  /** The keys to draw: `urgent` contains recently touched keys, and `dirty` contains the remaining keys. */
  readonly urgent: Set<OwnKey>;
  readonly dirty: Set<OwnKey>;
  contest: Contest | undefined;
}

/** The form in which a surface wants to receive the contents of its keys. */
interface Format {
  readonly keysTotal: number;
  readonly keysPerRow: number;
  /** The width and height of key bitmaps, in pixels; 0 means that the surface wants no bitmaps. */
  readonly bitmap: number;
  readonly colors: 'hex' | 'rgb' | undefined;
  readonly text: boolean;
  readonly textStyle: boolean;
  readonly brightness: boolean;
}

/** A second registration with the same device ID, which waits for a sign of life from the first surface. */
interface Contest {
  readonly client: Client;
  readonly line: Line;
  readonly timer: Subscription;
}

/** Draws keys on the connected surfaces, and reports when keys are pressed or knobs are turned. */
export class SatelliteSession {
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #clients = new Set<Client>();
  readonly #byDevice = new Map<string, Surface>();
  readonly #connected = new Map<OwnSurface, Set<Surface>>();
  readonly #holders = new Map<OwnKey, Set<Surface>>();
  readonly #touchedMs = new Map<OwnKey, number>();
  readonly #ownByDevice: ReadonlyMap<string, OwnSurface>;
  readonly #urgent = new Set<Surface>();
  readonly #waiting = new Set<Surface>();
  /** The number of unconfirmed bitmap bytes of all links. */
  #unconfirmedBytes = 0;
  readonly #buffers = new ReusedBuffers();
  #drawing: NodeJS.Immediate | undefined;
  #watching: Subscription | undefined;

  constructor(options: SessionOptions, events: SessionEvents) {
    this.#options = options;
    this.#events = events;
    this.#ownByDevice = new Map(options.surfaces.map((surface) => [surface.device, surface]));
  }

  get linkCount(): number {
    return this.#clients.size;
  }

  /** Adds a link and returns the handlers for its events. */
  join(link: Link): LinkEvents {
    const now = this.#options.scheduler.now();
    const client: Client = {
      ...{ link, lines: new LineReader(maxLineBytes), surfaces: new Map(), isOpen: true },
      ...{ heardMs: now, pingedMs: now, drawnBytes: 0, askedBytes: 0, confirmedBytes: undefined },
    };
    this.#clients.add(client);
    this.#watch();
    this.#send(client, 'BEGIN', { CompanionVersion: 'patchbay', ApiVersion: apiVersion });
    return {
      received: (bytes) => this.#received(client, bytes),
      drained: () => this.#resume(client),
      closed: () => this.#leave(client),
    };
  }

  /** Marks a key whose contents have changed. Call `draw` after all changes. */
  change(key: OwnKey): void {
    const surfaces = this.#connected.get(key.surface);
    if (surfaces === undefined) return;
    const isTouched =
      this.#options.scheduler.now() - (this.#touchedMs.get(key) ?? Number.NEGATIVE_INFINITY) < touchedMs;
    for (const surface of surfaces) {
      if (!surface.numbers.has(key)) continue;
      (isTouched ? surface.urgent : surface.dirty).add(key);
      this.#queue(surface);
    }
  }

  /** Draws the keys that have changed: for `drawPerRoundMs` at once, and the remaining keys in later rounds of the event loop. */
  draw(): void {
    if (this.#drawing === undefined) this.#draw();
  }

  setBrightness(own: OwnSurface, value: number): void {
    for (const surface of this.#connected.get(own) ?? []) this.#sendBrightness(surface, value);
  }

  stop(): void {
    this.#watching?.unsubscribe();
    if (this.#drawing !== undefined) clearImmediate(this.#drawing);
    for (const client of [...this.#clients]) this.#leave(client);
  }

  #received(client: Client, bytes: Buffer): void {
    if (!client.isOpen) return;
    client.heardMs = this.#options.scheduler.now();
    for (const surface of client.surfaces.values())
      if (surface.contest !== undefined) this.#refuseContest(surface, surface.contest);
    try {
      for (const line of client.lines.push(bytes)) if (client.isOpen && line.trim() !== '') this.#take(client, line);
    } catch (error) {
      const reason = (error as Error).message;
      this.#events.wire('in', bytes, reason);
      this.#send(client, 'ERROR', { MESSAGE: reason });
      this.#end(client);
    }
  }

  #take(client: Client, text: string): void {
    const line = readLine(text);
    const fault = this.#answer(client, line);
    // the keep-alives of all surfaces would fill the wire trace
    if (line.command !== 'PING' && line.command !== 'PONG') this.#events.wire('in', Buffer.from(text), fault);
  }

  /** Carries out a line. Returns the reason if the line is refused, otherwise undefined. */
  #answer(client: Client, line: Line): string | undefined {
    const { command, args, body } = line;
    switch (command) {
      case 'PING':
        client.link.send(`PONG ${body}\n`);
        return undefined;
      case 'PONG': {
        const [, bytes] = /^drawn-(\d{1,16})\s*$/.exec(body) ?? [];
        if (bytes === undefined || Number(bytes) > client.drawnBytes) return undefined;
        this.#unconfirmedBytes -= unconfirmedBytesOf(client);
        client.confirmedBytes = Math.max(client.confirmedBytes ?? 0, Number(bytes));
        this.#unconfirmedBytes += unconfirmedBytesOf(client);
        this.#resume(client);
        return undefined;
      }
      case 'QUIT':
        this.#end(client);
        return undefined;
      case 'ADD-DEVICE':
        return this.#refused(client, line, this.#add(client, line));
      case 'REMOVE-DEVICE':
      case 'KEY-PRESS':
      case 'KEY-ROTATE': {
        const surface = client.surfaces.get(args.get('DEVICEID') ?? '');
        const fault = surface === undefined ? 'expected the DEVICEID of a device that was added' : undefined;
        const reason = fault ?? (command === 'REMOVE-DEVICE' ? this.#remove(surface!) : this.#use(surface!, line));
        if (reason === undefined) this.#send(client, `${command} OK`, { DEVICEID: args.get('DEVICEID') });
        return this.#refused(client, line, reason);
      }
      case 'SET-VARIABLE-VALUE':
      case 'PINCODE-KEY':
      case 'FIRMWARE-UPDATE-INFO':
        return this.#refused(client, line, 'the hub does not support this command');
      default:
        this.#send(client, 'ERROR', { MESSAGE: `Unknown command: ${command.slice(0, 40)}` });
        return 'expected a command of the protocol';
    }
  }

  #refused(client: Client, { command, args }: Line, reason: string | undefined): string | undefined {
    if (reason !== undefined)
      this.#send(client, `${command} ERROR`, { DEVICEID: args.get('DEVICEID')?.slice(0, 200), MESSAGE: reason });
    return reason;
  }

  /** Registers a surface, or makes it wait if another surface has the same device ID. Returns the reason if the surface is refused. */
  #add(client: Client, line: Line): string | undefined {
    const { args } = line;
    const deviceId = args.get('DEVICEID') ?? '';
    if (deviceId === '' || deviceId.length > 200) return 'expected a DEVICEID of 1 to 200 characters';
    const own = this.#ownByDevice.get(deviceId) ?? this.#ownByDevice.get(anyDevice);
    if (own === undefined) {
      this.#events.log(
        `${client.link.name}: no entry in \`surfaces\` has the device ID ${JSON.stringify(deviceId)}: add an entry`,
        'unknown surface',
      );
      return 'no surface of this hub has this device ID';
    }
    const format = formatOf(args);
    if (typeof format === 'string') return format;
    const first = this.#byDevice.get(deviceId);
    if (first !== undefined && first.client !== client) {
      if (first.contest !== undefined) return 'two other surfaces have this device ID';
      this.#contest(first, client, line);
      return undefined;
    }
    if (first !== undefined) this.#remove(first);
    if (client.surfaces.size >= maxSurfacesPerLink) return `expected at most ${maxSurfacesPerLink} devices on a link`;
    if (this.#byDevice.size >= maxSurfaces) return `expected at most ${maxSurfaces} devices`;
    this.#attach(client, deviceId, own, format);
    return undefined;
  }

  #attach(client: Client, deviceId: string, own: OwnSurface, format: Format): void {
    const keys = new Map<number, OwnKey>();
    for (const key of own.keys) {
      const number = numberOf(key.place, format);
      if (number !== undefined) keys.set(number, key);
    }
    const numbers = new Map([...keys].map(([number, key]) => [key, number]));
    const surface: Surface = {
      ...{ client, deviceId, own, keys, numbers, format, contest: undefined },
      ...{ held: new Set(), urgent: new Set(), dirty: new Set(numbers.keys()) },
    };
    client.surfaces.set(deviceId, surface);
    this.#byDevice.set(deviceId, surface);
    const connected = this.#connected.get(own) ?? new Set();
    this.#connected.set(own, connected.add(surface));
    this.#send(client, 'ADD-DEVICE OK', { DEVICEID: deviceId });
    this.#send(client, 'KEYS-CLEAR', { DEVICEID: deviceId });
    this.#sendBrightness(surface, this.#options.brightnessOf(own));
    if (connected.size === 1) this.#events.connected(own, true);
    this.#queue(surface);
    this.draw();
  }

  #remove(surface: Surface): undefined {
    const { client, deviceId, own, contest } = surface;
    client.surfaces.delete(deviceId);
    this.#byDevice.delete(deviceId);
    this.#urgent.delete(surface);
    this.#waiting.delete(surface);
    for (const key of surface.held) this.#release(surface, key);
    const connected = this.#connected.get(own)!;
    connected.delete(surface);
    if (connected.size === 0) {
      this.#connected.delete(own);
      this.#events.connected(own, false);
    }
    surface.contest = undefined;
    contest?.timer.unsubscribe();
    if (contest?.client.isOpen === true) this.#answer(contest.client, contest.line);
    return undefined;
  }

  /**
   * Resolves a conflict between two surfaces with the same device ID. The first surface stays if it shows a sign of life within
   * `contestMs`. Otherwise its link is closed, and the second surface takes over.
   */
  #contest(first: Surface, client: Client, line: Line): void {
    const timer = this.#options.scheduler.schedule(() => this.#end(first.client), contestMs);
    first.contest = { client, line, timer };
    this.#send(first.client, 'PING', {});
  }

  #refuseContest(first: Surface, { client, line, timer }: Contest): void {
    timer.unsubscribe();
    first.contest = undefined;
    if (client.isOpen)
      this.#refused(
        client,
        line,
        `${first.client.link.name} has a surface with this device ID, which is still connected`,
      );
  }

  /** Handles a key press or the turn of an encoder. Returns the reason if the line is refused. */
  #use(surface: Surface, { command, args }: Line): string | undefined {
    const { format, keys } = surface;
    const place = readPlaceOfKey(args.get('KEY') ?? '');
    const number = place === undefined ? undefined : numberOf(place, format);
    if (number === undefined) return `expected a KEY of this device, which has ${format.keysTotal} keys`;
    const key = keys.get(number);
    if (key === undefined) return undefined; // the key is not in the settings
    this.#touchedMs.set(key, this.#options.scheduler.now());
    if (command === 'KEY-PRESS') {
      if (isTrue(args.get('PRESSED'))) this.#press(surface, key);
      else this.#release(surface, key);
    } else if (key.isEncoder)
      this.#events.set(idOf(key, isTrue(args.get('DIRECTION')?.replace('-1', '0')) ? 'right' : 'left'), true);
    return undefined;
  }

  #press(surface: Surface, key: OwnKey): void {
    surface.held.add(key);
    const holders = this.#holders.get(key) ?? new Set();
    this.#holders.set(key, holders.add(surface));
    this.#events.set(idOf(key, 'pressed'), true);
  }

  #release(surface: Surface, key: OwnKey): void {
    surface.held.delete(key);
    const holders = this.#holders.get(key);
    holders?.delete(surface);
    if (holders !== undefined && holders.size > 0) return; // the key is still held on another surface
    this.#holders.delete(key);
    this.#events.set(idOf(key, 'pressed'), false);
  }

  /** Periodically closes links on which no data arrives, and sends pings to quiet links. */
  #watch(): void {
    if (this.#watching !== undefined || this.#clients.size === 0) return;
    const { scheduler, idleTimeoutMs } = this.#options;
    const dueMs = scheduler.now() + pingMs / 2;
    this.#watching = scheduler.schedule(() => {
      this.#watching = undefined;
      const now = scheduler.now();
      for (const client of [...this.#clients]) {
        client.heardMs += Math.max(0, now - dueMs); // the hub could not receive data while it was busy
        if (now - client.heardMs >= idleTimeoutMs) {
          this.#events.wire('in', Buffer.from(client.link.name), `expected a line within ${idleTimeoutMs / 1000} s`);
          this.#end(client);
        } else if (now - Math.max(client.heardMs, client.pingedMs) >= pingMs) {
          client.pingedMs = now;
          client.link.send('PING\n');
        }
      }
      this.#watch();
    }, pingMs / 2);
  }

  #end(client: Client): void {
    client.link.end();
    this.#leave(client);
  }

  #leave(client: Client): void {
    if (!client.isOpen) return;
    client.isOpen = false;
    this.#unconfirmedBytes -= unconfirmedBytesOf(client);
    this.#clients.delete(client);
    for (const surface of this.#byDevice.values())
      if (surface.contest?.client === client) {
        surface.contest.timer.unsubscribe();
        surface.contest = undefined;
      }
    for (const surface of [...client.surfaces.values()]) this.#remove(surface);
  }

  /** Draws the keys that were waiting because the link was full. */
  #resume(client: Client): void {
    for (const surface of client.surfaces.values()) this.#queue(surface);
    this.draw();
  }

  #queue(surface: Surface): void {
    if (surface.urgent.size > 0) this.#urgent.add(surface);
    else if (surface.dirty.size > 0) this.#waiting.add(surface);
  }

  #draw(): void {
    this.#buffers.takeBack();
    const { isPlayed } = this.#options;
    const endMs = isPlayed ? Number.POSITIVE_INFINITY : performance.now() + drawPerRoundMs;
    while (this.#urgent.size > 0 || this.#waiting.size > 0) {
      const surfaces = this.#urgent.size > 0 ? this.#urgent : this.#waiting;
      const surface: Surface = surfaces.values().next().value!;
      surfaces.delete(surface);
      this.#drawSurface(surface, endMs);
      if (performance.now() >= endMs) break;
    }
    if (isPlayed) return;
    this.#drawing = setImmediate(() => {
      this.#drawing = undefined;
      if (this.#urgent.size > 0 || this.#waiting.size > 0) this.#draw();
    });
  }

  /** Draws the keys of a surface until the time is over or the surface must read more data. In that case, `#resume` queues it again. */
  #drawSurface(surface: Surface, endMs: number): void {
    const { urgent, dirty } = surface;
    const keys = urgent.size > 0 ? urgent : dirty;
    for (const key of keys) {
      if (this.#isFull(surface)) break;
      keys.delete(key);
      dirty.delete(key);
      this.#drawKey(surface, key);
      if (performance.now() >= endMs) break;
    }
    if (!this.#isFull(surface)) this.#queue(surface);
  }

  /** Returns whether a surface must read more data before the next bitmap is sent. */
  #isFull({ client, urgent }: Surface): boolean {
    if (client.link.unsentBytes > maxQueuedBytes) return true;
    const bytes = unconfirmedBytesOf(client);
    if (bytes <= confirmBytes) return false;
    if (urgent.size > 0) return bytes > 2 * windowBytes;
    return bytes > windowBytes || this.#unconfirmedBytes > sharedWindowBytes;
  }

  #drawKey({ client, deviceId, format, numbers, held }: Surface, key: OwnKey): void {
    const face = this.#options.faceOf(key);
    const colorOf = (color: string) => (format.colors === 'rgb' ? `rgb(${rgbOf(color).join(',')})` : color);
    const args = {
      DEVICEID: deviceId,
      KEY: numbers.get(key)!,
      TYPE: 'BUTTON',
      COLOR: format.colors && colorOf(face.color),
      TEXTCOLOR: format.colors && colorOf(face.textColor),
      TEXT: format.text ? Buffer.from(face.text).toString('base64') : undefined,
      FONT_SIZE: format.textStyle ? fontSizeOf(face.text) : undefined,
      PRESSED: held.has(key),
    };
    if (format.bitmap === 0) this.#send(client, 'KEY-STATE', args);
    else this.#sendBitmap(client, args, face, format.bitmap);
  }

  #sendBrightness({ client, deviceId, format }: Surface, value: number): void {
    if (format.brightness) this.#send(client, 'BRIGHTNESS', { DEVICEID: deviceId, VALUE: value });
  }

  #send({ link }: Client, command: string, args: Arguments): void {
    const line = writeLine(command, args);
    link.send(line);
    this.#events.wire('out', Buffer.from(line));
  }

  /** Sends the state of a key with its bitmap. */
  #sendBitmap(client: Client, args: Arguments, face: KeyFace, size: number): void {
    const line = writeLine('KEY-STATE', args).trimEnd();
    let bitmap = keptBitmap(face, size);
    if (bitmap === undefined) {
      bitmap = this.#buffers.take(client.link, bitmapBytes(size));
      drawKey(face, size, bitmap);
    }
    client.link.send(Buffer.from(`${line} BITMAP="`), bitmap, lineEnd);
    this.#events.wire('out', Buffer.from(`${line} BITMAP=${size * size * 3}B`));
    client.drawnBytes += bitmap.length;
    if (client.confirmedBytes !== undefined) this.#unconfirmedBytes += bitmap.length;
    if (client.drawnBytes - client.askedBytes < confirmBytes) return;
    client.askedBytes = client.drawnBytes;
    client.link.send(`PING ${confirmation}-${client.askedBytes}\n`);
  }
}

/** The end of a line after a bitmap. */
const lineEnd = Buffer.from('"\n');

/** Returns the number of bitmap bytes that a surface has not confirmed. For a surface that has never confirmed any, returns 0. */
function unconfirmedBytesOf({ drawnBytes, confirmedBytes }: Client): number {
  return confirmedBytes === undefined ? 0 : drawnBytes - confirmedBytes;
}

/** Returns the font size for a text on a key of 72 pixels, for surfaces that draw the text themselves. */
function fontSizeOf({ length }: string): number {
  return length <= 4 ? 24 : length <= 12 ? 18 : 14;
}

/** Parses the format that a surface requests. If the hub cannot send the format, returns the reason as a sentence. */
function formatOf(args: Line['args']): Format | string {
  const numberOr = (name: string, otherwise: number) =>
    args.has(name) && /^\d{1,5}$/.test(args.get(name)!) ? Number(args.get(name)) : otherwise;
  const [keysTotal, keysPerRow] = [numberOr('KEYS_TOTAL', 32), numberOr('KEYS_PER_ROW', 8)];
  if (keysTotal < 1 || keysTotal > 1024 || keysPerRow < 1 || keysPerRow > 1024)
    return 'expected KEYS_TOTAL and KEYS_PER_ROW from 1 to 1024';
  const bitmaps = args.get('BITMAPS');
  const bitmap = bitmaps === undefined || ['1', 'true'].includes(bitmaps) ? 72 : isTrue(bitmaps) ? Number(bitmaps) : 0;
  if (!Number.isInteger(bitmap) || bitmap < 0 || bitmap > maxBitmapPixels)
    return `expected BITMAPS from 0 to ${maxBitmapPixels}`;
  const colors = args.get('COLORS');
  return {
    ...{ keysTotal, keysPerRow, bitmap },
    colors: isTrue(colors) ? (colors === 'rgb' ? 'rgb' : 'hex') : undefined,
    text: isTrue(args.get('TEXT')),
    textStyle: isTrue(args.get('TEXT_STYLE')),
    brightness: !args.has('BRIGHTNESS') || isTrue(args.get('BRIGHTNESS')),
  };
}

function numberOf(place: OwnKey['place'], { keysTotal, keysPerRow }: Format): number | undefined {
  if (typeof place === 'object' && place.column >= keysPerRow) return undefined;
  const number = typeof place === 'number' ? place : place.row * keysPerRow + place.column;
  return number < keysTotal ? number : undefined;
}
