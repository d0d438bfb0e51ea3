// Sends a webhook over HTTP or HTTPS. Redirects are not followed, so that secrets are sent only to the URL in the settings. The size and
// duration of the answer are limited.

import type { Socket } from 'node:net';
import type { SchedulerLike } from 'rxjs';
import type { Client, Dispatcher } from 'undici';
import { breakOffClient, connectorOf } from '../../device/http.ts';
import { retryAfterMs } from '../../device/http-message.ts';
import { connectReason, type TlsTarget } from '../../device/transport.ts';
import { messageOf } from '../../model/error.ts';
import { attempt, type Outcome } from '../outbox.ts';

/** The maximum number of bytes that are read from an answer. */
export const maxAnswerBytes = 65_536;
/** How long an unused connection stays open unless the target requests a shorter time, in milliseconds. */
const maxIdleMs = 60_000;
/** The maximum time for opening a connection, in milliseconds. The timeout of an attempt is at most this long. */
const maxConnectMs = 60_000;
/** The number of characters of an answer that are shown in messages. */
const shownAnswer = 200;
/** The statuses below 500 that permit a retry: RFC 9110, section 15.5.9; RFC 8470, section 5.2; RFC 6585, section 4. */
const laterStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

export interface WebhookRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly timeoutMs: number;
}

/** Sends requests to one URL, one after another, over a persistent connection. */
export class WebhookSender {
  readonly #url: URL;
  readonly #tls: TlsTarget;
  readonly #scheduler: SchedulerLike;
  readonly #timeOfDay: () => number;
  #client: Client | undefined;
  #socket: Socket | undefined;
  /** Whether the connection has already been used for an answer. The target may have closed such a connection in the meantime. */
  #isUsed = false;

  constructor(url: string, tls: TlsTarget, scheduler: SchedulerLike, timeOfDay: () => number) {
    this.#url = new URL(url);
    this.#tls = tls;
    this.#scheduler = scheduler;
    this.#timeOfDay = timeOfDay;
  }

  /** Sends a request and calls `done` once with the outcome. Returns a function that cancels the request without calling `done`. */
  send(asked: WebhookRequest, done: (outcome: Outcome) => void): () => void {
    const begin = (end: (outcome: Outcome) => void, hasEnded: () => boolean) => {
      const start = () => {
        const wasUsed = this.#isUsed;
        const answered = (answer: Answer) => {
          this.#isUsed = true;
          end(this.#outcomeOf(answer));
        };
        const failed = (error: Error & { readonly code?: string }) => {
          if (hasEnded()) return;
          this.close();
          // the target has probably closed an idle connection, which is not a fault
          if (wasUsed) start();
          else if (error.code === 'UND_ERR_INVALID_ARG') end({ is: 'refused', reason: error.message });
          else end({ is: 'later', reason: reasonOf(error), isUnreached: true });
        };
        const dispatch = (client: Client) => {
          const { method, headers, body = null } = asked;
          const path = this.#url.pathname + this.#url.search;
          client.dispatch(
            { path, method: method as Dispatcher.HttpMethod, headers, body },
            new Answer(answered, failed),
          );
        };
        if (this.#client !== undefined) dispatch(this.#client);
        else
          this.#open().then((client) => {
            if (hasEnded()) return;
            this.#client = client;
            dispatch(client);
          }, failed);
      };
      start();
      return () => this.close();
    };
    const { timeoutMs: limitMs } = asked;
    const late = `no answer within ${limitMs / 1000} s`;
    return attempt({ scheduler: this.#scheduler, limitMs, late, begin }, done);
  }

  async #open(): Promise<Client> {
    const undici = await import('undici'); // loaded on demand, because most hubs send no webhooks
    return new undici.Client(this.#url.origin, {
      connect: connectorOf(undici, this.#tls, maxConnectMs, (socket) => {
        this.#socket = socket;
      }),
      maxHeaderSize: 16_384,
      headersTimeout: 0, // only the duration of the whole attempt is limited
      bodyTimeout: 0,
      keepAliveTimeout: maxIdleMs,
      keepAliveMaxTimeout: maxIdleMs,
    });
  }

  /** Closes the connection, even while a request is waiting for its answer. The next request opens a new connection. */
  close(): void {
    if (this.#socket !== undefined) breakOffClient(this.#socket); // otherwise, a request could arrive after later requests
    this.#socket = undefined;
    void this.#client?.destroy().catch(() => {});
    this.#client = undefined;
    this.#isUsed = false;
  }

  #outcomeOf({ status, statusText, headers, beginning }: Answer): Outcome {
    if (status >= 200 && status < 300) return { is: 'delivered' };
    const said = shownText(beginning.slice(0, shownAnswer));
    const answer = `${status} ${shownText(statusText)}`.trim();
    if (status >= 300 && status < 400) {
      const reason = `answered ${answer}; redirects are not followed: set url to the final address`;
      return { is: 'refused', reason };
    }
    const reason = `answered ${answer}${said === '' ? '' : `: ${said}`}`;
    if (!laterStatuses.has(status) && status < 500) return { is: 'refused', reason };
    const written = headers['retry-after'];
    const afterMs = retryAfterMs(Array.isArray(written) ? written[0] : written, this.#timeOfDay());
    return { is: 'later', reason, afterMs };
  }
}

/** The answer to a request, or the error that occurred instead. Implements undici's event handlers. */
class Answer implements Dispatcher.DispatchHandler {
  readonly #answered: (answer: Answer) => void;
  readonly #failed: (error: Error) => void;
  /** The HTTP status of the answer; 0 before the answer has arrived. */
  status = 0;
  statusText = '';
  headers: Readonly<Record<string, string | string[] | undefined>> = {};
  beginning = '';
  #bytes = 0;

  constructor(answered: (answer: Answer) => void, failed: (error: Error) => void) {
    this.#answered = answered;
    this.#failed = failed;
  }

  onRequestStart(): void {}

  onResponseStart(_: unknown, status: number, headers: Answer['headers'], statusText = ''): void {
    if (status < 200) return;
    this.status = status;
    this.statusText = statusText;
    this.headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.beginning.length < shownAnswer) this.beginning += chunk.toString('latin1', 0, shownAnswer);
    // the rest of an answer that is too long is not read
    if (this.#bytes > maxAnswerBytes) controller.abort(new Error('the answer is too long'));
  }

  onResponseEnd(): void {
    this.#answered(this);
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.status === 0) this.#failed(error);
    else this.#answered(this); // the target has already answered
  }
}

function reasonOf(error: Error & { readonly code?: string }): string {
  if (error.code === 'UND_ERR_SOCKET') return 'the target closed the connection without an answer';
  return messageOf(error) === '' ? (error.code ?? error.name) : connectReason(error);
}

function shownText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
}
