// What rights cost: the same work at a hub with users, and at one that is open. By HTTP a token comes with each request, which the hub without users does not read; sockets
// come without credentials, and what they may read and write is bounded by globs, of which one denies.

import { startHub } from '../harness/process.ts';
import type { Contender, Metric, Subject } from '../harness/subject.ts';
import type { HttpTask } from '../processes/http-load.ts';
import type { IngestTask } from '../processes/ingest-load.ts';
import { fanOutContender, levelAddress } from './fan-out.ts';
import { askHub } from './http-read.ts';
import { loadContender } from './servers.ts';

const openName = 'without users';
const token = 'a-token-of-some-forty-characters-in-length';
const rights = { read: ['desk/**', 'other/*'], write: ['desk/*'], deny: ['desk/admin/**'] };
const settings = { users: { desk: { token, ...rights } }, anonymous: rights };
const api = { type: 'rest-api', port: 0, bindIp: '127.0.0.1' };
const flowOf = (own: object) => ({
  connections: { api: { ...api, ...own }, desk: { type: 'dummy', parameters: ['level,F,0.75'] } },
});
const headers = `Host: 127.0.0.1\r\nUser-Agent: patchbay-bench\r\nAccept: */*\r\nAuthorization: Bearer ${token}\r\n`;
const request = `GET /parameters/desk/level HTTP/1.1\r\n${headers}\r\n`;

type Identity = Pick<Contender, 'name' | 'role'>;

const identities: readonly (readonly [identity: Identity, own: object])[] = [
  [{ name: 'hub', role: 'hub' }, settings],
  [{ name: openName, role: 'ceiling' }, {}],
];

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
  about: 'HTTP reads, plain writes and a plain fan-out at a hub with users; held against the same hub without any',
  rounds: 7,
  async cases(options, folder) {
    const { connections, window, warmUpMs, measureMs } = options;
    const task = { warmUpMs, measureMs };
    const sockets = options.sockets[Math.min(1, options.sockets.length - 1)]!;
    const contendersOf = (create: (identity: Identity, own: object) => Contender) =>
      identities.map(([identity, own]) => create(identity, own));
    return [
      {
        name: 'HTTP read with a token, depth 16',
        metrics: metricsOf('answers/s'),
        contenders: await inTurn(identities, async ([identity, own]) => {
          const answer = await askHub(options, folder, flowOf(own), request);
          const http = { ...task, request, answer, connections, depth: 16 };
          return loadContender<HttpTask>(identity, () => startHub(flowOf(own), folder, options), 'http-load', http);
        }),
      },
      {
        name: 'plain writes that nobody hears',
        metrics: metricsOf('messages/s'),
        contenders: contendersOf((identity, own) => {
          const ingest = { ...task, address: levelAddress, isHeard: false, readsBack: true };
          return loadContender<IngestTask>(
            identity,
            () => startHub(flowOf(own), folder, options),
            'ingest-load',
            ingest,
          );
        }),
      },
      {
        name: `plain fan-out to ${sockets} sockets`,
        metrics: metricsOf('deliveries/s'),
        contenders: contendersOf((identity, own) =>
          fanOutContender(identity, { ...task, dialect: 'plain', address: levelAddress, sockets, window }, () =>
            startHub(flowOf(own), folder, options),
          ),
        ),
      },
    ];
  },
};

/** One after the other: all hubs have the same flow file. */
async function inTurn<One, Made>(list: readonly One[], make: (one: One) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  for (const one of list) made.push(await make(one));
  return made;
}
