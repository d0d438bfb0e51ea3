// The rights of a principal. Each address is matched only once, and the result is cached. `deny` takes precedence.

import type { Parameters } from '../../hub-port.ts';
import { createGlobFilter } from '../filters/address-glob.ts';
import { anyOf, type Filter, filterOf, textWork } from '../filters/filter.ts';
import type { RightSettings, UserSettings } from './user-settings.ts';

/**
 * What a request requires: nothing, an admitted principal (`entry`), or a right. `own` means that the endpoint checks its own credentials
 * instead of the credentials of users.
 */
export type Need = 'nothing' | 'own' | 'entry' | 'manage' | 'metrics' | 'edit';

const nothing = filterOf(textWork, () => false);
const mayRead = 1;
const mayWrite = 2;

export class Rights {
  /** A key that is equal for principals that may read and write the same parameters. */
  readonly key: string;
  readonly settings: RightSettings & Pick<UserSettings, 'manage' | 'metrics' | 'edit'>;
  /** Whether all addresses may be read, in which case no address has to be checked. */
  readonly readsAll: boolean;
  /** The filter for readable addresses, which is only applied to existing parameters. */
  readonly reads: Filter;
  readonly #read: Filter;
  readonly #write: Filter;
  readonly #deny: Filter;
  readonly #dashboards: Filter;
  readonly #edit: Filter;
  readonly #hub: Parameters;
  /** The rights to existing parameters as bits, keyed by address. */
  readonly #known = new Map<string, number>();

  constructor(settings: Rights['settings'], hub: Parameters) {
    this.settings = settings;
    this.#hub = hub;
    this.key = keyOf(settings);
    this.#read = filterOfAll(settings.read);
    this.#write = filterOfAll(settings.write);
    this.#deny = filterOfAll(settings.deny);
    this.#dashboards = filterOfAll(settings.manage ? ['**'] : settings.dashboards);
    this.#edit = filterOfAll(settings.edit);
    this.readsAll = settings.read.includes('**') && settings.deny.length === 0;
    this.reads = this.readsAll
      ? filterOf(0, () => true)
      : filterOf(textWork, (address) => (this.#of(address) & mayRead) !== 0);
  }

  /** Returns whether the parameter at an address may be read. */
  mayRead(address: string): boolean {
    return this.readsAll || (this.#of(address) & mayRead) !== 0;
  }

  /**
   * Returns whether a client may ask for an address, whether or not there is a parameter with this address. The cache is not used, because
   * the response time would reveal whether the parameter exists.
   */
  mayAskFor(address: string): boolean {
    return this.readsAll || (!this.#deny(address) && this.#read(address));
  }

  mayWrite(address: string): boolean {
    return (this.#of(address) & mayWrite) !== 0;
  }

  mayOpen(dashboard: string): boolean {
    return this.#dashboards(dashboard);
  }

  /** Returns whether the flow file that has these names may be edited. */
  mayEdit(names: readonly string[]): boolean {
    return names.some((name) => this.#edit(name));
  }

  /** Returns whether an address may be written, whether or not the parameter exists. */
  mayAskToWrite(address: string): boolean {
    return !this.#deny(address) && this.#write(address);
  }

  /** Whether the principal may read, write, edit and manage everything. */
  get isOwner(): boolean {
    const { manage, edit, write } = this.settings;
    return this.readsAll && manage && write.includes('**') && edit.includes('**');
  }

  has(need: Need): boolean {
    const { manage, metrics, edit } = this.settings;
    if (need === 'edit') return edit.length > 0;
    return need === 'manage' ? manage : need === 'metrics' ? manage || metrics : true;
  }

  /** Forgets a parameter that the hub has removed. */
  forget(address: string): void {
    this.#known.delete(address);
  }

  #of(address: string): number {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const isDenied = this.#deny(address);
    const found = isDenied ? 0 : (this.#read(address) ? mayRead : 0) | (this.#write(address) ? mayWrite : 0);
    if (this.#hub.find(address) !== undefined) this.#known.set(address, found);
    return found;
  }
}

function filterOfAll(globs: readonly string[]): Filter {
  return globs.length === 0 ? nothing : anyOf(globs.map(createGlobFilter));
}

function keyOf({ read, write, deny }: RightSettings): string {
  return JSON.stringify([read, write, deny].map((globs) => [...new Set(globs)].sort()));
}
