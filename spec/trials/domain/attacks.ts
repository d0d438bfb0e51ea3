// Attacks by an intruder in an open domain, who can read everything that a hub receives. Each runs until its process is killed.

import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { Random } from '../../support/random.ts';

export interface Attack {
  readonly about: string;
  /** Whether it sends in the name of a hub that is there: meanwhile nobody can know who it is, and what counts is what comes after. */
  readonly isForgery?: boolean;
  begin(domain: AttackedDomain): void;
}

/** A message of a hub, as others receive it. */
type HubReport = Record<string, unknown>;

const everyMs = 5;
const kilobyte = 1024;

/** The domain, with what is known of its hubs. */
export class AttackedDomain {
  readonly connection: NatsConnection;
  readonly random: Random;
  /** The parameters that an attack may be as large as. */
  readonly size: number;
  /** The last message of each hub, and some of the earlier ones. */
  readonly #last = new Map<string, HubReport>();
  readonly before: [subject: string, data: Uint8Array][] = [];
  readonly #heard = Promise.withResolvers<void>();
  /** Resolves once each hub has told something: then it is known what it would tell. */
  readonly heard = this.#heard.promise;

  constructor(connection: NatsConnection, size: number, seed: number) {
    this.connection = connection;
    this.size = size;
    this.random = new Random(seed, 1);
    connection.subscribe('patchbay.house.*.turns', { callback: (_, message) => this.#note(message) });
  }

  #note({ subject, data }: Msg): void {
    const hub = subject.split('.')[2]!;
    if (hub !== 'west' && hub !== 'studio') return;
    if (this.before.length < 1000) this.before.push([subject, data]);
    try {
      this.#last.set(hub, JSON.parse(new TextDecoder().decode(data)));
      if (this.#last.size === 2) this.#heard.resolve();
    } catch {} // it is one of our own
  }

  /** What a hub has told last, or what a hub of this name would. */
  last(hub: string): HubReport {
    const head = {
      hub,
      epoch: `${hub} 1`,
      term: 0,
      structure: 0,
      clock: Math.floor(performance.now()),
      prev: 1,
      rev: 1,
    };
    return { ...(this.#last.get(hub) ?? head), turns: [] };
  }

  send(subject: string, data: unknown, reply?: string): void {
    if (this.connection.isClosed()) return;
    const options = reply === undefined ? {} : { reply };
    this.connection.publish(subject, typeof data === 'string' ? data : JSON.stringify(data), options);
  }

  notify(hub: string, parts: HubReport): void {
    this.send(`patchbay.house.${hub}.turns`, { ...this.last(hub), ...parts });
  }

  /** Repeats an action, each time as soon as the server has accepted what was sent before. */
  async keep(work: () => void, pauseMs = everyMs): Promise<void> {
    for (;;) {
      work();
      await this.connection.flush();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** A hub that answers walks with so many parameters, each of which has a value; returns where it is, which may be changed. */
  answerAs(
    hub: string,
    count: number,
    addressOf = (number: number) => `${hub}/p${number}`,
  ): { structure: number; rev: number } {
    const page = 4000;
    const head = { hub, epoch: `${hub} 1`, term: 0, structure: 0, clock: 1, rev: count + 1 };
    this.connection.subscribe(`patchbay.house.${hub}.walk`, {
      callback: (_, message) => {
        const { from, since = 0 } = message.json<{ from?: number; since?: number }>();
        const first = from ?? since;
        const last = Math.min(count, first + page);
        const numbers = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
        const isLast = last >= count;
        const answer =
          from === undefined
            ? { changes: numbers.flatMap((number) => [number, number]), ...(isLast ? { fires: [] } : { to: last }) }
            : {
                definitions: numbers.map((number) => [number, addressOf(number), 'I', 'read-write']),
                ...(isLast ? {} : { next: last }),
              };
        message.respond(JSON.stringify({ ...head, ...answer }));
      },
    });
    this.notify(hub, { ...head, prev: head.rev });
    setInterval(() => this.notify(hub, { ...head, prev: head.rev }), 400);
    return head;
  }
}

/** What is sent in the place of a field. */
const nonsense: readonly unknown[] = [
  null,
  '',
  -1,
  1.5,
  2 ** 53,
  1e308,
  [],
  {},
  { __proto__x: 1 },
  '__proto__',
  'constructor',
  'x'.repeat(2000),
  '\u0000\u001b[2J',
  [[[[[[[[[[[]]]]]]]]]]],
  true,
  ['client', 'root'],
];

const fields = ['hub', 'epoch', 'term', 'structure', 'clock', 'prev', 'rev', 'turns', 'machine', 'toString', 'length'];

const subjects = [
  'patchbay.house.west.turns',
  'patchbay.house.evil.turns',
  'patchbay.house.__proto__.turns',
  'patchbay.house.studio.walk',
  'patchbay.house.studio.write',
  'patchbay.house.studio.write.evil',
  'patchbay.house.studio.write.__proto__',
  'patchbay.house.studio.receipt',
  'patchbay.house.studio.life.x',
  'patchbay.house.claims',
  'patchbay.house.studio.lease',
];

const forgedUsers = [
  ['client', 'api 127.0.0.1'],
  ['rule', 'neighbours', 'flow.json5', 'studio'],
  ['connection', 'desk'],
];

function requestOf(domain: AttackedDomain, number: number, items: readonly unknown[]): HubReport {
  const { epoch, clock } = domain.last('studio');
  const by = forgedUsers[number % forgedUsers.length];
  return { run: 'evil', number, epoch, asked: clock, by, hop: 0, why: [], items };
}

export const attacks: Readonly<Record<string, Attack>> = {
  malformed: {
    about: 'messages with arbitrary fields, on every subject',
    isForgery: true,
    begin(domain) {
      const pick = <Item>(items: readonly Item[]) => items[domain.random.below(items.length)]!;
      void domain.keep(() => {
        for (let count = 0; count < 20; count++) {
          domain.notify(pick(['west', 'evil', 'studio']), { [pick(fields)]: pick(nonsense) });
          domain.send(pick(subjects), pick(nonsense), 'patchbay.house.west.turns');
          domain.send(pick(subjects), '{"hub":'.repeat(1 + domain.random.below(50)));
          const { rev } = domain.last('west');
          domain.notify('evil', {
            turns: [[pick(nonsense), pick(nonsense)], { declared: [pick(nonsense)], changes: [] }],
            prev: rev,
          });
        }
      });
    },
  },
  huge: {
    about: 'a megabyte of brackets, keys, numbers, objects and strings in each message',
    begin(domain) {
      const head = JSON.stringify(domain.last('evil')).slice(0, -'"turns":[]}'.length);
      const bytes = 880 * kilobyte;
      const texts = [
        `${head}"turns":${'['.repeat(bytes / 2)}`,
        `${head}"turns":[{${Array.from({ length: 70_000 }, (_, key) => `"k${key}":1`).join()}}]}`,
        `${head}"turns":[${Array.from({ length: bytes / 4 }, () => '[]').join()}]}`,
        `${head}"turns":[["${'x'.repeat(bytes)}"]]}`,
        `${head}"turns":[[${Array.from({ length: 60_000 }, (_, key) => `{"k${key}":1}`).join()}]]}`,
        `${head}"turns":[[${Array.from({ length: 90_000 }, (_, text) => `"a${text}"`).join()}]]}`,
        `${head}"turns":[[${Array.from({ length: bytes / 4 }, () => '0,1').join()}]]}`,
      ];
      domain.answerAs('evil', 10);
      let next = 0;
      void domain.keep(() => {
        domain.send('patchbay.house.evil.turns', texts[next++ % texts.length]);
        domain.send('patchbay.house.studio.write.evil', texts[next % texts.length]);
      });
    },
  },
  fires: {
    about: 'a megabyte of client changes in each turn, 60,000 at a time, and 8,000 changes by as many users',
    begin(domain) {
      domain.answerAs('evil', 50_000);
      let rev = 50_001;
      void domain.keep(() => {
        const changes = Array.from({ length: 60_000 }, (_, number) => [number % 50_000, rev]).flat();
        domain.notify('evil', {
          prev: rev,
          rev: ++rev,
          turns: [[{ by: ['client', `user ${rev}`], at: Date.now() }, ...changes]],
        });
        const each = Array.from({ length: 8000 }, (_, number) => [
          { by: ['client', `user ${number}`], at: Date.now() },
          number,
          rev,
        ]);
        domain.notify('evil', { prev: rev, rev: ++rev, turns: each });
      }, 50);
    },
  },
  turns: {
    about: 'turns of the maximum length, and thousands of parameters that come and go',
    begin(domain) {
      const [count, more] = [4900, 2400];
      const head = domain.answerAs('evil', count);
      const numbers = Array.from({ length: more }, (_, index) => count + index);
      const declared = numbers.map((number) => [number, `evil/p${number}`, 'I', 'read-write']);
      const say = (turn: unknown, part: Partial<typeof head>) => {
        const { rev: prev } = head;
        domain.notify('evil', { ...Object.assign(head, part), epoch: 'evil 1', prev, turns: [turn] });
      };
      let beat = 0;
      void domain.keep(() => {
        const by = { by: ['client', 'evil'], at: Date.now() };
        const changes = Array.from({ length: count }, (_, number) => [number, head.rev]).flat();
        say([by, ...changes], { rev: head.rev + 1 });
        if (++beat % 10 === 0) say({ declared, changes: [] }, { structure: head.structure + 1 });
        if (beat % 10 === 1 && beat > 1) say({ withdrawn: numbers }, { structure: head.structure + 1 });
      }, 100);
    },
  },
  parameters: {
    about: 'a hub with a million parameters, which comes and goes',
    begin(domain) {
      domain.answerAs('evil', domain.size);
      let structure = 0;
      setInterval(() => domain.notify('evil', { epoch: `evil ${++structure}` }), 1000);
    },
  },
  names: {
    about: 'tens of thousands of hubs, each of which announces itself',
    begin(domain) {
      let number = 0;
      void domain.keep(() => {
        for (let count = 0; count < 200; count++) domain.notify(`evil-${number++ % 10_000}`, { term: number % 3 });
      });
    },
  },
  terms: {
    about: 'heartbeats with the highest terms in the names of all hubs',
    isForgery: true,
    begin(domain) {
      const terms = [1, 2, 7, 1000, 2 ** 31, 2 ** 48, 2 ** 53 - 1];
      let next = 0;
      void domain.keep(() => {
        for (const hub of ['west', 'studio', 'evil']) domain.notify(hub, { term: terms[next++ % terms.length] });
      });
    },
  },
  replays: {
    about: 'earlier reports of the hubs sent again, also with different epochs and revisions',
    isForgery: true,
    begin(domain) {
      let next = 0;
      void domain.keep(() => {
        for (let count = 0; count < 50 && domain.before.length > 0; count++) {
          const [subject, data] = domain.before[next++ % domain.before.length]!;
          domain.connection.publish(subject, data);
        }
        domain.notify('west', { epoch: `epoch ${next}` });
        domain.notify('west', { prev: next, rev: next + 1000, turns: [[0, 1]] });
      });
    },
  },
  writes: {
    about: 'writes as fast as they are accepted, in the name of any user, to existing and unknown parameters',
    begin(domain) {
      let number = 0;
      void domain.keep(() => {
        for (let count = 0; count < 300; count++) {
          const items = [
            [`desk/attacked`, number],
            ['__proto__/x', 1],
            ['desk/none', {}],
            ['house/x', 1],
          ];
          domain.send('patchbay.house.studio.write.evil', requestOf(domain, number++, items));
        }
        const many = Array.from({ length: 10_000 }, (_, item) => ['desk/attacked', item]);
        domain.send('patchbay.house.studio.write.evil', requestOf(domain, number++, many));
      });
    },
  },
  walks: {
    about: 'requests for all parameters, endlessly',
    begin(domain) {
      const inbox = 'patchbay.house.evil.inbox.x';
      void domain.keep(() => {
        for (let count = 0; count < 500; count++) {
          domain.send('patchbay.house.studio.walk', '{"from":0}', inbox);
          domain.send('patchbay.house.studio.walk', '{"from":0}', 'patchbay.house.studio.turns');
        }
      });
    },
  },
  claims: {
    about: 'claims and leases of all hubs, overwritten again and again',
    isForgery: true,
    begin(domain) {
      const lists = ['[]', '{', '{}', { desk: 'evil', panel: 'evil', store: 'evil' }, { __proto__x: 1 }];
      const leases = [
        '{',
        { term: 2 ** 48, holder: 'evil', name: 'evil', isReleased: false, renewal: 2 ** 53 - 1 },
        { term: 2 ** 53 - 1, holder: 'evil', name: 'evil', isReleased: false },
        { term: 1, holder: 'evil', name: 'evil', isReleased: true },
      ];
      let next = 0;
      void domain.keep(() => {
        domain.send('patchbay.house.claims', lists[next % lists.length]);
        for (const hub of ['west', 'studio']) domain.send(`patchbay.house.${hub}.lease`, leases[next % leases.length]);
        next++;
      }, 50);
    },
  },
  addresses: {
    about: 'a hub that claims the addresses of all other hubs',
    begin(domain) {
      const ids = [
        'desk/neighbour/0',
        'panel/n',
        'hub/started',
        'api/x',
        'house/x',
        'store/x',
        'desk/more',
        'panel/more',
      ];
      domain.answerAs('evil', ids.length, (number) => ids[number]!);
    },
  },
};
