// A user who may edit one file sends random requests to every operation of the OpenAPI document. Two hubs get them: they are the same for
// him, but only one has further files, parameters, rules and users at work. No answer is another one, and nothing of others changes.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startHub } from '../../../../lib/hub/index.ts';
import { runTestsOf } from '../../../../lib/testing/run-tests.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { createFolder } from '../../../support/folder.ts';
import { api, portsOf, writer } from '../../../support/hub.ts';
import { Random } from '../../../support/random.ts';
import { openClient } from '../../../support/sockets/socket.ts';

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
