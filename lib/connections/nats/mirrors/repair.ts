// Requests missing data from its owner, page by page: either all data or the changes since a revision. Each page is applied, alternating
// with other work, before the next page is requested.

import type { Intake, Steps } from '../link/nats-intake.ts';
import { type HubName, subjectOf } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import { read, type WalkAnswer, type WalkRequest, walkAnswer } from '../wire/domain-messages.ts';
import type { MirroredParameters } from './mirrored-parameters.ts';

const pageTimeoutMs = 1000;
/** The maximum number of triggers for which an owner reports firings. */
const maxFires = 20_000;

/** The position of a mirror in its owner's sequence of changes. */
export interface Position {
  readonly epoch: string;
  readonly structure: number;
  readonly rev: number;
}

export interface RepairContext {
  readonly transport: Transport;
  readonly owner: HubName;
  readonly intake: Pick<Intake, 'run' | 'goThrough'>;
  readonly parameters: MirroredParameters;
  /** Accepts an answer with a valid term. Returns whether the answer was accepted. */
  readonly accepts: (answer: WalkAnswer) => boolean;
  /** Returns whether the repair is still wanted. If it is not, no further data is applied. */
  readonly isWanted: () => boolean;
  /** Called before all parameters are replaced by a new snapshot. */
  readonly begin: () => void;
}

/** The owner's state when it sent the last page. After this page, the mirror is complete. */
export interface Repaired extends Position {
  /** The numbers of firings of triggers: number, count, number, count, … */
  readonly fires: readonly number[];
  /** Whether all parameters have been sent again. */
  readonly isSnapshot: boolean;
}

/** The error if an answer from the owner is invalid. */
export class InvalidAnswer extends Error {}
/** The error if the repair is no longer wanted. */
class Unwanted extends Error {}

/**
 * Runs a repair. Rejects if the owner does not answer or its answers are inconsistent; the repair may then be retried. Rejects with
 * `InvalidAnswer` if an answer is invalid.
 */
export async function repair(context: RepairContext, from: Position | undefined): Promise<Repaired> {
  const repairing = new Repairing(context);
  const repaired = from === undefined ? undefined : await repairing.walk(from);
  if (repaired !== undefined) return { ...repaired, isSnapshot: false };
  const position = await repairing.define();
  const valued = new Set<number>();
  const all = await repairing.walk({ ...position, rev: 0 }, valued);
  if (all === undefined) throw new Error('parameters were added or removed during the transfer');
  await repairing.take(context.parameters.settle(valued));
  return { ...all, isSnapshot: true };
}

class Repairing {
  readonly #context: RepairContext;

  constructor(context: RepairContext) {
    this.#context = context;
  }

  /**
   * Requests and applies all definitions. Pages with different values of `structure` are inconsistent, because a later page may lack
   * parameters from an earlier page.
   */
  async define(): Promise<Omit<Position, 'rev'>> {
    const { parameters } = this.#context;
    let first: WalkAnswer | undefined;
    let from = 0;
    parameters.beginSnapshot();
    for (;;) {
      const { definitions = [], next, ...answer } = await this.#ask({ from });
      first ??= answer;
      const { epoch, structure } = first;
      if (answer.epoch !== epoch || answer.structure !== structure)
        throw new Error('parameters were added or removed between two pages');
      await this.take(parameters.define(definitions));
      if (next === undefined) {
        this.#context.begin();
        await this.take(parameters.swap());
        return { epoch, structure };
      }
      if (next <= from) throw new InvalidAnswer('a page of definitions does not advance');
      from = next;
    }
  }

  /** Requests and applies the values that have changed since a revision. Returns undefined if the owner has renumbered its parameters. */
  async walk(
    { epoch, structure, rev }: Position,
    valued?: Set<number>,
  ): Promise<Omit<Repaired, 'isSnapshot'> | undefined> {
    let since = rev;
    for (;;) {
      const { changes, to, fires = [], ...answer } = await this.#ask({ since, epoch, structure });
      if (changes === undefined || answer.epoch !== epoch || answer.structure !== structure) return undefined;
      if (fires.length > 2 * maxFires)
        throw new InvalidAnswer('the answer reports more trigger firings than an owner counts');
      await this.take(this.#context.parameters.takeAll(changes, valued));
      if (to === undefined) return { epoch, structure, rev: answer.rev, fires };
      if (to <= since) throw new InvalidAnswer('a page of values does not advance');
      since = to;
    }
  }

  /** Runs steps in the owner's turns. Errors: any error from the steps. */
  async take(steps: Steps): Promise<void> {
    const { intake, owner, isWanted } = this.#context;
    await intake.goThrough(owner.hub, {
      next() {
        if (!isWanted()) throw new Unwanted();
        try {
          return steps.next();
        } catch (error) {
          throw new InvalidAnswer(undefined, { cause: error });
        }
      },
    });
  }

  async #ask(request: WalkRequest): Promise<WalkAnswer> {
    const { transport, owner, intake, accepts, isWanted } = this.#context;
    const data = await transport.request(subjectOf(owner, 'walk'), JSON.stringify(request), pageTimeoutMs);
    const answer = await intake.run(owner.hub, () => read(walkAnswer, data));
    if (!isWanted()) throw new Unwanted();
    if (answer.hub !== owner.hub) throw new InvalidAnswer(`the answer names hub "${answer.hub}"`);
    if (!accepts(answer)) throw new Error('the answer is not from the active hub');
    return answer;
  }
}
