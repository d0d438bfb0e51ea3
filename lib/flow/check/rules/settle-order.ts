// The order in which rules run that wait until a turn has settled: each behind those whose results it reads, also where a
// connection stands between them.

import { connectionIdOf } from '../../../model/address.ts';
import { sortByDependency } from '../../../model/dependency-order.ts';
import { type ConnectionPlan, type RulePlan, sourcesOf } from '../../plan.ts';

/** So many addresses are looked through before a rule is sorted: mostly nothing writes to any of them. */
const fewAddresses = 10;
const nothing: readonly never[] = [];

type SortedRule = Pick<RulePlan, 'to' | 'isEnabled' | 'isShadow' | 'body'>;

/** The place of each rule, by its index, and of each connection with inputs that stands between them, by its ID. */
export function settleOrderOf(
  rules: readonly SortedRule[],
  connections: readonly ConnectionPlan[],
): ReadonlyMap<number | string, number> {
  const writers = writersOf(rules);
  const unsorted = new Map<string, Iterator<number>>();
  const nextWriterOf = (address: string) => {
    const known = unsorted.get(address) ?? writers.get(address)?.values();
    if (known !== undefined) unsorted.set(address, known);
    return known?.next();
  };
  const listening = new Map(connections.map(({ id, inputs }) => [id, Object.values(inputs)]));
  for (const [id, inputs] of listening) if (inputs.length === 0) listening.delete(id);
  /** The connection of an address, if it has inputs. */
  const listenerOf = (address: string) => {
    const connection = listening.size === 0 ? '' : connectionIdOf(address);
    return listening.has(connection) ? connection : undefined;
  };
  /** How far lists of addresses have been gone through; rules of a flow file in TypeScript may share one. */
  const readings = new Map<readonly string[], { at: number }>();
  const readingOf = (addresses: readonly string[]) => {
    const reading = readings.get(addresses) ?? { at: 0 };
    readings.set(addresses, reading);
    return reading;
  };
  /**
   * What a rule, by its index, or a connection, by its ID, comes after. All readers of an address share its writers: one that was
   * met is being sorted or has been, and is not needed again. So many readers of many writers cost no more than few of few.
   */
  function* dependencies(node: number | string): Generator<number | string, void, void> {
    const addresses = typeof node === 'string' ? listening.get(node)! : sourcesOf(rules[node]!);
    const reading = readingOf(addresses);
    while (reading.at < addresses.length) {
      const address = addresses[reading.at]!;
      const next = nextWriterOf(address);
      if (next?.done === false) {
        yield next.value;
        continue;
      }
      reading.at++;
      const connection = listenerOf(address);
      if (connection !== undefined) yield connection;
    }
  }
  const isMet = (address: string) => !writers.has(address) && listenerOf(address) === undefined;
  const dependenciesOf = (node: number | string) => {
    const addresses = typeof node === 'string' ? nothing : sourcesOf(rules[node]!);
    const isShort = typeof node === 'number' && addresses.length <= fewAddresses;
    return isShort && addresses.every(isMet) ? nothing : dependencies(node);
  };
  const { order } = sortByDependency<number | string>(rules.keys(), dependenciesOf);
  return new Map(order.map((node, place) => [node, place]));
}

/** The rules that write to each address, by their index. Those that are off, and shadow rules, write nothing that another one would wait for. */
function writersOf(rules: readonly SortedRule[]): ReadonlyMap<string, readonly number[]> {
  const writers = new Map<string, number[]>();
  rules.forEach(({ to, isEnabled, isShadow }, index) => {
    if (!isEnabled || isShadow) return;
    const alone = [index]; // for all addresses that no other rule writes to
    for (const address of to) {
      const known = writers.get(address);
      if (known === undefined) writers.set(address, alone);
      else if (known.length === 1) writers.set(address, [...known, index]);
      else known.push(index);
    }
  });
  return writers;
}
