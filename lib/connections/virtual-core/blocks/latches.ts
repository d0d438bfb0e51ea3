// The function blocks of IEC 61131-3 that remember one bit (SR, RS) or see an edge (R_TRIG, F_TRIG).

import type { Value } from '../../../model/value.ts';
import { type Logic, RisingEdge } from './logic.ts';

/** SR: `set`, `reset` → Q; set wins. Q is off before the first set. */
export const createSr = (): Logic => createLatch((set, reset, q) => set || (q && !reset));

/** RS: `set`, `reset` → Q; reset wins. Q is off before the first set. */
export const createRs = (): Logic => createLatch((set, reset, q) => !reset && (set || q));

/** R_TRIG: `in` → a trigger when it becomes true; the first value is no edge. */
export const createRTrig = (): Logic => createEdgeTrigger((value) => value);

/** F_TRIG: `in` → a trigger when it becomes false; the first value is no edge. */
export const createFTrig = (): Logic => createEdgeTrigger((value) => !value);

function createLatch(next: (set: boolean, reset: boolean, q: boolean) => boolean): Logic {
  const outputs = [false];
  return {
    outputs,
    wakeAt: Infinity,
    step: (values) => {
      outputs[0] = next(values[0] as boolean, values[1] as boolean, outputs[0]!);
    },
    remember: () => ({ outputs: [...outputs], edges: [] }),
    recall: (remembered) => {
      outputs[0] = remembered.outputs[0] as boolean;
    },
  };
}

function createEdgeTrigger(read: (value: boolean) => boolean): Logic {
  const outputs: Value[] = [false];
  const edge = new RisingEdge();
  return {
    outputs,
    wakeAt: Infinity,
    step: (values) => {
      outputs[0] = edge.rises(read(values[0] as boolean));
    },
    remember: () => ({ outputs: [], edges: [edge.wasFalse] }),
    recall: ({ edges }) => {
      edge.wasFalse = edges[0]!;
    },
  };
}
