// The server side of the protocol: surfaces register on links, report presses, and are drawn. A link may carry several surfaces. Each surface
// waits by itself: one that reads slowly gets only the newest state of its keys, and no other one waits for it.

import type { SchedulerLike, Subscription } from 'rxjs';
import { LineReader } from '../../device/line-reader.ts';
import type { Value } from '../../model/value.ts';
import { drawKey, maxBitmapPixels, rgbOf } from './drawing.ts';
import { type Arguments, apiVersion, isTrue, type Line, maxLineBytes, readLine, writeLine } from './lines.ts';
import { type Link, type LinkEvents, maxQueuedBytes } from './links.ts';
import { anyDevice, idOf, type OwnKey, type OwnSurface, pictureOf, readPlaceOfKey } from './settings.ts';

/** The maximum number of surfaces of a link. */
export const maxSurfacesPerLink = 16;
/** The maximum number of surfaces of a connection that are connected at a time. */
export const maxSurfaces = 256;
/** The time that is spent on drawing in one round of the event loop, in milliseconds. */
const drawPerRoundMs = 2;
/** How long a key is drawn before the others after it was touched, in milliseconds. */
const touchedMs = 1000;
/** How long the hub waits for a sign of life of a surface whose device ID registers a second time, in milliseconds. */
export const contestMs = 2000;
const pingMs = 1000;
/** The bytes of bitmaps that may be on their way to a surface: more would wait in the buffers of the system, before the lamp of a pressed key. */
export const windowBytes = 131_072;
/** After so many bytes of bitmaps, a surface is asked to confirm that it has read them. */
const confirmBytes = 32_768;
const confirmation = 'drawn';

export interface SessionOptions {
  readonly surfaces: readonly OwnSurface[];
  readonly idleTimeoutMs: number;
  readonly scheduler: SchedulerLike;
  /** Whether everything is drawn at once, as in virtual time. */
  readonly isPlayed: boolean;
  read(parameterId: string): Value | undefined;
}

export interface SessionEvents {
  set(parameterId: string, value: Value): void;
  /** A surface has come, or all of its devices are gone. */
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
  /** The bytes of bitmaps that were sent, that were to be confirmed, and that were confirmed; the last is undefined until the first answer. */
  drawnBytes: number;
  askedBytes: number;
  confirmedBytes: number | undefined;
}

/** A connected surface. */
interface Surface {
  readonly client: Client;
  readonly deviceId: string;
  readonly own: OwnSurface;
  readonly keys: ReadonlyMap<number, OwnKey>;
  readonly numbers: ReadonlyMap<OwnKey, number>;
  readonly format: Format;
  readonly held: Set<OwnKey>;
  /** The keys to draw: those that a hand has touched, and the others. */
  readonly urgent: Set<OwnKey>;
  readonly dirty: Set<OwnKey>;
  contest: Contest | undefined;
}

/** What a surface wants to receive. */
interface Format {
  readonly keysTotal: number;
  readonly keysPerRow: number;
  /** In pixels; 0: none. */
  readonly bitmap: number;
  readonly colors: 'hex' | 'rgb' | undefined;
  readonly text: boolean;
  readonly textStyle: boolean;
  readonly brightness: boolean;
}

/** A second surface with the same device ID, which waits for a sign of life of the first one. */
interface Contest {
  readonly client: Client;
  readonly line: Line;
  readonly timer: Subscription;
}

/** Draws keys on surfaces, and reports their presses. */
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

  /** Takes a new link. */
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

  /** The face of a key has changed. `draw` has to follow. */
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

  /** Draws what has changed: for a short time now, and the rest in later rounds of the event loop. */
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
    // the signs of life of each surface would push everything else out of the record
    if (line.command !== 'PING' && line.command !== 'PONG') this.#events.wire('in', Buffer.from(text), fault);
  }

  /** Carries out a line; returns why it is refused. */
  #answer(client: Client, line: Line): string | undefined {
    const { command, args, body } = line;
    switch (command) {
      case 'PING':
        client.link.send(`PONG ${body}\n`);
        return undefined;
      case 'PONG': {
        const [, bytes] = /^drawn-(\d{1,16})\s*$/.exec(body) ?? [];
        if (bytes === undefined || Number(bytes) > client.drawnBytes) return undefined;
        client.confirmedBytes = Math.max(client.confirmedBytes ?? 0, Number(bytes));
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
        return this.#refused(client, line, 'the hub does not use it');
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

  /** Adds a surface, or has it wait; returns why it is refused. */
  #add(client: Client, line: Line): string | undefined {
    const { args } = line;
    const deviceId = args.get('DEVICEID') ?? '';
    if (deviceId === '' || deviceId.length > 200) return 'expected a DEVICEID of 1 to 200 characters';
    const own = this.#ownByDevice.get(deviceId) ?? this.#ownByDevice.get(anyDevice);
    if (own === undefined) {
      this.#events.log(
        `${client.link.name}: no surface has the device ID ${JSON.stringify(deviceId)}: add it to \`surfaces\``,
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
    const brightness = this.#options.read(`${own.id}/brightness`);
    if (typeof brightness === 'number') this.#sendBrightness(surface, brightness);
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

  /** Two surfaces with one device ID: the first one stays if it shows a sign of life; otherwise its link is dead, and the second takes over. */
  #contest(first: Surface, client: Client, line: Line): void {
    const timer = this.#options.scheduler.schedule(() => this.#end(first.client), contestMs);
    first.contest = { client, line, timer };
    this.#send(first.client, 'PING', {});
  }

  #refuseContest(first: Surface, { client, line, timer }: Contest): void {
    timer.unsubscribe();
    first.contest = undefined;
    if (client.isOpen)
      this.#refused(client, line, `${first.client.link.name} has a surface with this device ID, which is alive`);
  }

  /** Takes a press or a turn; returns why it is refused. */
  #use(surface: Surface, { command, args }: Line): string | undefined {
    const { format, keys } = surface;
    const place = readPlaceOfKey(args.get('KEY') ?? '');
    const number = place === undefined ? undefined : numberOf(place, format);
    if (number === undefined) return `expected a KEY of this device, of ${format.keysTotal}`;
    const key = keys.get(number);
    if (key === undefined) return undefined; // no setting names it
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
    if (holders !== undefined && holders.size > 0) return; // it is held on another surface
    this.#holders.delete(key);
    this.#events.set(idOf(key, 'pressed'), false);
  }

  /** Ends links on which nothing arrives, and asks for signs of life. */
  #watch(): void {
    if (this.#watching !== undefined || this.#clients.size === 0) return;
    const { scheduler, idleTimeoutMs } = this.#options;
    const dueMs = scheduler.now() + pingMs / 2;
    this.#watching = scheduler.schedule(() => {
      this.#watching = undefined;
      const now = scheduler.now();
      for (const client of [...this.#clients]) {
        client.heardMs += Math.max(0, now - dueMs); // while the hub itself was busy, it could not hear
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
    this.#clients.delete(client);
    for (const surface of this.#byDevice.values())
      if (surface.contest?.client === client) {
        surface.contest.timer.unsubscribe();
        surface.contest = undefined;
      }
    for (const surface of [...client.surfaces.values()]) this.#remove(surface);
  }

  /** Draws what has waited because the link was full. */
  #resume(client: Client): void {
    for (const surface of client.surfaces.values()) this.#queue(surface);
    this.draw();
  }

  #queue(surface: Surface): void {
    if (surface.urgent.size > 0) this.#urgent.add(surface);
    else if (surface.dirty.size > 0) this.#waiting.add(surface);
  }

  #draw(): void {
    this.#drawing = undefined;
    const endMs = this.#options.isPlayed ? Number.POSITIVE_INFINITY : performance.now() + drawPerRoundMs;
    while (this.#urgent.size > 0 || this.#waiting.size > 0) {
      const surfaces = this.#urgent.size > 0 ? this.#urgent : this.#waiting;
      const surface: Surface = surfaces.values().next().value!;
      surfaces.delete(surface);
      if (isFull(surface.client)) continue; // `#resume` queues it again
      const keys = surface.urgent.size > 0 ? surface.urgent : surface.dirty;
      const key: OwnKey | undefined = keys.values().next().value;
      if (key === undefined) continue;
      keys.delete(key);
      surface.dirty.delete(key);
      this.#drawKey(surface, key);
      this.#queue(surface);
      if (performance.now() >= endMs) break;
    }
    if (this.#urgent.size > 0 || this.#waiting.size > 0) this.#drawing = setImmediate(() => this.#draw());
  }

  #drawKey({ client, deviceId, format, numbers, held }: Surface, key: OwnKey): void {
    const { read } = this.#options;
    const [text, image] = [read(idOf(key, 'text')), read(idOf(key, 'image'))];
    const face = {
      text: typeof text === 'string' ? text : '',
      color: read(idOf(key, 'lamp')) === true ? key.lampColor : String(read(idOf(key, 'color')) ?? key.color),
      textColor: String(read(idOf(key, 'textColor')) ?? key.textColor),
      picture: typeof image === 'string' && image !== '' ? pictureOf(image) : undefined,
    };
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
    else this.#sendBitmap(client, args, drawKey(face, format.bitmap));
  }

  #sendBrightness({ client, deviceId, format }: Surface, value: number): void {
    if (format.brightness) this.#send(client, 'BRIGHTNESS', { DEVICEID: deviceId, VALUE: value });
  }

  #send({ link }: Client, command: string, args: Arguments): void {
    const line = writeLine(command, args);
    link.send(line);
    this.#events.wire('out', Buffer.from(line));
  }

  /** Sends the state of a key. Nothing reads the characters of its bitmap again, as these are most of all that is sent. */
  #sendBitmap(client: Client, args: Arguments, bitmap: Buffer): void {
    const { link } = client;
    const line = writeLine('KEY-STATE', args).trimEnd();
    link.send(`${line} BITMAP="${bitmap.toString('base64')}"\n`, !/[^\0-\x7f]/.test(line));
    this.#events.wire('out', Buffer.from(`${line} BITMAP=${bitmap.length}B`));
    client.drawnBytes += (bitmap.length * 4) / 3;
    if (client.drawnBytes - client.askedBytes < confirmBytes) return;
    client.askedBytes = Math.round(client.drawnBytes);
    client.drawnBytes = client.askedBytes;
    link.send(`PING ${confirmation}-${client.askedBytes}\n`);
  }
}

/** Whether a surface has to read more before another bitmap is sent. One that has never confirmed any is only bounded by what waits here. */
function isFull({ link, drawnBytes, confirmedBytes }: Client): boolean {
  if (link.unsentBytes > maxQueuedBytes) return true;
  return confirmedBytes !== undefined && drawnBytes - confirmedBytes > windowBytes;
}

/** Returns the size of text on a key of 72 pixels, for surfaces that draw it themselves. */
function fontSizeOf({ length }: string): number {
  return length <= 4 ? 24 : length <= 12 ? 18 : 14;
}

/** Reads what a surface wants; returns a sentence if it is nothing that the hub can send. */
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
