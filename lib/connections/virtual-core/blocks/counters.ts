// The counters of IEC 61131-3: CTU, CTD and CTUD. They count rising edges, and stop at ±(2^53−1), the bounds of an integer
// parameter. A reset goes before a load, and a load before counting. An edge up and an edge down at the same time cancel out.

import type { Value } from '../../../model/value.ts';
import { type Logic, RisingEdge } from './logic.ts';

const most = Number.MAX_SAFE_INTEGER;

/** CTU: `up`, `reset`, `pv` → done (count >= pv), count. */
export function createCtu(): Logic {
  const up = new RisingEdge();
  return createCounter([up], (count, values) => {
    const change = up.rises(values[0] as boolean) ? 1 : 0;
    const next = values[1] ? 0 : saturate(count + change);
    return [next >= (values[2] as number), next];
  });
}

/** CTD: `down`, `load`, `pv` → done (count <= 0), count; `load` sets the count to pv. */
export function createCtd(): Logic {
  const down = new RisingEdge();
  return createCounter([down], (count, values) => {
    const change = down.rises(values[0] as boolean) ? -1 : 0;
    const next = values[1] ? saturate(values[2] as number) : saturate(count + change);
    return [next <= 0, next];
  });
}

/** CTUD: `up`, `down`, `reset`, `load`, `pv` → done (count >= pv), count, down-done (count <= 0). */
export function createCtud(): Logic {
  const up = new RisingEdge();
  const down = new RisingEdge();
  return createCounter([up, down], (count, values) => {
    const change = (up.rises(values[0] as boolean) ? 1 : 0) - (down.rises(values[1] as boolean) ? 1 : 0);
    const next = values[2] ? 0 : saturate(values[3] ? (values[4] as number) : count + change);
    return [next >= (values[4] as number), next, next <= 0];
  });
}

/** Creates a counter from how it finds its next outputs; the count is the second of them. */
function createCounter(
  edges: readonly RisingEdge[],
  next: (count: number, values: readonly Value[]) => readonly Value[],
): Logic {
  let outputs: readonly Value[] = [false, 0];
  return {
    get outputs() {
      return outputs;
    },
    wakeAt: Infinity,
    step: (values) => {
      outputs = next(outputs[1] as number, values);
    },
    remember: () => ({ outputs: [outputs[1]!], edges: edges.map(({ wasFalse }) => wasFalse) }),
    recall: (remembered) => {
      outputs = [false, remembered.outputs[0]!];
      for (const [index, edge] of edges.entries()) edge.wasFalse = remembered.edges[index]!;
    },
  };
}

/** Keeps a count an integer within the bounds. */
function saturate(count: number): number {
  return Math.max(-most, Math.min(most, Math.trunc(count))) + 0; // never -0
}
