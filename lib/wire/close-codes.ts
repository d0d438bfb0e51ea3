// The codes with which the hub closes WebSockets (RFC 6455 section 7.4). Those from 4500 on say that trying again will end the same way.

export const closeCodes = { goingAway: 1001, stalled: 4001, flooding: 4008, senseless: 4500 } as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

const firstFinalCode = 4500;

/** Whether it makes sense to connect again after a socket was closed with this code, whoever closed it. */
export function mayReturn(code: number): boolean {
  return code < firstFinalCode;
}
