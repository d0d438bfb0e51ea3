// Sends one webhook over HTTP or HTTPS. Redirects are not followed, so secrets are sent only to the URL in the settings. The answer is
// bounded in bytes and time.

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SchedulerLike } from 'rxjs';
import { connectReason, fingerprintFault, type TlsTarget, tlsOptions } from '../../device/transport.ts';
import type { Outcome } from '../outbox.ts';

/** How many bytes of an answer are read. */
export const maxAnswerBytes = 65_536;
/** How much of an answer is shown. */
const shownAnswer = 200;
/** The statuses that permit a retry: RFC 9110 sections 15.5.9, 15.6; RFC 8470 section 5.2; RFC 6585 section 4. */
const laterStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

export interface WebhookRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly timeoutMs: number;
}

/** Sends requests to one target, over one persistent connection. */
export class WebhookSender {
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #scheduler: SchedulerLike;
  readonly #timeOfDay: () => number;

  constructor(isSecure: boolean, tls: TlsTarget, scheduler: SchedulerLike, timeOfDay: () => number) {
    const options = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1, timeout: 60_000 };
    this.#agent = isSecure
      ? new PinnedAgent({ ...options, ...tlsOptions(tls) }, tls.fingerprint)
      : new HttpAgent(options);
    this.#scheduler = scheduler;
    this.#timeOfDay = timeOfDay;
  }

  /** Calls `done` once, with the outcome; returns a function that cancels the request without a call of `done`. */
  send(asked: WebhookRequest, done: (outcome: Outcome) => void): () => void {
    let request: ClientRequest | undefined;
    let isDone = false;
    const end = (outcome: Outcome) => {
      if (isDone) return;
      isDone = true;
      timeout.unsubscribe();
      done(outcome);
    };
    const timeout = this.#scheduler.schedule(() => {
      end({ is: 'later', reason: `no answer within ${asked.timeoutMs / 1000} s` });
      request?.destroy();
    }, asked.timeoutMs);
    const begin = (mayRepeat: boolean) => {
      const begun = this.#begin(asked);
      request = begun;
      begun.on('response', (response) => this.#read(response, end));
      begun.on('error', (error) => {
        // the target has closed an idle connection, which is not a fault
        if (mayRepeat && begun.reusedSocket && !isDone) begin(false);
        else end({ is: 'later', reason: connectReason(error) });
      });
      begun.end(asked.body);
    };
    begin(true);
    return () => {
      isDone = true;
      timeout.unsubscribe();
      request?.destroy();
    };
  }

  #begin({ url, method, headers, body }: WebhookRequest): ClientRequest {
    const target = new URL(url);
    return (target.protocol === 'https:' ? requestHttps : requestHttp)(target, {
      method,
      agent: this.#agent,
      headers: { ...headers, ...(body !== undefined && { 'content-length': body.length }) },
      maxHeaderSize: 16_384,
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #read(response: IncomingMessage, end: (outcome: Outcome) => void): void {
    let bytes = 0;
    let beginning = '';
    const finish = () => end(this.#outcomeOf(response, beginning));
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (beginning.length < shownAnswer) beginning += chunk.toString('latin1', 0, shownAnswer);
      if (bytes <= maxAnswerBytes) return;
      finish();
      response.destroy(); // the rest of an answer that is too long is not read
    });
    response.on('end', finish);
    response.on('error', finish); // the status has arrived, so the target has decided
    response.on('close', finish);
  }

  #outcomeOf({ statusCode = 0, statusMessage = '', headers }: IncomingMessage, body: string): Outcome {
    if (statusCode >= 200 && statusCode < 300) return { is: 'delivered' };
    const said = shownText(body.slice(0, shownAnswer));
    const answer = `${statusCode} ${shownText(statusMessage)}`.trim();
    if (statusCode >= 300 && statusCode < 400) {
      const reason = `answered ${answer}; redirects are not followed, set url to where the target is`;
      return { is: 'refused', reason };
    }
    const reason = `answered ${answer}${said === '' ? '' : `: ${said}`}`;
    if (!laterStatuses.has(statusCode) && statusCode < 500) return { is: 'refused', reason };
    return { is: 'later', reason, afterMs: retryAfterMs(headers['retry-after'], this.#timeOfDay()) };
  }
}

/** Reads `Retry-After`, seconds or a date (RFC 9110 section 10.2.3); undefined: there is none. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function shownText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
}

/** Checks the fingerprint of a certificate before anything is sent. */
class PinnedAgent extends HttpsAgent {
  readonly #fingerprint: string | undefined;

  constructor(options: AgentOptions, fingerprint: string | undefined) {
    super(options);
    this.#fingerprint = fingerprint;
  }

  override createConnection(
    options: Parameters<HttpsAgent['createConnection']>[0],
    callback?: Parameters<HttpsAgent['createConnection']>[1],
  ): ReturnType<HttpsAgent['createConnection']> {
    const fingerprint = this.#fingerprint;
    if (fingerprint === undefined || callback === undefined) return super.createConnection(options, callback);
    const { host, port } = options as { host: string; port: number };
    const socket = connectTls({ ...(options as object), host, port, servername: isIP(host) === 0 ? host : '' });
    const fail = (error: Error) => callback(error, socket);
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      socket.off('error', fail);
      const fault = fingerprintFault(socket, fingerprint);
      if (fault === undefined) return callback(null, socket);
      socket.destroy();
      callback(new Error(fault), socket);
    });
    return undefined;
  }
}
