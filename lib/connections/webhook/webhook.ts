// The connection type `webhook`. Incoming requests set parameters, and writes to parameters send outgoing requests.

import { Observable } from 'rxjs';
import type { Transport } from '../../device/transport.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { toText, type Value } from '../../model/value.ts';
import {
  type ConnectionContext,
  type ConnectionEvent,
  defineConnectionType,
  type PlayedMessages,
} from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { followWrites, type Template } from '../message-template.ts';
import { type Message, messageParameters, Outbox, type Outcome, PlayedLink, type Send, textOf } from '../outbox.ts';
import { readTlsFile } from '../setting.ts';
import { Receiver } from './receiver.ts';
import { WebhookSender } from './sender.ts';
import {
  aboutOf,
  compileBody,
  hintsOf,
  maxSentBytes,
  mistakesOf,
  settingsSchema,
  type TargetSettings,
  type WebhookSettings,
} from './settings.ts';
import { schemeOf, sign } from './signature.ts';

/** Matches the names of headers whose values are treated as secrets, even if they are written in a flow file. */
const secretHeader = /auth|cookie|key|pass|secret|token/i;

export const webhook = defineConnectionType({
  type: 'webhook',
  isExternal: true,
  settingsSchema,
  durations: ['timeout', 'giveUpAfter', 'tolerance'],
  parameters: parametersOf,
  inputs: ({ inputs }) => inputs,
  mistakes: mistakesOf,
  hints: hintsOf,
  secrets: secretsOf,
  claims: (settings) =>
    Object.keys(settings.in).map((name) => ({ kind: 'webhook', name: `webhook ${name}`, scope: '*' })),
  files: ({ tls }, resolvePath) => (tls?.caFile === undefined ? [] : [resolvePath(tls.caFile)]),
  isSimulated: ({ simulate }) => simulate,
  played: { messages: playedMessages, run: (context, transport) => run(context, undefined, transport) },
  run: (context, hub) => run(context, hub),
});

function secretsOf(settings: WebhookSettings): string[] {
  const ofHooks = Object.values(settings.in).flatMap(({ secret, token }) => [secret, token]);
  const ofTargets = Object.values(settings.out).flatMap(({ secret, headers }) => [
    secret,
    ...Object.entries(headers).map(([name, value]) => (secretHeader.test(name) ? value : undefined)),
  ]);
  return [...ofHooks, ...ofTargets].filter((one) => one !== undefined);
}

function parametersOf(settings: WebhookSettings): ParameterDeclaration[] {
  const received = Object.entries(settings.in).flatMap(([name, { values, description }]): ParameterDeclaration[] => [
    { id: name, type: 'T', access: 'read-only', about: { description: description ?? 'A delivery has arrived' } },
    ...Object.entries(values).map(([id, value]) => ({
      id: `${name}/${id}`,
      type: value.type,
      access: 'read-only' as const,
      about: aboutOf(value),
    })),
  ]);
  const sent = Object.entries(settings.out).flatMap(([name, { type, description }]) =>
    messageParameters(name, type, description ?? 'Sends a webhook'),
  );
  return [...received, ...sent];
}

/** The state that one run of the connection leaves for the next run. */
interface Left {
  readonly messages: readonly unknown[];
  readonly seen: Readonly<Record<string, readonly string[]>>;
}

function run(
  context: ConnectionContext<WebhookSettings>,
  hub: HubPort | undefined,
  transport?: Transport,
): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { id, settings } = context;
    const emit = (event: ConnectionEvent) => subscriber.next(event);
    const left = context.left as Partial<Left> | undefined;
    const receivers = new Map(
      Object.entries(settings.in).map(([name, hook]) => [
        name,
        new Receiver(name, hook, context, emit, left?.seen?.[name]),
      ]),
    );
    const played =
      transport === undefined ? undefined : new PlayedLink(transport, context, (bytes) => takePlayed(receivers, bytes));
    const targets = new Targets(context, played);
    const outbox = new Outbox({
      context,
      targets: new Map(
        Object.entries(settings.out).map(([name, { url }]) => [name, { key: url, name: new URL(url).host }]),
      ),
      left: left?.messages,
      giveUpMs: settings.giveUpAfter,
      send: targets.send,
      emit,
      ...(played && { random: () => 1 }),
    });
    const unfollow = followWrites(
      context,
      Object.keys(settings.out),
      (name, values) => {
        const body = targets.bodyOf(name, values);
        if (Buffer.byteLength(body) > maxSentBytes) outbox.fail(name, `its body is longer than ${maxSentBytes} bytes`);
        else outbox.add(name, body);
      },
      (error) => subscriber.error(error),
    );
    for (const [name, receiver] of receivers) hub?.hooks.set(name, receiver);
    hub?.outboxes.set(id, () => outbox.totals);
    played?.open();
    outbox.start();
    return () => {
      unfollow();
      for (const [name, receiver] of receivers) if (hub?.hooks.get(name) === receiver) hub.hooks.delete(name);
      hub?.outboxes.delete(id);
      const seen = Object.fromEntries([...receivers].map(([name, receiver]) => [name, receiver.seen]));
      context.leave({ messages: outbox.stop(), seen } satisfies Left);
      targets.close();
      played?.close();
    };
  });
}

/** The targets in the settings: compiles the bodies and sends the requests. */
class Targets {
  readonly #context: ConnectionContext<WebhookSettings>;
  readonly #bodies = new Map<string, Template | undefined>();
  readonly #senders = new Map<string, WebhookSender>();
  readonly #played: PlayedLink | undefined;

  constructor(context: ConnectionContext<WebhookSettings>, played: PlayedLink | undefined) {
    const { settings, inputTypes, scheduler } = context;
    this.#context = context;
    this.#played = played;
    const ca = readTlsFile('caFile', settings.tls?.caFile, context.resolvePath);
    const tls = { ca, fingerprint: settings.tls?.fingerprint };
    for (const [name, target] of Object.entries(settings.out)) {
      this.#bodies.set(
        name,
        compileBody(name, target, inputTypes, () => {}),
      );
      if (played === undefined && !settings.simulate && !this.#senders.has(target.url))
        this.#senders.set(target.url, new WebhookSender(target.url, tls, scheduler, () => context.timeOfDay()));
    }
  }

  bodyOf(name: string, values: Parameters<Template['render']>[0]): string {
    const rendered = this.#bodies.get(name)?.render(values);
    if (rendered === undefined) return '';
    return isTextBody(this.#context.settings.out[name]!) ? toText((rendered ?? '') as Value) : JSON.stringify(rendered);
  }

  readonly send: Send = (message, done) => {
    const { settings, wire } = this.#context;
    const target = settings.out[message.name]!;
    const shown = Buffer.from(`${target.method} ${target.url} ${message.content}`.trim());
    if (this.#played !== undefined) return this.#played.send(shown, done);
    wire('out', shown);
    if (settings.simulate) {
      done({ is: 'delivered' });
      return () => {};
    }
    const report = (outcome: Outcome) => {
      if (outcome.is !== 'delivered') wire('in', Buffer.from(`${message.name}: ${outcome.reason}`), outcome.reason);
      done(outcome);
    };
    return this.#senders.get(target.url)!.send(this.#requestOf(target, message), report);
  };

  close(): void {
    for (const sender of this.#senders.values()) sender.close();
  }

  #requestOf(target: TargetSettings, { id, content, name }: Message) {
    const { settings, timeOfDay } = this.#context;
    const { method, headers, secret, signature, contentType } = target;
    const body = this.#bodies.get(name) === undefined ? undefined : Buffer.from(content);
    const timestamp = Math.floor(timeOfDay() / 1000);
    const type = contentType ?? (isTextBody(target) ? 'text/plain; charset=utf-8' : 'application/json');
    return {
      method,
      body,
      timeoutMs: settings.timeout,
      headers: {
        'user-agent': 'patchbay',
        'webhook-id': id,
        ...(body !== undefined && { 'content-type': type }),
        ...(secret !== undefined && sign(schemeOf(signature), secret, { id, timestamp }, body ?? Buffer.alloc(0))),
        ...headers,
      },
    };
  }
}

function isTextBody({ body }: TargetSettings): boolean {
  return typeof body === 'string';
}

// In tests, `receive: { hooks: 'doorbell {"battery":3}' }` delivers a body to the webhook `doorbell`, and `sent` contains
// `POST https://… {…}`.

function takePlayed(receivers: ReadonlyMap<string, Receiver>, bytes: Buffer): void {
  const text = bytes.toString();
  const [, name = '', body = ''] = /^(\S+) ?(.*)$/s.exec(text) ?? [];
  receivers.get(name)!.take(Buffer.from(body));
}

function playedMessages(settings: WebhookSettings): PlayedMessages {
  const show = (frame: Uint8Array) => Buffer.from(frame).toString();
  return {
    transport: { keepsFrames: true },
    show,
    read(written, direction) {
      const text = textOf(written);
      if (direction === 'out') return { bytes: Buffer.from(text), frames: [text] };
      const [name = ''] = text.split(' ', 1);
      if (!Object.hasOwn(settings.in, name))
        throw new Error(
          `expected the name of a webhook in \`in\`, then a body, such as 'doorbell {"battery":3}', got ${JSON.stringify(text)}`,
        );
      return { bytes: Buffer.from(text), frames: [text] };
    },
  };
}
