// The subprotocols that a client offers when it opens a WebSocket (RFC 6455 section 1.9), and the codes with which WebSockets are closed.

/** The subprotocol for dashboards and fast clients. A client that offers no subprotocol uses the plain protocol. */
export const protocolName = 'patchbay.v1';

/**
 * The prefix of the subprotocol that carries credentials: a browser cannot set headers, so it offers an additional subprotocol, which is
 * this prefix, followed by the value of the `Authorization` header in base64url without padding.
 */
export const credentialsPrefix = 'patchbay.authorization.';

// The codes with which the hub closes WebSockets (RFC 6455 section 7.4). After a code of 4500 or above, another attempt to connect would
// end in the same way.

export const closeCodes = {
  /** The hub is shutting down, or is restarting the connection with other settings. */
  goingAway: 1001,
  /** The client did not read for too long. */
  stalled: 4001,
  /** The client sent messages faster than the hub can process them. */
  flooding: 4008,
  /** The client's rights have changed. The client should connect again, and then receives the parameters that it may now see. */
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

/** Returns whether a client should connect again after a socket was closed with this code, by either side. */
export function mayReturn(code: number): boolean {
  return code < firstFinalCode;
}
