// Random users, who may read and write some of twelve parameters: what each of them may do, and how what he may not see is found in
// whatever he is told.

import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { globToRegExp } from '../../../lib/model/glob.ts';
import { api, type HubUnderTest, writer } from '../hub.ts';

/** Addresses and values have text of their own, by which they are known wherever they come. */
const places = Array.from({ length: 12 }, (_, index) => `s${index % 3}/${index % 2 ? 'deep/' : ''}qa${index + 100}qa`);
export const addresses = places.map((place) => `desk/${place}`);
export const textOf = (index: number) => `qa${index + 100}qa`;
let turn = 0;
/** A number that nobody has got before. */
export const nextTurn = () => ++turn;
export const nextOf = (index: number) => `qv${index + 100}qv${++turn}${turn % 2 ? 'x' : ''}`;
const indexOf = (mark: string) => Number(mark.slice(2, 5)) - 100;

export interface Rights {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly deny: readonly string[];
  readonly dashboards: readonly string[];
}

const glob = fc.oneof(
  fc.constantFrom(
    '**',
    'desk/**',
    'desk/s0/**',
    'desk/s1/**',
    'desk/s2/**',
    'desk/*/qa1*',
    'desk/**/deep/*',
    '**/qa10*',
  ),
  fc.constantFrom(...addresses),
);
const globs = fc.array(glob, { maxLength: 3 });
/** Dashboards have names and titles that are known wherever they come. */
export const boards = ['qd100qd', 'qd101qd', 'qd102qd'];
const board = fc.constantFrom(...boards, 'qd1*', '*2qd');
export const anyRights: fc.Arbitrary<Rights> = fc.record({
  read: globs,
  write: globs,
  deny: fc.array(glob, { maxLength: 1 }),
  dashboards: fc.array(board, { maxLength: 2 }),
});

const matches = (list: readonly string[], address: string) => list.some((one) => globToRegExp(one).test(address));
export const mayRead = ({ read, deny }: Rights, address: string) => matches(read, address) && !matches(deny, address);
export const mayOpen = ({ dashboards }: Rights, name: string) => matches(dashboards, name);
export const mayWrite = ({ write, deny }: Rights, address: string) =>
  matches(write, address) && !matches(deny, address);

export const names = ['ann', 'bob', 'cem', 'dee'];
/** A change of a parameter changes the next but three, so that chains of causes cross what users may see. */
const rules = addresses.slice(0, 9).map((from, index) => ({
  from,
  map: `value.endsWith('x') ? 'qv${index + 103}qv-odd' : 'qv${index + 103}qv-even'`,
  to: addresses[index + 3],
}));

export function flowOf(users: Readonly<Record<string, Rights>>, anonymous: Rights): object {
  const withTokens = Object.entries(users).map(([name, one]) => [name, { token: `token-of-${name}`, ...one }]);
  return {
    connections: {
      api: {
        ...api,
        users: {
          ...Object.fromEntries(withTokens),
          root: { token: 'token-of-root', read: ['**'], manage: true },
          meter: { token: 'token-of-meter', metrics: true },
        },
        anonymous,
        dashboards: 'dashboards',
      },
      desk: { type: 'dummy', parameters: places.map((place, index) => `${place},S,${nextOf(index)}`) },
      store: { type: 'store', folder: './data', snapshots: { all: { include: ['desk/**'] } } },
    },
    rules,
  };
}

export const filesOf = (flow: object) => ({
  'flow.json5': flow,
  ...Object.fromEntries(boards.map((name) => [`dashboards/${name}.json5`, { title: name, widgets: [] }])),
});

/** Fails when the text has anything of a parameter that may not be read. What the client said itself does not count. */
export function expectDiscreet(t: ExecutionContext, text: string, one: Rights, what: string, own = ''): void {
  const seen = own === '' ? text : text.replaceAll(own, '');
  const hidden = [...seen.matchAll(/q[av]1\d\dq[av]/g)].filter(([mark]) => !mayRead(one, addresses[indexOf(mark)]!));
  const closed = [...seen.matchAll(/qd1\d\dqd/g)].filter(([name]) => !mayOpen(one, name));
  t.deepEqual(
    [...hidden, ...closed].map(([mark]) => mark),
    [],
    `${what}: ${text.slice(0, 300)}`,
  );
}

export const headersOf = (name: string): Record<string, string> =>
  name === '' ? {} : { authorization: `Bearer token-of-${name}` };

export const setAll = (hub: HubUnderTest, mark = '') => {
  for (const [index, address] of addresses.entries()) hub.write(address, nextOf(index) + mark, writer);
};
