// A user who may edit one file sends random requests to every operation of the OpenAPI document, and random messages to sockets of both
// protocols. Two hubs get them: they are the same for him, but only one has further files, parameters, rules and users at work. No answer is
// another one, and nothing of others changes.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startHub } from '../../../../lib/hub/index.ts';
import { runTestsOf } from '../../../../lib/testing/run-tests.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { createFolder } from '../../../support/folder.ts';
import { api, portsOf, writer } from '../../../support/hub.ts';
import { Random } from '../../../support/random.ts';
import { openClient } from '../../../support/sockets/socket.ts';
import { type Message, openV1, type V1Client } from '../../../support/sockets/v1.ts';

const token = 'one-token-of-the-hub';
const users = {
  owner: { token: 'owner-token-of-the-hub', read: ['**'], write: ['**'], manage: true, edit: ['**'] },
  one: { token, read: ['desk/**'], write: ['desk/lamp', 'desk/level'], edit: ['studio-1.json5'] },
};

const own = 'studio-1.json5';
const common = {
  'entry.json5': {
    connections: {
      api: { ...api, users, dashboards: '_boards' },
      store: { type: 'store', folder: '_data', snapshots: { night: { include: ['desk/**'] } } },
    },
  },
  [own]: `// Studio 1
{
  connections: {
    desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,false', 'level,F,0', 'go,T'] },
  },
  rules: [
    { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' },
    { each: { n: [1, 2] }, name: 'level \${n}', from: 'desk/level', map: 'value > \${n}', to: 'desk/lamp' },
  ],
  tests: [{ name: 'it follows', steps: [{ set: { 'desk/mic': true }, expect: { 'desk/lamp': true } }] }],
}
`,
  '_boards/desk.json5': "{ title: 'Desk', widgets: [{ type: 'lamp', address: 'desk/lamp' }] }",
};

/** What only one of the hubs has. Each name contains `hush`. */
const hidden = {
  'hush.json5': {
    connections: {
      hush: { type: 'dummy', parameters: ['code,S,hush-value', 'door,B', 'state,S', 'level,F,1'] },
      'hush-core': {
        type: 'virtual-core',
        inputs: { lamp: 'desk/lamp' },
        outputs: { on: { type: 'B', expression: 'lamp' } },
      },
      'hush-alarm': { type: 'alarms', alarms: { hush: { when: 'hush/door' } } },
    },
    rules: [
      { name: 'hush rule', from: 'desk/lamp', map: "value ? 'hush-on' : 'hush-off'", to: 'hush/state' },
      { name: 'hush other', from: 'desk/mic', to: 'hush/door' },
    ],
    tests: [{ name: 'hush test', steps: [{ set: { 'desk/mic': true }, expect: { 'hush/door': true } }] }],
  },
  'sub/studio-1.json5': "{ rules: [{ name: 'hush sub', from: 'desk/mic', to: 'hush/door' }] }",
  '_hush.json5': "{ rules: [{ name: 'hush made', from: 'desk/mic', to: 'hush/door' }] }",
  'uses.json5': "{ instances: { template: './_hush.json5', each: { hush: {} } } }",
  '_boards/hush.json5': "{ title: 'Hush', widgets: [{ type: 'lamp', address: 'desk/lamp' }] }",
};

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const addresses = ['desk/mic', 'desk/lamp', 'desk/level', 'hush/code', 'hush/door', 'hush-core/on', 'hush-alarm/hush'];
const names = ['lamp', 'level 1', 'hush rule', 'hush other', 'hush made', 'hush', 'hush-core', 'night', 'desk', 'one'];
const files = [
  own,
  'hush.json5',
  'sub/studio-1.json5',
  '_hush.json5',
  'uses.json5',
  './hush.json5',
  'entry.json5',
  '_boards/hush.json5',
  '_boards/desk.json5',
  '_boards/new.json5',
];
const places = [
  '',
  'rules[0].map',
  'rules[0]',
  'rules[1].each.n',
  'rules',
  'tests[0]',
  'connections.hush',
  'instances',
];
const expressions = [
  "param('hush/code')",
  "known('hush/door')",
  'value',
  "'hush/code'",
  "[1].all(x, known('hush/level'))",
];
const odd = ['', '0', '1', '2', '99', '**', 'hush/**', 'x', 'true', '-1h', 'now', '2030-01-01T00:00:00Z'];
const rules = [
  { name: 'mine', from: 'desk/mic', to: 'hush/door' },
  { name: 'hush rule', from: 'hush/state', map: 'true', to: 'desk/lamp' },
  { name: 'mine', from: 'desk/mic', map: "known('hush/code')", to: 'desk/lamp' },
  { name: 'mine', from: 'desk/mic', map: '!value', to: 'desk/lamp' },
  { name: 'mine', from: 'desk/none', to: 'desk/lamp' },
];

/** Makes requests from the document, out of names that are there for the user, or only for others. */
class Requests {
  readonly #document: Document;
  readonly #random: Random;
  /** The ETags of the user's file, the newest last. */
  readonly etags: string[] = [''];

  constructor(document: Document, random: Random) {
    this.#document = document;
    this.#random = random;
  }

  make(path: string, { parameters = [], requestBody }: Operation): { path: string; body: unknown } {
    const random = this.#random;
    const query = new URLSearchParams();
    let asked = path;
    for (const one of parameters) {
      const value = String(this.#value(one.schema, one.name));
      if (one.in === 'path') asked = asked.replace(`{${one.name}}`, encodeURIComponent(value));
      else if (one.in === 'query' && random.once(2)) query.set(one.name, value);
    }
    const schema = requestBody?.content['application/json']?.schema;
    return {
      path: query.size === 0 ? asked : `${asked}?${query}`,
      body: schema === undefined ? undefined : this.#value(schema, ''),
    };
  }

  #value(schema: Schema, name: string): unknown {
    const random = this.#random;
    const { $ref, anyOf, oneOf, properties, required = [], items, additionalProperties } = schema;
    if ($ref !== undefined) return this.#value(this.#document.components.schemas[$ref.split('/').at(-1)!]!, name);
    if (schema.enum !== undefined) return random.pick(schema.enum);
    if ('const' in schema) return schema.const;
    if (anyOf !== undefined || oneOf !== undefined) return this.#value(random.pick((anyOf ?? oneOf)!), name);
    if (schema.type === 'boolean') return random.once(2);
    if (schema.type === 'integer' || schema.type === 'number') {
      const number = random.below(3);
      return name === 'seconds' ? 3600 : number; // what has happened in so short a time depends on the machine
    }
    if (schema.type === 'array')
      return Array.from({ length: 1 + random.below(2) }, () => this.#value(items ?? {}, name));
    if (schema.type === 'object' && properties !== undefined) {
      const kept = Object.entries(properties).filter(([key]) => required.includes(key) || random.once(3));
      const edit = name === 'ops' ? random.pick(['set', 'insert', 'text', 'remove', 'move']) : undefined;
      const data = Object.fromEntries(kept.map(([key, one]) => [key, this.#value(one, key)]));
      if (edit === undefined) return data;
      return { path: data.path, [edit]: this.#value(properties[edit]!, edit) };
    }
    if (schema.type === 'object')
      return { [random.pick([...names, ...addresses])]: this.#value(additionalProperties as Schema, 'address') };
    if (schema.type === undefined) return random.pick<unknown>([...rules, ...expressions, true, 3, null]);
    return this.#text(name);
  }

  #text(name: string): string {
    const random = this.#random;
    if (name === 'base') return random.once(3) ? random.pick(['', 'x']) : this.etags.at(-1)!;
    if (random.once(8)) return random.pick([...addresses, ...names, ...files, ...odd]);
    const pools: Readonly<Record<string, readonly string[]>> = {
      ...{ file: random.once(2) ? [own] : files, path: places, move: places, expression: expressions },
      ...{ address: addresses, parameter: addresses, from: [...addresses, ...odd], filter: ['hush', 'desk', '.*'] },
      ...{ rule: names, name: names, id: names, recipe: ['tally/two-microphones'], revision: ['1', '2', '3'] },
      text: [...rules.map((rule) => JSON.stringify(rule)), '{ rules: [] }', "'hush/code'"],
    };
    return random.pick(pools[name] ?? [...addresses, ...names, ...odd]);
  }
}

interface Side {
  readonly hub: Awaited<ReturnType<typeof startHub>>;
  readonly folder: string;
  readonly port: number;
}

async function start(t: ExecutionContext, more: Record<string, unknown>): Promise<Side> {
  const folder = await createFolder(t, { ...common, ...more });
  const log = createLogRecorder();
  const hub = await startHub({ paths: [folder], log, runTests: runTestsOf });
  t.teardown(() => hub.stop());
  return { hub, folder, port: portsOf(log)[0]! };
}

async function ask({ folder, port }: Side, method: string, path: string, body: unknown) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(60_000),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = (await response.text()).replaceAll(`${folder}/`, '').replaceAll(folder, '');
  return { status: response.status, text };
}

/** An answer without what differs at each request: times, and numbers that count all changes of a hub. */
function lasting({ status, text }: { status: number; text: string }): string {
  const kept = text
    .replace(/patchbay-\d+/g, 'patchbay-<port>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(
      /"(revision|structure|uptimeMs|uptimeSeconds|n|epoch|session|since|time|hub|id|durationUs)":\s*("[^"]*"|[\d.]+)/g,
      '"$1":0',
    );
  return `${status} ${kept}`;
}

/** The end of a text from shortly before it becomes another one. */
function from(text: string, other: string): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  return `${text.slice(0, 60)} … ${text.slice(Math.max(0, at - 60), at + 200)}`;
}

async function textsOf({ folder }: Side): Promise<string> {
  const found = (await readdir(folder, { recursive: true })).filter(
    (name) => /\.json5$/.test(name) && name !== own && !name.startsWith('.'),
  );
  return JSON.stringify(await Promise.all(found.sort().map((name) => readFile(join(folder, name), 'utf8'))));
}

/** Pages and files of the console, and streams, which have no answers of their own. */
const isAsked = ({ tags, operationId }: Operation) => !tags.includes('pages') && operationId !== 'signOut';

test('by no request to any operation a user who may edit one file learns or changes anything of others', async (t) => {
  const [open, bare] = [await start(t, hidden), await start(t, {})];
  const before = await textsOf(open);
  const answer = await ask(open, 'get', '/hub/openapi.json', undefined);
  const document = JSON.parse(answer.text) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, one]) => (isAsked(one) ? [{ path, method, one }] : [])),
  );
  t.true(operations.length > 40);
  const seed = Number(process.env.SEED ?? 1);
  t.log(`SEED=${seed}`);
  const random = new Random(seed, 66);
  const requests = new Requests(document, random);
  const sockets = await Promise.all(
    [open, bare].map(async ({ port }) => {
      const client = await openClient(t, port, '?snapshot=true', { authorization: `Bearer ${token}` });
      const frames: string[] = [];
      void (async () => {
        for (;;) frames.push(JSON.stringify(await client.next()));
      })().catch(() => {});
      return frames;
    }),
  );
  const editing = operations.filter(({ one }) => one.tags.includes('editing'));
  const rounds = Number(process.env.ROUNDS ?? 2);
  const statuses = new Map<number, number>();
  const different: string[] = [];
  let state = 0;
  for (let round = 0; round < rounds; round++)
    for (const { path, method, one } of [...operations, ...editing, ...editing, ...editing]) {
      // others are at work
      open.hub.write('hush/code', `hush-${state++}`, writer);
      if (random.once(10)) open.hub.switchRule('hush other', undefined, random.once(2), writer);
      const mic = random.once(2);
      for (const { hub } of [open, bare]) hub.write('desk/mic', mic, writer);
      const request = requests.make(path, one);
      const [here, there] = [
        await ask(open, method, request.path, request.body),
        await ask(bare, method, request.path, request.body),
      ];
      const about = `${method} ${request.path} ${JSON.stringify(request.body)}`;
      t.not(here.status, 500, `${about}\n${here.text}`);
      const [first, other] = [lasting(here), lasting(there)];
      if (first !== other) different.push(`${about}\n${from(first, other)}\n${from(other, first)}`);
      statuses.set(here.status, (statuses.get(here.status) ?? 0) + 1);
      const source = await ask(bare, 'get', `/hub/source/${own}`, undefined);
      const { etag } = JSON.parse(source.text) as { etag: string };
      requests.etags.push(etag);
    }
  t.log(JSON.stringify(Object.fromEntries(statuses)));
  t.deepEqual(different, []);
  t.true((statuses.get(200) ?? 0) > 10 * rounds);
  t.is(await textsOf(open), before);
  t.is(open.hub.find('hush/code')?.value, `hush-${state - 1}`);
  t.true(open.hub.overrides().every(({ by }) => by === 'spec'));
  t.false(sockets[0]!.some((frame) => frame.includes('hush')));
  t.true(sockets[0]!.length > rounds);
});

const authorization = `Bearer ${token}`;

/**
 * Lets others work on the hub that has them: values, errors, overrides, rules. Parameters come and go on both hubs: that there are more now is
 * a number of the hub, `structure`, as a revision is, and says nothing about them.
 */
class Others {
  readonly #open: Side;
  readonly #sides: readonly Side[];
  readonly #random: Random;
  #state = 0;

  constructor(sides: readonly Side[], random: Random) {
    this.#open = sides[0]!;
    this.#sides = sides;
    this.#random = random;
  }

  async work(): Promise<void> {
    const { hub, folder } = this.#open;
    const random = this.#random;
    hub.write('hush/code', `hush-${this.#state++}`, writer);
    if (random.once(4)) hub.switchRule('hush other', undefined, random.once(2), writer);
    if (random.once(4)) hub.write('hush-alarm/hush/ack', true, writer);
    if (!random.once(8)) return;
    const { rules, ...rest } = hidden['hush.json5'];
    await writeFile(join(folder, 'hush.json5'), "{ rules: [{ name: 'hush wrong', from: 'hush/none' }] }");
    await hub.reload(writer).catch(() => {});
    const failing = { name: 'hush fails', from: 'desk/lamp', map: "string(double('hush'))", to: 'hush/state' };
    const data = { ...rest, rules: random.once(2) ? rules : [...rules, failing] };
    await writeFile(join(folder, 'hush.json5'), JSON.stringify(data));
    const parameters = [`more${random.below(3)},B`];
    const more = JSON.stringify({ connections: { hushed: { type: 'dummy', parameters } } });
    for (const side of this.#sides) {
      await writeFile(join(side.folder, 'more.json5'), more);
      await side.hub.reload(writer);
    }
  }
}

test('by no message over patchbay.v1 does he learn or change anything of others', async (t) => {
  const seed = Number(process.env.SEED ?? 1);
  t.log(`SEED=${seed}`);
  const random = new Random(seed, 67);
  const [open, bare] = [await start(t, hidden), await start(t, {})];
  const sides = [open, bare];
  const others = new Others(sides, new Random(seed, 68));
  const owner = await openV1(t, open.port, undefined, { authorization: `Bearer ${users.owner.token}` });
  await owner.subscribe({ sub: 1, include: ['hush*/**'] });
  const [hiddenId = 0] = owner.picture.addresses.keys();
  const connect = () => Promise.all(sides.map(({ port }) => openV1(t, port, undefined, { authorization })));
  let clients = await connect();
  let epochs = clients.map(({ epoch }) => epoch);
  const different: string[] = [];
  const kinds = new Map<string, number>();
  const steps = 100 * Number(process.env.ROUNDS ?? 2);
  for (let step = 0; step < steps; step++) {
    await others.work();
    if (random.once(10)) {
      for (const client of clients) client.cut();
      clients = await connect();
      const now = clients.map(({ epoch }) => epoch);
      if ((now[0] === epochs[0]) !== (now[1] === epochs[1])) different.push(`step ${step}: another epoch on one side`);
      epochs = now;
    }
    const mic = random.once(2);
    for (const { hub } of sides) hub.write('desk/mic', mic, writer);
    const message = messageOf(random);
    const answers = await Promise.all(
      clients.map(async (client) => {
        client.send(prepared(message, client, client === clients[0] ? hiddenId : 1000));
        const messages = await client.sync();
        const { sub } = messages.find(({ mode }) => mode !== undefined) ?? {};
        if (sub !== undefined && !messages.some(({ end }) => end === sub))
          messages.push(...(await client.until(({ end }) => end === sub, 'the end')));
        messages.push(...(await client.sync()));
        t.false(/hush-(?:\d|value|on|off)/.test(JSON.stringify(messages)));
        return messages.filter(isAnswer).map(({ rev: _, ...one }) => one);
      }),
    );
    for (const kind of answers[0]!.flatMap((one) => Object.keys(one))) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const shown = clients.map(({ picture }, index) => {
      const { addresses: ids, types, values, fires, stale, faults } = picture;
      // an id is a number of the hub, as a revision is: it says how many parameters there are, and of none what it is
      const text = JSON.stringify(answers[index]).replace(/\[(\d+),/g, (_, id) => `["${ids.get(Number(id)) ?? ''}",`);
      const known = [types, values, fires, stale].map((map) => [...map].sort());
      return JSON.stringify([text, [...ids.values()].sort(), known, faults]);
    });
    if (shown[0] !== shown[1]) different.push(`${JSON.stringify(message)}\n${shown.join('\n')}`);
  }
  t.log(JSON.stringify(Object.fromEntries(kinds)));
  t.deepEqual(different.slice(0, 3), []);
  for (const kind of ['sub', 'end', 'unsub', 'error', 'errors', 'ack']) t.true((kinds.get(kind) ?? 0) > 5, kind);
  t.true(open.hub.overrides().every(({ by }) => by === 'spec'));
});

/** What answers a message, apart from changes, which arrive with the next tick. */
function isAnswer(message: Message): boolean {
  return ['sub', 'unsub', 'end', 'ack', 'errors', 'error', 'bye'].some((key) => key in message);
}

/** These stand for ids: of a parameter if the client knows it, else of one that the user may not read. */
const targets = ['#desk/mic', '#desk/lamp', '#desk/level', '#hush/code'];
const patterns = [
  '**',
  'desk/**',
  'hush/**',
  'hush*/**',
  '*/l*',
  'desk/mic',
  { regex: 'hush' },
  { regex: '^desk' },
  '',
];

function messageOf(random: Random): object {
  const sub = random.below(3);
  const item = () => [random.pick([...addresses, ...targets]), random.pick([true, 0, 1.5, 'x', null])];
  if (random.once(3))
    return {
      sub,
      include: random.list(2, () => random.pick(patterns)),
      exclude: random.list(1, () => random.pick(patterns)),
      ...(random.once(2) && { delivery: random.pick(['latest', 'all', 'none']) }),
      ...(random.once(2) && { since: {} }),
    };
  if (random.once(4)) return { unsub: sub };
  if (random.once(6)) return random.pick<object>([{ hush: 1 }, { ping: 'hush' }, { set: 'hush/code' }, { set: [[]] }]);
  return { set: random.list(3, item), ...(random.once(2) && { ack: random.below(9) }) };
}

/** The message as one client sends it: with the place up to which it has everything, and with its ids. */
function prepared(message: object, { epoch, picture }: V1Client, hiddenId: number): object {
  const ids = new Map([...picture.addresses].map(([id, address]) => [`#${address}`, id]));
  const text = JSON.stringify(message, (key, value) => (key === 'since' ? { epoch, rev: picture.rev } : value));
  return JSON.parse(text.replace(/"(#[^"]*)"/g, (_, target) => String(ids.get(target) ?? hiddenId)));
}

test('by no message over the plain socket does he learn or change anything of others', async (t) => {
  const seed = Number(process.env.SEED ?? 1);
  t.log(`SEED=${seed}`);
  const random = new Random(seed, 69);
  const [open, bare] = [await start(t, hidden), await start(t, {})];
  const others = new Others([open, bare], new Random(seed, 70));
  const rounds = 10 * Number(process.env.ROUNDS ?? 2);
  let frames = 0;
  for (let round = 0; round < rounds; round++) {
    const filter = random.pick(['', 'hush', '^desk/', '.*', 'hush/code|lamp', '^(?:hush)?']);
    const query = `?filter=${encodeURIComponent(filter)}${random.pick(['', '&snapshot=true'])}${random.pick(['', '&list=true'])}`;
    const messages = Array.from({ length: 20 }, () => plainMessageOf(random));
    const mics = messages.map(() => random.once(2));
    const received: string[][] = [];
    for (const side of [open, bare]) {
      const client = await openClient(t, side.port, query, { authorization });
      for (const [index, message] of messages.entries()) {
        if (side === open) await others.work();
        side.hub.write('desk/mic', mics[index]!, writer);
        client.send(message);
      }
      client.send({ p: 'desk/level', v: round + 10.25 });
      client.send({ p: round });
      const list: string[] = [];
      const last = `p: expected an address, got ${round} (number)`;
      for (let text = ''; !text.includes(last); list.push(text)) text = JSON.stringify(await client.next());
      client.close();
      t.false(/hush-(?:\d|value|on|off)/.test(list.join()));
      received.push(errorsIn(list));
      frames += list.length;
      side.hub.write('desk/lamp', false, writer);
      side.hub.write('desk/mic', false, writer);
    }
    t.deepEqual(received[0], received[1], `${query} ${JSON.stringify(messages)}`);
  }
  t.true(frames > 20 * rounds);
  t.regex(String(open.hub.find('hush/code')?.value), /^hush-\d+$/);
});

function plainMessageOf(random: Random): unknown {
  const one = () => ({
    p: random.pick([...addresses, 'desk', 'hush']),
    v: random.pick<unknown>([true, 2, 'x', null, {}]),
  });
  if (random.once(6)) return random.list(3, one);
  return random.once(8) ? random.pick<unknown>(['hush', { hush: 1 }, { p: 'hush/code' }]) : one();
}

/** The errors among frames, each of which may be a list. */
function errorsIn(frames: readonly string[]): string[] {
  return frames
    .flatMap((frame) => JSON.parse(frame) as object)
    .flatMap((one) => ('error' in one ? [String(one.error)] : []));
}
