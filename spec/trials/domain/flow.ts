// The flows of the three hubs: two of a pair, and one for itself. Half of the parameters are those of the pair.

export interface FaultsFlow {
  readonly servers: readonly string[];
  readonly hub: string;
  readonly isPair: boolean;
  /** Whether a pair goes on without servers. */
  readonly goesOn: boolean;
  /** The ID of its connection. */
  readonly desk: string;
  /** How many of its parameters are written, each with a rule that copies it to another. */
  readonly inputs: number;
}

/** How many hubs write and wait for the answer: each has a parameter `ack` of its own at the other desk, and one `own` at its desk. */
export const writers = 3;

export function flowOf({ servers, hub, isPair, goesOn, desk, inputs }: FaultsFlow): object {
  const ids = Array.from({ length: inputs }, (_, index) => index);
  const acknowledged = Array.from({ length: writers }, (_, index) => [`ack/${index},I,0`, `own/${index},I,0`]).flat();
  return {
    connections: {
      house: { type: 'nats', servers, domain: 'faults', hub, pair: isPair, isolated: goesOn ? 'go-on' : 'stop' },
      [desk]: {
        type: 'dummy',
        parameters: [...ids.flatMap((id) => [`in/${id},I,0`, `out/${id},I,0`]), ...acknowledged],
      },
    },
    rules: ids.map((id) => ({ name: `${desk} ${id}`, from: `${desk}/in/${id}`, to: `${desk}/out/${id}` })),
  };
}
