// Sends mails to a server with nodemailer. Each attempt uses a separate connection, every wait is limited, and each error is converted to a
// sentence that suggests a remedy. Replies from the server (RFC 5321, section 4.2.1): 4yz permits a retry, 5yz is final.

import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Transporter } from 'nodemailer';
import type { SchedulerLike } from 'rxjs';
import { connectReason, openSocket, type TlsTarget, tlsOptions } from '../../device/transport.ts';
import { messageOf } from '../../model/error.ts';
import { attempt, type Outcome } from '../outbox.ts';
import { type Mailbox, type MailSettings, serverOf } from './settings.ts';

/** The maximum duration of an attempt, in milliseconds. */
export const maxAttemptMs = 120_000;
/** The pause after the server has refused the password, in milliseconds. Servers lock out clients that try too often. */
const wrongPasswordMs = 60_000;
const shownLength = 300;

export interface Mail {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly replyTo: Mailbox | undefined;
  readonly subject: string;
  readonly text: string;
  readonly id: string;
  readonly date: Date;
}

/** The properties of an error thrown by nodemailer. */
interface MailError {
  readonly code?: string;
  readonly responseCode?: number;
  readonly response?: string;
  readonly recipient?: string;
  readonly rejectedErrors?: readonly MailError[];
}

/** A function that starts an attempt and calls `done` once. It returns a function that cancels the attempt without calling `done`. */
type Attempt = (done: (outcome: Outcome) => void) => () => void;

export class Smtp {
  readonly #settings: MailSettings;
  readonly #tls: TlsTarget;
  readonly #scheduler: SchedulerLike;
  #transport: Promise<Transporter> | undefined;
  /** The socket of the current attempt. There is only one attempt at a time. */
  #socket: Socket | undefined;

  constructor(settings: MailSettings, tls: TlsTarget, scheduler: SchedulerLike) {
    this.#settings = settings;
    this.#tls = tls;
    this.#scheduler = scheduler;
  }

  /**
   * Returns an attempt to send a mail. `warn` is called if the server refuses some recipients but accepts others. `restOf` returns the same
   * message for fewer recipients.
   */
  send(mail: Mail, restOf: (to: readonly string[]) => string, warn: (reason: string) => void): Attempt {
    return this.#attempt(
      async (transport, signal) => {
        const addressOf = ({ name, address }: Mailbox) => ({ name, address });
        const info = (await transport.sendMail({
          from: addressOf(mail.from),
          to: mail.to.map(addressOf),
          ...(mail.replyTo && { replyTo: addressOf(mail.replyTo) }),
          subject: mail.subject,
          text: mail.text,
          date: mail.date,
          messageId: `<${mail.id}@${mail.from.address.split('@')[1]}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal,
        } as Parameters<Transporter['sendMail']>[0])) as { readonly rejectedErrors?: readonly MailError[] };
        return this.#afterSome(info.rejectedErrors ?? [], restOf, warn);
      },
      restOf,
      warn,
    );
  }

  /** An attempt to connect and sign in without sending a mail. */
  readonly probe: Attempt = (done) =>
    this.#attempt(async (transport) => {
      await transport.verify();
      return { is: 'delivered' };
    })(done);

  #attempt(
    work: (transport: Transporter, signal: AbortSignal) => Promise<Outcome>,
    restOf: (to: readonly string[]) => string = () => '',
    warn: (reason: string) => void = () => {},
  ): Attempt {
    const begin = (end: (outcome: Outcome) => void) => {
      const controller = new AbortController();
      this.#open()
        .then((transport) => work(transport, controller.signal))
        .then(end, (error) => end(this.#outcomeOf(error as MailError, restOf, warn)));
      return () => {
        controller.abort();
        this.#socket?.destroy(); // nodemailer can abort only the sending of a mail
      };
    };
    const late = `the SMTP session did not end within ${maxAttemptMs / 1000} s`;
    return (done) => attempt({ scheduler: this.#scheduler, limitMs: maxAttemptMs, late, begin }, done);
  }

  #open(): Promise<Transporter> {
    this.#transport ??= this.#create();
    return this.#transport;
  }

  async #create(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer'); // loaded on demand, because most hubs send no mail
    const { username, password, starttls, timeout } = this.#settings;
    const { host, port, isSecure } = serverOf(this.#settings);
    const options = {
      host,
      port,
      secure: isSecure,
      requireTLS: !isSecure && starttls,
      ignoreTLS: !isSecure && !starttls,
      name: hostname(),
      ...(username !== '' && { auth: { user: username, pass: password }, forceAuth: true }),
      connectionTimeout: timeout,
      greetingTimeout: timeout,
      socketTimeout: timeout,
      dnsTimeout: timeout,
      tls: { ...tlsOptions(this.#tls), servername: isIP(host) === 0 ? host : '' },
      disableFileAccess: true,
      disableUrlAccess: true,
      getSocket: (_: unknown, callback: (error: Error | null, socket?: object) => void) => {
        const target = { host, port, tls: isSecure ? this.#tls : undefined };
        const socket = openSocket(target, timeout, (error) =>
          error === null ? callback(null, { connection: socket, secured: isSecure }) : callback(error),
        );
        this.#socket = socket;
      },
    };
    return createTransport(options as Parameters<typeof createTransport>[0]);
  }

  /** Returns the outcome of an attempt in which the server has accepted the mail for at least one recipient. */
  #afterSome(
    errors: readonly MailError[],
    restOf: (to: readonly string[]) => string,
    warn: (reason: string) => void,
  ): Outcome {
    if (errors.length === 0) return { is: 'delivered' };
    const later = errors.filter(isTemporary);
    for (const error of errors)
      if (!isTemporary(error)) warn(`${error.recipient ?? 'a recipient'}: ${answerOf(error)}`);
    if (later.length === 0) return { is: 'delivered' };
    return {
      is: 'later',
      reason: `answered ${answerOf(later[0]!)}`,
      content: restOf(later.flatMap(({ recipient }) => recipient ?? [])),
    };
  }

  #outcomeOf(error: MailError, restOf: (to: readonly string[]) => string, warn: (reason: string) => void): Outcome {
    const { code, responseCode, rejectedErrors } = error;
    if (code === 'EAUTH')
      return {
        is: 'later',
        reason:
          responseCode === undefined
            ? `cannot sign in: ${shown(messageOf(error))}`
            : `did not accept the username and the password: ${answerOf(error)}`,
        afterMs: responseCode === undefined || responseCode >= 500 ? wrongPasswordMs : 0,
      };
    if (code === 'EENVELOPE' && rejectedErrors !== undefined && rejectedErrors.some(isTemporary))
      return this.#afterSome(rejectedErrors, restOf, warn);
    if (code === 'ETLS' && responseCode !== undefined)
      return { is: 'later', reason: `does not encrypt: ${answerOf(error)}; use smtps://, or another server` };
    // only a refusal of the mail itself is final, because a server that refuses the hub today may accept it tomorrow
    const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE';
    if (isOfMail && (responseCode === undefined || responseCode >= 500))
      return {
        is: 'refused',
        reason: responseCode === undefined ? shown(messageOf(error)) : `answered ${answerOf(error)}`,
      };
    if (responseCode !== undefined) return { is: 'later', reason: `answered ${answerOf(error)}` };
    return { is: 'later', reason: shown(connectReason(error)) };
  }
}

function isTemporary({ responseCode = 0 }: MailError): boolean {
  return responseCode >= 400 && responseCode < 500;
}

function answerOf(error: MailError): string {
  return shown(error.response ?? messageOf(error));
}

function shown(text: string): string {
  return text
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, shownLength)
    .trim();
}
