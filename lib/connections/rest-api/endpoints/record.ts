// GET /hub/record: events from outside the hub, streamed as lines until the client disconnects.

import type { Account } from '../../../model/held-bytes.ts';
import type { OutsideTurn, Recording } from '../../../model/reports/audit-entry.ts';
import { writerName } from '../../../model/writer.ts';
import type { HttpResponse } from '../../../net/uws.ts';
import { text } from '../../../wire/http/shape.ts';
import { encodeLine, type RecordedTurn } from '../../../wire/recording.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import { begin } from '../http/answer/headers.ts';
import { holdFor } from '../http/answer/send.ts';
import { cutWith, type Exchange, keepResponse } from '../http/exchange.ts';
import { limits } from '../limits/client-limits.ts';
import { LimitError } from '../limits/limit-hits.ts';
import type { Principal } from '../users/principal.ts';

import { type Endpoint, ownersOnly } from './endpoint.ts';

export const endpoints: Endpoint[] = [
  {
    method: 'GET',
    path: '/hub/record',
    need: 'manage',
    getWrites: true, // GET changes nothing, but a page from another site must not start a recording
    id: 'record',
    tag: 'operation',
    summary: 'External events, line by line, until the client disconnects',
    answers: { 200: { description: 'A recording', content: { 'application/octet-stream': text } } },
    errors: { 409: 'Four clients are already recording' },
    serve({ hub, log, settings }) {
      const recordings = new Set<Recording>();
      return ownersOnly(settings, (response, _, principal) =>
        serveRecording(hub, recordings, principal, response, log),
      );
    },
  },
];

/** The maximum number of unsent bytes for a client that is recording. */
export const maxUnsentBytes = 16 * 1024 * 1024;
/** The interval between the lines that show that the hub is alive while no events are arriving from outside, in milliseconds. */
const everyMs = 1000;

/**
 * Streams a recording to a client. A client that leaves too much data unread loses its recording, because a recording with a gap would be
 * worthless. Errors: `conflict` if too many clients are recording.
 */
function serveRecording(
  hub: HubPort,
  recordings: Set<Recording>,
  principal: Principal,
  response: HttpResponse,
  log: Log,
): void {
  const most = limits.recordings.default;
  if (recordings.size >= most)
    throw new LimitError('recordings', 'conflict', `record: expected at most ${most} recordings at a time, got more`);
  const exchange = keepResponse(response);
  const stay = cutWith(principal, response);
  const lines = new Lines(exchange, () => {
    log.warn({}, `recording ended: the client left ${maxUnsentBytes / 1024 / 1024} MB unread`);
  });
  const recording = hub.record((turn) => lines.add(encodeLine(lineOf(turn))));
  recordings.add(recording);
  const values = [...hub.changedSince(0)];
  lines.add(encodeLine({ recording: 1, hub: hub.version, time: recording.time, values: values.length }));
  for (const { address, value } of values) lines.add(encodeLine({ p: address, v: value! }));
  const beat = setInterval(() => {
    lines.add(encodeLine({ t: recording.elapsedMs(), w: [] }));
  }, everyMs);
  void lines.send().finally(() => {
    stay();
    clearInterval(beat);
    recording.stop();
    recordings.delete(recording);
  });
}

function lineOf({ atMs, writes, devices }: OutsideTurn): RecordedTurn {
  return {
    t: atMs,
    w: writes.map(({ address, value, origin }) => [address, value, origin.kind, writerName(origin)]),
    d: devices,
  };
}

/** The lines of a recording that the client has not read yet. */
class Lines {
  readonly #exchange: Exchange;
  readonly #reportOverflow: () => void;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #wake: (() => void) | undefined;
  readonly #account: Account;

  constructor(exchange: Exchange, reportOverflow: () => void) {
    this.#exchange = exchange;
    this.#reportOverflow = reportOverflow;
    this.#account = holdFor(exchange.response, 'answers');
  }

  add(line: string): void {
    this.#wake?.();
    if (this.#exchange.isAborted) return;
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#account.add(line.length);
    if (this.#waitingBytes <= maxUnsentBytes) return;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#reportOverflow();
    this.#exchange.response.close();
  }

  /** Sends lines as they arrive; resolves when the client has disconnected. */
  async send(): Promise<void> {
    this.#exchange.reply((response) => {
      begin(response).writeHeader('Content-Type', 'application/octet-stream').writeHeader('Cache-Control', 'no-store');
    });
    while (!this.#exchange.isAborted) {
      const text = this.#waiting.join('');
      this.#waiting = [];
      this.#waitingBytes = 0;
      if (text === '') {
        await this.#more();
        continue;
      }
      let isTaken = true;
      this.#exchange.reply((response) => {
        isTaken = response.write(text);
      });
      this.#account.set(isTaken ? 0 : text.length);
      if (!isTaken) await this.#exchange.writable();
      this.#account.set(this.#waitingBytes);
    }
    this.#account.set(0);
  }

  /** Resolves when another line has been added or the client has disconnected. */
  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
