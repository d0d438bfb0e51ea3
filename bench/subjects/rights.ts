// What rights cost: the same work at a hub with users, and at one that is open. Both are sent the same bytes. By HTTP a token or a cookie comes with
// each request, which the hub without users does not read; sockets come without credentials, and what they may read and write is bounded by globs.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ServerProcess, startHub } from '../../spec/support/system/task-process.ts';
import { fanOutContender, levelAddress } from '../contenders/fan-out.ts';
import { loadContender } from '../contenders/servers.ts';
import type { Case, Contender, Metric, Subject } from '../harness/subject.ts';
import type { HttpTask } from '../load/http.ts';
import type { IngestTask } from '../load/ingest.ts';
import { askHub } from './http-read.ts';
import { markAddress } from './plain-ingest.ts';

const openName = 'without users';
const token = 'a-token-of-some-forty-characters-in-length';
const password = 'a password';
const api = { type: 'rest-api', port: 0, bindIp: '127.0.0.1' };
const rooms = Array.from({ length: 99 }, (_, index) => `room-${index}/*/lamp*`);

const many = '100 globs';
/** What rights cost is less than the speed of a machine changes within seconds. */
const turns = 6;

/** What may be read and written, the same for everybody. */
const rightsCases: Readonly<Record<string, { read: string[]; write: string[]; deny?: string[] }>> = {
  'a narrow glob': { read: [levelAddress, markAddress], write: [levelAddress, markAddress] },
  'a wide glob': { read: ['**'], write: ['**'] },
  [many]: { read: [...rooms, 'desk/**'], write: [...rooms, 'desk/*'], deny: ['desk/admin/**'] },
};

/** The settings of the hub with users; undefined: of the one without. */
type Users = (typeof rightsCases)[string] | undefined;

const flowOf = (users: Users) => ({
  connections: {
    api: users === undefined ? api : { ...api, users: { desk: { token, password, ...users } }, anonymous: users },
    desk: { type: 'dummy', parameters: ['level,F,0.75', 'mark,F'] },
  },
});
const requestWith = (header: string) =>
  `GET /parameters/desk/level HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: patchbay-bench\r\nAccept: */*\r\n${header}\r\n\r\n`;
const withToken = requestWith(`Authorization: Bearer ${token}`);

const metricsOf = (title: string): readonly Metric[] => [
  { key: 'rate', title, digits: 0, better: 'more' },
  {
    key: 'perBusySecond',
    title: `${title.split('/')[0]} per busy second of the server`,
    digits: 0,
    better: 'more',
    targets: [{ against: openName, atLeast: 0.97 }],
  },
];

export const rightsCost: Subject = {
  name: 'rights',
  about: 'HTTP reads, plain writes and a plain fan-out in a hub with users, compared with the same hub without users',
  measures: ['lib/connections/rest-api'],
  rounds: 5,
  async cases(options, folder) {
    const { connections, window, warmUpMs, measureMs } = options;
    const task = { warmUpMs, measureMs: measureMs / 2 }; // of each turn
    const sockets = options.sockets[Math.min(1, options.sockets.length - 1)]!;
    const answer = await askHub(options, folder, flowOf(undefined), withToken);
    const start = (users: Users) => async () => {
      const own = join(folder, users === undefined ? 'open' : 'users'); // both run at once
      await mkdir(own, { recursive: true });
      return startHub(flowOf(users), own, options);
    };
    const http = { ...task, answer, connections };
    const sessions = (users: Users) => {
      let request = '';
      const signedIn = async () => {
        const hub = await start(users)();
        request = requestWith(`Cookie: ${users ? await signIn(hub) : `patchbay-${hub.port}=${'x'.repeat(43)}`}`);
        return hub;
      };
      return [signedIn, () => ({ ...http, depth: 1, request })] as const;
    };
    const readWithToken = (name: string, depth: number): Case =>
      caseOf(`HTTP read with a token, ${name}, depth ${depth}`, 'answers/s', rightsCases[name], (identity, users) =>
        loadContender<HttpTask>(identity, start(users), 'bench/load/http.ts', { ...http, request: withToken, depth }),
      );
    return [
      ...Object.entries(rightsCases)
        .slice(options.isQuick ? -1 : 0)
        .flatMap(([name, rights]): Case[] => [
          readWithToken(name, 1),
          caseOf(`plain writes that nobody hears, ${name}`, 'messages/s', rights, (identity, users) =>
            loadContender<IngestTask>(identity, start(users), 'bench/load/ingest.ts', {
              ...{ ...task, address: levelAddress, isHeard: false, readsBack: true, markAddress },
            }),
          ),
          caseOf(`plain fan-out to ${sockets} sockets, ${name}`, 'deliveries/s', rights, (identity, users) => {
            const fanOut = { ...task, dialect: 'plain', address: levelAddress, sockets, window } as const;
            return fanOutContender(identity, fanOut, start(users));
          }),
        ]),
      readWithToken(many, 16),
      caseOf(`HTTP read with a cookie, ${many}, depth 1`, 'answers/s', rightsCases[many], (identity, users) => {
        const [signedIn, sessionTask] = sessions(users);
        return loadContender<HttpTask>(identity, signedIn, 'bench/load/http.ts', sessionTask);
      }),
    ];
  },
};

type Identity = Pick<Contender, 'name' | 'role'>;

function caseOf(
  name: string,
  title: string,
  rights: Users,
  create: (identity: Identity, users: Users) => Contender,
): Case {
  const contenders = [
    create({ name: 'hub', role: 'hub' }, rights),
    create({ name: openName, role: 'ceiling' }, undefined),
  ];
  return { name, metrics: metricsOf(title), contenders, turns };
}

/** Signs in as a browser does; resolves to the cookie. */
async function signIn({ port }: ServerProcess): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/hub/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: `http://127.0.0.1:${port}` },
    body: JSON.stringify({ user: 'desk', password }),
  });
  const [cookie] = response.headers.getSetCookie();
  if (cookie === undefined) throw new Error(`expected a cookie, got ${response.status} ${await response.text()}`);
  return cookie.split(';', 1)[0]!;
}
