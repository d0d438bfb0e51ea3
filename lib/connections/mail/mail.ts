// The connection type `mail`. Writes to its parameters send messages through a mail server. Messages that exceed a limit are suppressed and
// counted.

import { Observable } from 'rxjs';
import { z } from 'zod';
import type { Transport } from '../../device/transport.ts';
import { counted } from '../../model/digits.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import {
  type ConnectionContext,
  type ConnectionEvent,
  defineConnectionType,
  type PlayedMessages,
} from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { followWrites, renderText, type TemplateValues } from '../message-template.ts';
import { type Message, messageParameters, Outbox, PlayedLink, type Send, textOf } from '../outbox.ts';
import { readTlsFile } from '../setting.ts';
import {
  type CompiledMessage,
  compileMessage,
  type MailSettings,
  mistakesOf,
  readMailbox,
  serverOf,
  settingsSchema,
} from './settings.ts';
import { Smtp } from './smtp.ts';

/** The maximum length of a mail's subject and of its text, in characters. Longer subjects and texts are truncated. */
const maxSubjectLength = 250;
const maxTextLength = 65_536;

export const mail = defineConnectionType({
  type: 'mail',
  isExternal: true,
  settingsSchema,
  durations: ['timeout', 'giveUpAfter'],
  parameters: parametersOf,
  inputs: ({ inputs }) => inputs,
  mistakes: mistakesOf,
  secrets: ({ password }) => (password === '' ? [] : [password]),
  files: ({ tls }, resolvePath) => (tls?.caFile === undefined ? [] : [resolvePath(tls.caFile)]),
  isSimulated: ({ simulate }) => simulate,
  played: { messages: playedMessages, run: (context, transport) => run(context, undefined, transport) },
  run: (context, hub) => run(context, hub),
});

function parametersOf({ messages }: MailSettings): ParameterDeclaration[] {
  return Object.entries(messages).flatMap(([name, { type, description }]): ParameterDeclaration[] => [
    ...messageParameters(name, type, description ?? 'Sends a mail'),
    {
      id: `${name}/suppressed`,
      type: 'I',
      access: 'read-only',
      defaultValue: 0,
      about: { description: 'The number of mails that the limit has suppressed' },
    },
  ]);
}

/** The schema for the contents of a mail in the queue. */
const contentSchema = z.strictObject({ to: z.array(z.string()), subject: z.string(), text: z.string() });
type Content = z.output<typeof contentSchema>;

/** The state that one run of the connection leaves for the next run. */
interface Left {
  readonly messages: readonly unknown[];
  readonly limits: ReadonlyMap<string, RateLimit>;
}

function run(
  context: ConnectionContext<MailSettings>,
  hub: HubPort | undefined,
  transport?: Transport,
): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { id, settings, scheduler, inputTypes, log } = context;
    const emit = (event: ConnectionEvent) => subscriber.next(event);
    const left = context.left as Partial<Left> | undefined;
    const played = transport === undefined ? undefined : new PlayedLink(transport, context);
    const smtp = new Smtp(
      settings,
      { ca: readTlsFile('caFile', settings.tls?.caFile, context.resolvePath), fingerprint: settings.tls?.fingerprint },
      scheduler,
    );
    const isReal = played === undefined && !settings.simulate;
    const { host, port } = serverOf(settings);
    const target = { key: settings.url, name: `${host}:${port}` };
    const limits = new Map<string, RateLimit>();
    const compiled = new Map<string, CompiledMessage>();
    for (const [name, message] of Object.entries(settings.messages)) {
      const one = compileMessage(name, message, inputTypes, () => {});
      compiled.set(name, one);
      limits.set(name, new RateLimit(one.limit.count, one.limit.durationMs, left?.limits?.get(name)));
    }
    const outbox = new Outbox({
      context,
      targets: new Map(Object.keys(settings.messages).map((name) => [name, target])),
      left: left?.messages,
      giveUpMs: settings.giveUpAfter,
      send: createSend(context, smtp, played),
      ...(isReal && { probe: smtp.probe }),
      emit,
      ...(played && { random: () => 1 }),
    });
    const unfollow = followWrites(
      context,
      Object.keys(settings.messages),
      (name, values) => {
        const limit = limits.get(name)!;
        if (!limit.take(scheduler.now())) {
          limit.suppress(String(values.get('time')));
          emit({ set: `${name}/suppressed`, value: Number(context.own(`${name}/suppressed`)?.value ?? 0) + 1 });
          log.info(
            {},
            `${name}: message suppressed by its limit of ${settings.messages[name]!.limit}`,
            `suppressed ${name}`,
          );
          return;
        }
        outbox.add(
          name,
          JSON.stringify(contentOf(settings, name, compiled.get(name)!, values, limit.takeSuppressed())),
        );
      },
      (error) => subscriber.error(error),
    );
    hub?.outboxes.set(id, () => outbox.totals);
    played?.open();
    outbox.start();
    return () => {
      unfollow();
      hub?.outboxes.delete(id);
      context.leave({ messages: outbox.stop(), limits } satisfies Left);
      played?.close();
    };
  });
}

function createSend(context: ConnectionContext<MailSettings>, smtp: Smtp, played: PlayedLink | undefined): Send {
  const { settings, wire, log } = context;
  return (message, done) => {
    const content = readContent(message);
    const frame = Buffer.from(shownMail(content));
    if (played !== undefined) return played.send(frame, done);
    wire('out', frame);
    if (settings.simulate) {
      done({ is: 'delivered' });
      return () => {};
    }
    const { replyTo } = settings.messages[message.name]!;
    const mailboxes = content.to.flatMap((written) => readMailbox(written) ?? []);
    const letter = {
      from: readMailbox(settings.from)!,
      to: mailboxes,
      replyTo: replyTo === undefined ? undefined : readMailbox(replyTo),
      subject: content.subject,
      text: content.text,
      id: message.id,
      date: new Date(message.createdMs),
    };
    const restOf = (addresses: readonly string[]) => {
      const isIn = new Set(addresses.map((one) => one.toLowerCase())); // nodemailer changes the case of domain names
      return JSON.stringify({
        ...content,
        to: content.to.filter((one) => isIn.has(readMailbox(one)?.address.toLowerCase() ?? '')),
      });
    };
    const warn = (reason: string) =>
      log.warn({}, `${message.name}: the server rejected a recipient: ${reason}`, 'recipient');
    return smtp.send(
      letter,
      restOf,
      warn,
    )((outcome) => {
      const said = outcome.is === 'delivered' ? 'accepted' : outcome.reason;
      wire('in', Buffer.from(`${message.name}: ${said}`), outcome.is === 'delivered' ? undefined : said);
      done(outcome);
    });
  };
}

function readContent({ content }: Message): Content {
  return contentSchema.parse(JSON.parse(content));
}

/**
 * Creates a mail from a message's templates. A value cannot add a header line, because each control character in the subject becomes a
 * space.
 */
function contentOf(
  { messages }: MailSettings,
  name: string,
  { subject, text }: CompiledMessage,
  values: TemplateValues,
  suppressed: Suppressed | undefined,
): Content {
  const { to, limit } = messages[name]!;
  const note =
    suppressed === undefined
      ? ''
      : `\n\n${counted(suppressed.count, 'more message')} since ${suppressed.since} ${suppressed.count === 1 ? 'was' : 'were'} suppressed by the limit of ${limit}.`;
  const line = renderText(subject, values)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  const body = renderText(text, values)
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '');
  return {
    to: typeof to === 'string' ? [to] : to,
    subject: shortened(line, maxSubjectLength),
    text: shortened(body, maxTextLength) + note,
  };
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}

function shownMail({ to, subject, text }: Content): string {
  return `To: ${to.join(', ')}\nSubject: ${subject}\n\n${text}`;
}

// Limits

interface Suppressed {
  readonly count: number;
  /** The time at which the first of these messages was suppressed. */
  readonly since: string;
}

/** Limits the number of messages in any period of a given length. */
class RateLimit {
  readonly #count: number;
  readonly #durationMs: number;
  /** The times at which the latest messages were sent, in milliseconds. */
  #sentAtMs: number[];
  #suppressed: Suppressed | undefined;

  /** `before` is the same message's limit in the previous run. */
  constructor(count: number, durationMs: number, before: RateLimit | undefined) {
    this.#count = count;
    this.#durationMs = durationMs;
    this.#sentAtMs = before === undefined ? [] : before.#sentAtMs.slice(-count);
    if (before !== undefined) this.#suppressed = before.#suppressed;
  }

  take(nowMs: number): boolean {
    this.#sentAtMs = this.#sentAtMs.filter((atMs) => nowMs - atMs < this.#durationMs);
    if (this.#sentAtMs.length >= this.#count) return false;
    this.#sentAtMs.push(nowMs);
    return true;
  }

  suppress(time: string): void {
    this.#suppressed = { since: this.#suppressed?.since ?? time, count: (this.#suppressed?.count ?? 0) + 1 };
  }

  /** Returns the number of messages suppressed since the last call, or undefined if there are none. */
  takeSuppressed(): Suppressed | undefined {
    const suppressed = this.#suppressed;
    this.#suppressed = undefined;
    return suppressed;
  }
}

// In tests, `sent` contains a mail in the text format of `patchbay wire`: `To: …`, `Subject: …`, an empty line, and the text.

function playedMessages(): PlayedMessages {
  return {
    transport: { keepsFrames: true },
    show: (frame) => Buffer.from(frame).toString(),
    read(written, direction) {
      if (direction === 'in') throw new Error('expected a connection that receives messages, but mail only sends them');
      const text = textOf(written);
      return { bytes: Buffer.from(text), frames: [text] };
    },
  };
}
