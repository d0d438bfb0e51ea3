// The parameters of the hub as seen by one principal. A parameter that the principal may not read looks missing, so that its existence is
// not revealed. A found parameter is cached, so checking rights costs nothing from the second time on.

import { HubError, noSuchParameter } from '../../../model/error.ts';
import type { Origin, Parameter } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';
import { originWithoutRule } from '../../../wire/http/hidden.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Rights } from './rights.ts';

export interface View {
  /** Returns the parameter at an address; undefined if there is no parameter that the principal may read. */
  find(address: string): Parameter | undefined;
  /** Returns all parameters that the principal may read. */
  parameters(): Iterable<Parameter>;
  /** Returns whether the principal may see the parameter with this address, whether it exists or was removed. */
  mayRead(address: string): boolean;
  /** Returns whether a client may ask for an address. The check takes the same time whether or not the parameter exists. */
  mayAskFor(address: string): boolean;
  /**
   * Returns the parameter at an address if the principal may write it; undefined if there is no parameter that the principal may know
   * about. Errors: `forbidden` if the principal may only read the parameter.
   */
  findToWrite(address: string): Parameter | undefined;
  /** Returns whether the principal may write a parameter that was not found by its address. Errors: the same as those of `findToWrite`. */
  mayWrite(parameter: Parameter): boolean;
  /** Writes a parameter and returns the converted value. Errors: any error from `HubPort.write`; `forbidden`. */
  write(address: string, input: unknown, origin: Origin): Value;
  /** Returns an origin without the parts that the principal may not see. */
  show(origin: Origin): Origin;
}

/** Creates the view for all clients of an open hub, which contains all parameters. */
export function openView(hub: HubPort): View {
  return {
    find: (address) => hub.find(address),
    parameters: () => hub.parameters(),
    mayRead: () => true,
    mayAskFor: () => true,
    findToWrite: (address) => hub.find(address),
    mayWrite: () => true,
    write: (address, input, origin) => hub.write(address, input, origin),
    show: (origin) => origin,
  };
}

/** The view of a principal with restricted rights. Once the view has ended, every access fails. */
export class BoundedView implements View {
  readonly #hub: HubPort;
  readonly #rights: Rights;
  /**
   * The parameters that were found to be readable, and to be writable, keyed by address. Each map has at most as many entries as the hub
   * has parameters.
   */
  readonly #readable = new Map<string, Parameter>();
  readonly #writable = new Map<string, Parameter>();
  #hasEnded = false;

  constructor(hub: HubPort, rights: Rights) {
    this.#hub = hub;
    this.#rights = rights;
  }

  find(address: string): Parameter | undefined {
    return this.#readable.get(address) ?? this.#findNew(address);
  }

  *parameters(): Generator<Parameter> {
    for (const parameter of this.#hub.parameters()) {
      this.#expectRights();
      if (this.#rights.mayRead(parameter.address)) yield parameter;
    }
  }

  mayRead(address: string): boolean {
    this.#expectRights();
    return this.#rights.mayRead(address);
  }

  mayAskFor(address: string): boolean {
    this.#expectRights();
    return this.#rights.mayAskFor(address);
  }

  findToWrite(address: string): Parameter | undefined {
    return this.#writable.get(address) ?? this.#findNewToWrite(address);
  }

  mayWrite(parameter: Parameter): boolean {
    return this.findToWrite(parameter.address) === parameter;
  }

  write(address: string, input: unknown, origin: Origin): Value {
    const parameter = this.findToWrite(address);
    if (parameter === undefined) throw noSuchParameter(address);
    return this.#hub.writeTo(parameter, input, origin);
  }

  show(origin: Origin): Origin {
    return this.#rights.readsAll ? origin : originWithoutRule(origin);
  }

  /** Forgets a parameter that the hub has removed. */
  forget(address: string): void {
    this.#readable.delete(address);
    this.#writable.delete(address);
  }

  /** Ends the view, because the principal has lost access. */
  end(): void {
    this.#hasEnded = true;
    this.#readable.clear();
    this.#writable.clear();
  }

  #findNew(address: string): Parameter | undefined {
    this.#expectRights();
    const parameter = this.#hub.find(address);
    if (parameter === undefined || !this.#rights.mayRead(address)) return undefined;
    this.#readable.set(address, parameter);
    return parameter;
  }

  #findNewToWrite(address: string): Parameter | undefined {
    this.#expectRights();
    const parameter = this.#hub.find(address);
    if (parameter === undefined) return undefined;
    if (this.#rights.mayWrite(address)) {
      this.#writable.set(address, parameter);
      return parameter;
    }
    if (!this.#rights.mayRead(address)) return undefined;
    throw new HubError(
      'forbidden',
      `${address}: expected a parameter that you may write; this one is read-only for you`,
    );
  }

  /** Checks that the view has not ended. Errors: `unauthorized`. */
  #expectRights(): void {
    if (this.#hasEnded) throw notLetIn();
  }
}

// A principal may lose access before its answer is ready. The principal then gets the answer for a client without credentials.

/** Returns the error for a client that is not admitted, or is no longer admitted. */
export function notLetIn(): HubError {
  return new HubError('unauthorized', 'Authorization: expected valid credentials for this hub');
}

/** Checks that a principal still has access. Errors: `unauthorized`. */
export function expectPresent({ hasLeft }: { readonly hasLeft: boolean }): void {
  if (hasLeft) throw notLetIn();
}
