// Sends one webhook over HTTP or HTTPS. Redirects are not followed, so secrets are sent only to the URL in the settings. The answer is
// bounded in bytes and time.

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import type { SchedulerLike } from 'rxjs';
import { retryAfterMs } from '../../device/http-message.ts';
import { connectReason, openSocket, type TlsTarget, tlsOptions } from '../../device/transport.ts';
import { attempt, type Outcome } from '../outbox.ts';

/** How many bytes of an answer are read. */
export const maxAnswerBytes = 65_536;
/** How long a connection may be silent. */
const maxIdleMs = 60_000;
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
    const options = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1, timeout: maxIdleMs };
    const { fingerprint } = tls;
    if (!isSecure) this.#agent = new HttpAgent(options);
    else if (fingerprint === undefined) this.#agent = new HttpsAgent({ ...options, ...tlsOptions(tls) });
    else this.#agent = new PinnedAgent(options, tls);
    this.#scheduler = scheduler;
    this.#timeOfDay = timeOfDay;
  }

  /** Calls `done` once, with the outcome; returns a function that cancels the request without a call of `done`. */
  send(asked: WebhookRequest, done: (outcome: Outcome) => void): () => void {
    const begin = (end: (outcome: Outcome) => void, hasEnded: () => boolean) => {
      let request: ClientRequest;
      const start = (mayRepeat: boolean) => {
        const begun = this.#begin(asked);
        request = begun;
        begun.on('response', (response) => this.#read(response, end));
        begun.on('error', (error) => {
          // the target has closed an idle connection, which is not a fault
          if (mayRepeat && begun.reusedSocket && !hasEnded()) start(false);
          else end({ is: 'later', reason: connectReason(error) });
        });
        begun.end(asked.body);
      };
      start(true);
      return () => request.destroy();
    };
    const { timeoutMs: limitMs } = asked;
    const late = `no answer within ${limitMs / 1000} s`;
    return attempt({ scheduler: this.#scheduler, limitMs, late, begin }, done);
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

function shownText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
}

/** Checks the fingerprint of a certificate before anything is sent. */
class PinnedAgent extends HttpsAgent {
  readonly #tls: TlsTarget;
  readonly #opening = new Set<Duplex>();

  constructor(options: AgentOptions, tls: TlsTarget) {
    super(options);
    this.#tls = tls;
  }

  override createConnection(
    options: Parameters<HttpsAgent['createConnection']>[0],
    callback?: Parameters<HttpsAgent['createConnection']>[1],
  ): undefined {
    const { host, port } = options as { host: string; port: number };
    const socket = openSocket({ host, port: Number(port), tls: this.#tls }, maxIdleMs, (error) => {
      this.#opening.delete(socket);
      callback?.(error, socket);
    });
    this.#opening.add(socket);
  }

  /** Node knows only the sockets that are open. */
  override destroy(): void {
    for (const socket of this.#opening) socket.destroy();
    super.destroy();
  }
}
