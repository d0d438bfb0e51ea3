// Asks an owner for what this hub has missed, page by page: all of it, or what changed since a revision. A page is taken over, in turns with
// what else there is to do, before the next one is asked for.

import type { Intake, Steps } from '../link/nats-intake.ts';
import { type HubName, subjectOf } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import { read, type WalkAnswer, type WalkRequest, walkAnswer } from '../wire/domain-messages.ts';
import type { MirroredParameters } from './mirrored-parameters.ts';

const pageTimeoutMs = 1000;
/** An owner tells of so many triggers how often they have fired. */
const maxFires = 20_000;

/** Where a mirror is, as its owner counts. */
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
  /** Hears an answer, unless what is told in its term is not to be believed: returns whether it is. */
  readonly believes: (answer: WalkAnswer) => boolean;
  /** Whether it is still wanted: else nothing more is taken over. */
  readonly isWanted: () => boolean;
  /** Is called before all parameters are shown anew. */
  readonly begin: () => void;
}

/** Where the owner was when it told the last page, with which a mirror has all of it. */
export interface Repaired extends Position {
  /** How often triggers have fired: number, count, number, … */
  readonly fires: readonly number[];
  /** Whether all parameters were told anew. */
  readonly isSnapshot: boolean;
}

/** An owner has answered what makes no sense. */
export class SenselessAnswer extends Error {}
/** Nothing more is to be taken over. */
class Unwanted extends Error {}

/** Errors: the owner does not answer, or its answers do not fit together; then it may be tried again. `SenselessAnswer`. */
export async function repair(context: RepairContext, from: Position | undefined): Promise<Repaired> {
  const repairing = new Repairing(context);
  const repaired = from === undefined ? undefined : await repairing.walk(from);
  if (repaired !== undefined) return { ...repaired, isSnapshot: false };
  const position = await repairing.define();
  const valued = new Set<number>();
  const all = await repairing.walk({ ...position, rev: 0 }, valued);
  if (all === undefined) throw new Error('parameters came or went meanwhile');
  await repairing.take(context.parameters.settle(valued));
  return { ...all, isSnapshot: true };
}

class Repairing {
  readonly #context: RepairContext;

  constructor(context: RepairContext) {
    this.#context = context;
  }

  /** Takes over all definitions. Pages of different structures do not fit together: the later one may lack what the earlier one has. */
  async define(): Promise<Omit<Position, 'rev'>> {
    const { parameters } = this.#context;
    let first: WalkAnswer | undefined;
    let from = 0;
    parameters.beginAnew();
    for (;;) {
      const { definitions = [], next, ...answer } = await this.#ask({ from });
      first ??= answer;
      const { epoch, structure } = first;
      if (answer.epoch !== epoch || answer.structure !== structure)
        throw new Error('parameters came or went between two pages');
      await this.take(parameters.define(definitions));
      if (next === undefined) {
        this.#context.begin();
        await this.take(parameters.swap());
        return { epoch, structure };
      }
      if (next <= from) throw new SenselessAnswer('a page of definitions leads back');
      from = next;
    }
  }

  /** Takes over values since a revision. Undefined: the owner counts otherwise by now. */
  async walk(
    { epoch, structure, rev }: Position,
    valued?: Set<number>,
  ): Promise<Omit<Repaired, 'isSnapshot'> | undefined> {
    let since = rev;
    for (;;) {
      const { changes, to, fires = [], ...answer } = await this.#ask({ since, epoch, structure });
      if (changes === undefined || answer.epoch !== epoch || answer.structure !== structure) return undefined;
      if (fires.length > 2 * maxFires) throw new SenselessAnswer('more fires are told than an owner counts');
      await this.take(this.#context.parameters.takeAll(changes, valued));
      if (to === undefined) return { epoch, structure, rev: answer.rev, fires };
      if (to <= since) throw new SenselessAnswer('a page of values leads back');
      since = to;
    }
  }

  /** Goes through steps when it is the turn of the owner. Errors: those of the steps. */
  async take(steps: Steps): Promise<void> {
    const { intake, owner, isWanted } = this.#context;
    await intake.goThrough(owner.hub, {
      next() {
        if (!isWanted()) throw new Unwanted();
        try {
          return steps.next();
        } catch (error) {
          throw new SenselessAnswer(undefined, { cause: error });
        }
      },
    });
  }

  async #ask(request: WalkRequest): Promise<WalkAnswer> {
    const { transport, owner, intake, believes, isWanted } = this.#context;
    const data = await transport.request(subjectOf(owner, 'walk'), JSON.stringify(request), pageTimeoutMs);
    const answer = await intake.run(owner.hub, () => read(walkAnswer, data));
    if (!isWanted()) throw new Unwanted();
    if (answer.hub !== owner.hub) throw new SenselessAnswer(`an answer is said to be of hub "${answer.hub}"`);
    if (!believes(answer)) throw new Error('who has answered does not run the hub');
    return answer;
  }
}
