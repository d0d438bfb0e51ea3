// Reads the steps and values of tests in TypeScript as those of flow files are read, although they stand in no file.

import { resolve } from 'node:path';
import { Spot } from '../flow/check/spot.ts';
import type { Testable } from '../flow/check/tests/steps.ts';
import type { FlowTestStep } from '../flow/check/tests/test-schema.ts';
import { checkGiven, checkSteps } from '../flow/check/tests/tests.ts';
import type { FlowFile } from '../flow/files/flow-file.ts';
import type { Plan } from '../flow/plan.ts';
import type { Assignment, TestedParameter, TestStep } from '../flow/test-plan.ts';
import { formatMistake, MistakeList } from '../json5/mistake.ts';
import { unknownName } from '../json5/nearest-name.ts';
import { formatAddress, parseAddress } from '../model/address.ts';
import { HubError } from '../model/error.ts';

/** Stands for the file that a test in TypeScript does not have. */
export const here: FlowFile = { name: 'test', folder: resolve('.'), data: undefined, positionOf: () => undefined };

/** Reads for the parameters of a plan. Errors of every method: `bad-flow`, with every mistake. */
export class StepReader {
  readonly #testable: Testable;

  constructor({ connections }: Plan) {
    const declarations = new Map<string, TestedParameter>(
      connections.flatMap(({ id, parameters }) =>
        parameters.map((parameter) => [formatAddress(id, parameter.id), parameter]),
      ),
    );
    const externals = new Set(connections.filter(({ type }) => type.isExternal).map(({ id }) => id));
    this.#testable = {
      find(spot, address) {
        const found = declarations.get(address);
        if (found === undefined) spot.add(unknownName('parameter', address, [...declarations.keys()]));
        return found;
      },
      isExternal: (id) => externals.has(id),
      isRemote: () => false,
    };
  }

  given(values: Readonly<Record<string, unknown>>): readonly Assignment[] {
    return withoutMistakes((mistakes) => checkGiven(new Spot(here, mistakes), values, this.#testable));
  }

  /** The first step is at `fromMs` or later. */
  steps(steps: readonly FlowTestStep[], fromMs: number): readonly TestStep[] {
    return withoutMistakes((mistakes) => checkSteps(new Spot(here, mistakes), steps, this.#testable, fromMs));
  }

  /** Reads an address. Errors: `bad-address` too. */
  address(address: string): string {
    parseAddress(address);
    withoutMistakes((mistakes) => this.#testable.find(new Spot(here, mistakes), address));
    return address;
  }
}

/** What comes of work. Errors: `bad-flow`, with the mistakes that the work has added. */
export function withoutMistakes<Result>(work: (mistakes: MistakeList) => Result): Result {
  const mistakes = new MistakeList();
  const result = work(mistakes);
  const { items } = mistakes;
  if (items.length > 0) throw new HubError('bad-flow', items.map(formatMistake).join('\n'));
  return result;
}
