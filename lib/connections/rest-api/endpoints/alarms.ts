// GET /hub/alarms: the alarms of all connections of type `alarms`, most urgent first.

import { z } from 'zod';
import type { Parameter } from '../../../model/parameter.ts';
import { type Alarm, type AlarmList, alarmList } from '../../../wire/http/alarm-shapes.ts';
import { maxListedAlarms } from '../../../wire/limits.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { readQuery } from '../input/parse-input.ts';
import type { View } from '../users/view.ts';
import { page } from './endpoint.ts';

const shape = z.object({
  which: z
    .enum(['present', 'all'], { error: 'one of present, all' })
    .default('present')
    .describe('present: raised, unacknowledged and shelved alarms'),
});

export const endpoints = [
  page({
    path: '/hub/alarms',
    need: 'entry',
    id: 'listAlarms',
    tag: 'operation',
    summary: `The alarms, most urgent first, at most ${maxListedAlarms.toLocaleString('en')}`,
    query: shape,
    answer: alarmList,
    errors: { 400: 'The query is not valid' },
    read: ({ hub }, { query, principal: { view } }) =>
      alarmsOf(hub, view, readQuery(shape, new URLSearchParams(query)).which === 'all'),
  }),
];

function alarmsOf(hub: HubPort, view: View, isAll: boolean): AlarmList {
  const alarms = addressesOf(hub).flatMap((address) => describeAlarm(view, address) ?? []);
  const counted = alarms.filter(({ shelved }) => !shelved);
  const listed = isAll ? alarms : alarms.filter(({ state, shelved }) => shelved || isPresent(state));
  return {
    count: alarms.length,
    active: counted.filter(({ state }) => state === 'unacknowledged' || state === 'acknowledged').length,
    unacknowledged: counted.filter(({ state }) => isUnacknowledged(state)).length,
    shelved: alarms.length - counted.length,
    alarms: listed.sort(byUrgency).slice(0, maxListedAlarms),
  };
}

/**
 * The addresses of each hub's alarms. They are cached until the structure of the hub changes, because collecting them means visiting all
 * parameters.
 */
const known = new WeakMap<HubPort, { readonly structure: string; readonly addresses: readonly string[] }>();

function addressesOf(hub: HubPort): readonly string[] {
  const ids = hub.connections().flatMap(({ id, type }) => (type === 'alarms' ? [id] : []));
  if (ids.length === 0) return [];
  const structure = [hub.structure, ...ids].join(' ');
  const kept = known.get(hub);
  if (kept?.structure === structure) return kept.addresses;
  const owners = new Set(ids);
  const addresses: string[] = [];
  for (const { address } of hub.parameters())
    if (address.endsWith('/state') && owners.has(address.slice(0, address.indexOf('/'))))
      addresses.push(address.slice(0, -'/state'.length));
  known.set(hub, { structure, addresses });
  return addresses;
}

/** Returns the state of an alarm; undefined if the user may not read the alarm. */
function describeAlarm(view: View, address: string): Alarm | undefined {
  const part = (name: string) => view.find(`${address}/${name}`);
  const stateOf = part('state');
  if (stateOf === undefined) return undefined;
  const itself = view.find(address);
  const state = (stateOf.value ?? 'unknown') as Alarm['state'];
  const priority = part('priority')?.value;
  const shelved = part('shelved')?.value === true;
  const until = shelved ? endOf(part('shelve')) : undefined;
  const raised = isPresent(state) ? (itself ?? stateOf).lastChange : undefined;
  return {
    address,
    text: itself?.about?.label ?? address.slice(address.indexOf('/') + 1),
    ...(typeof priority === 'number' && { priority }),
    state,
    ...(raised && { since: toIsoTime(raised.time) }),
    shelved,
    ...(until !== undefined && { shelvedUntil: toIsoTime(until) }),
  };
}

/** Returns when shelving ends, in milliseconds since 1970; undefined if the time was never written to `shelve`. */
function endOf(shelve: Parameter | undefined): number | undefined {
  const { value, lastChange, about } = shelve ?? {};
  if (typeof value !== 'number' || lastChange === undefined) return undefined;
  return lastChange.time + Math.min(value, about?.max ?? value);
}

function isPresent(state: Alarm['state']): boolean {
  return state !== 'normal' && state !== 'unknown';
}

function isUnacknowledged(state: Alarm['state']): boolean {
  return state === 'unacknowledged' || state === 'returned';
}

const lowest = 10;

function byUrgency(one: Alarm, other: Alarm): number {
  return (
    Number(one.shelved) - Number(other.shelved) ||
    Number(isPresent(other.state)) - Number(isPresent(one.state)) ||
    Number(isUnacknowledged(other.state)) - Number(isUnacknowledged(one.state)) ||
    (one.priority ?? lowest) - (other.priority ?? lowest) ||
    Date.parse(other.since ?? '') - Date.parse(one.since ?? '') ||
    (one.address < other.address ? -1 : 1)
  );
}
