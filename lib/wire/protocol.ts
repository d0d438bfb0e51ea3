// The subprotocols that a client offers when it opens a WebSocket (RFC 6455 section 1.9).

/** The subprotocol for dashboards and fast clients. A client that offers no subprotocol uses the plain protocol. */
export const protocolName = 'patchbay.v1';

/**
 * A browser cannot set headers, so it offers its credentials as an additional subprotocol: this prefix, followed by the value of the
 * `Authorization` header in base64url without padding.
 */
export const credentialsPrefix = 'patchbay.authorization.';

// The codes with which the hub closes WebSockets (RFC 6455 section 7.4). After a code of 4500 or above, another attempt would end in the
// same way.

export const closeCodes = {
  /** The hub is shutting down, or is restarting the connection with other settings. */
  goingAway: 1001,
  /** The client did not read for too long. */
  stalled: 4001,
  /** The client sent messages faster than the hub can process. */
  flooding: 4008,
  /** The client's rights have changed. The client connects again and receives the parameters that it may now see. */
  rightsChanged: 4003,
  /** The client sent too many invalid messages in a row. */
  senseless: 4500,
  /** An operator has disconnected the client, which may connect again. */
  disconnected: 4002,
  /** The client was signed out, or its credentials are no longer valid. */
  signedOut: 4501,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

const firstFinalCode = 4500;

/** Returns whether the client should connect again after a close with this code, no matter which side sent the code. */
export function mayReturn(code: number): boolean {
  return code < firstFinalCode;
}
