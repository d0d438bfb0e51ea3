// The part of an editor's answer that a user may see: nothing about files that the user may not edit, and no parameters that the user may
// not read.

import { resolve } from 'node:path';
import type { EditMistake, EditRights, ShownPart } from '../connections/editing.ts';
import type { Plan } from '../flow/plan.ts';
import { isAddress } from '../model/address.ts';
import type { Reload, ShadowReport } from '../model/reports/reload-report.ts';

export class VisibleAnswer {
  readonly #rights: EditRights;
  readonly #namesOf: (path: string) => readonly string[];

  /** `namesOf` returns the names under which rights may list the file at an absolute path. */
  constructor(rights: EditRights, namesOf: (path: string) => readonly string[]) {
    this.#rights = rights;
    this.#namesOf = namesOf;
  }

  /** Returns the errors that a user may see: those in files that the user may edit, without names that the user may not read. */
  errors(errors: readonly EditMistake[]): readonly EditMistake[] {
    const rights = this.#rights;
    if (rights.isOwner) return errors;
    return errors.map((error) => {
      if (!this.#mayEdit(error.file))
        return {
          file: '',
          path: '',
          message: 'another file has an error, so nothing can be saved: ask somebody who may see that file',
        };
      const message = error.message
        .replace(/, did you mean "([^"]*)"\??/, (hint, address: string) =>
          address.includes('/') && !rights.mayRead(address) ? '' : hint,
        )
        .replace(/[^\s"'`,;()]+\.(?:json5|ts)(?::\d+:\d+)?/g, (place) =>
          this.#mayEdit(place.replace(/(?::\d+)+$/, '')) ? place : 'another file',
        )
        .replace(/\b[a-z\d-]+(?:\/[^\s"'`,;()]+)+/g, (text) =>
          isAddress(text) && !rights.mayRead(text) ? 'another parameter' : text,
        );
      return { ...error, message };
    });
  }

  /** Returns which part of the results of a plan's run a user may see; undefined means everything. */
  part({ rules }: Plan): ShownPart | undefined {
    const rights = this.#rights;
    if (rights.isOwner) return undefined;
    const names = new Set(rules.filter(({ file }) => this.#mayEdit(file)).map(({ name }) => name));
    return { mayRead: (address) => rights.mayRead(address), mayName: (rule) => names.has(rule) };
  }

  /**
   * Removes from the list of restarts the rules and connections in files that the user may not edit. Others have saved these files without
   * a reload.
   */
  restarts(restarts: Reload, before: Plan, after: Plan): Reload {
    const rights = this.#rights;
    if (rights.isOwner) return restarts;
    const isOwn = ({ file }: { readonly file: string }) => this.#mayEdit(file);
    const connections = new Set([before, after].flatMap((plan) => plan.connections.filter(isOwn).map(({ id }) => id)));
    const rules = new Set([before, after].flatMap((plan) => plan.rules.filter(isOwn).map(({ name }) => name)));
    return {
      connections: within(restarts.connections, connections),
      rules: within(restarts.rules, rules),
    };
  }

  #mayEdit(file: string): boolean {
    return this.#rights.mayEdit(this.#namesOf(resolve(file)));
  }
}

/** Returns the part of a difference that concerns the given names. */
function within({ added, removed, changed }: Reload['rules'], names: ReadonlySet<string>): Reload['rules'] {
  const [a, b, c] = [added, removed, changed].map((list) => list.filter((name) => names.has(name)));
  return { added: a!, removed: b!, changed: c! };
}

/** Returns the part of a shadow report that a user may see. */
export function shownShadow(report: ShadowReport, part: ShownPart | undefined): ShadowReport {
  if (part === undefined) return report;
  const { mayRead, mayName } = part;
  const parameters = report.parameters.filter(({ address }) => mayRead(address));
  const shownSide = ({ value, origin }: ShadowReport['deviations'][number]['done']) => ({
    value,
    origin: origin?.kind === 'rule' && !mayName(origin.name) ? undefined : origin,
  });
  return {
    ...report,
    rules: report.rules.filter(mayName),
    left: report.left.filter(mayName),
    notInShadow: [],
    parameters,
    count: parameters.reduce((sum, { count }) => sum + count, 0),
    deviations: report.deviations
      .filter(({ address }) => mayRead(address))
      .map((one) => ({ ...one, done: shownSide(one.done), would: shownSide(one.would) })),
  };
}
