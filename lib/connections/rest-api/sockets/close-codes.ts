// The codes with which the hub closes WebSockets; those from 4500 on say that trying again will end the same way.

export const closeCodes = { goingAway: 1001, stalled: 4001, flooding: 4008, senseless: 4500 } as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

const finalCodes = 4500;

/** Whether it makes sense to connect again. */
export function mayReturn(code: CloseCode): boolean {
  return code < finalCodes;
}
