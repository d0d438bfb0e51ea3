// The parameters of a selection in listed order: that of the globs, and below one glob that of the declarations. In this order they are
// recalled, so that a router switches before a fader opens.

import { globToRegExp } from '../../../model/glob.ts';
import type { Parameter } from '../../../model/parameter.ts';
import type { Parameters } from '../../hub-port.ts';
import { createSelection, type Selection } from '../selection.ts';

export class ListedParameters {
  readonly #hub: Parameters;
  readonly #placeOf: (parameter: Parameter) => number;
  readonly #places: number;
  #known: ReadonlySet<Parameter> | undefined;

  /** `store` is the Connection ID of the store, whose own parameters are never among them. */
  constructor(hub: Parameters, selection: Selection, store: string) {
    const globs = selection.include.map(globToRegExp);
    const isSelected = createSelection(selection);
    this.#hub = hub;
    this.#places = globs.length;
    this.#placeOf = ({ address, type, access, remote }) => {
      if (
        type === 'T' ||
        remote !== undefined ||
        access === 'read-only' ||
        address.startsWith(`${store}/`) ||
        !isSelected(address)
      )
        return -1;
      return globs.findIndex((glob) => glob.test(address));
    };
  }

  /** Those that there are now. */
  get all(): ReadonlySet<Parameter> {
    this.#known ??= this.#find();
    return this.#known;
  }

  /** Notes that a reload has added or taken out parameters. */
  renew(): void {
    this.#known = undefined;
  }

  #find(): ReadonlySet<Parameter> {
    const places = Array.from({ length: this.#places }, (): Parameter[] => []);
    for (const parameter of this.#hub.parameters()) places[this.#placeOf(parameter)]?.push(parameter);
    return new Set(places.flat());
  }
}
