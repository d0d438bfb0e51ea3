// What a client offers when it opens a WebSocket (RFC 6455 section 1.9).

/** The subprotocol for dashboards and fast clients. A client that offers none speaks the plain protocol. */
export const protocolName = 'patchbay.v1';

/**
 * A browser cannot set headers: it offers its credentials as one more subprotocol, this followed by what the header
 * `Authorization` would hold, as base64url without padding.
 */
export const credentialsPrefix = 'patchbay.authorization.';

// The codes with which the hub closes WebSockets (RFC 6455 section 7.4). Those from 4500 on say that trying again will end the same way.

export const closeCodes = {
  /** The hub stops, or starts anew with other settings. */
  goingAway: 1001,
  /** The client read nothing for too long. */
  stalled: 4001,
  /** The client sent faster than the hub takes it. */
  flooding: 4008,
  /** Somebody has changed what the client may do: it comes again, and is told what it may see now. */
  rightsChanged: 4003,
  /** Too many messages in a row made no sense. */
  senseless: 4500,
  /** The client was signed out, or its credentials are no longer those of a user. */
  signedOut: 4501,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

const firstFinalCode = 4500;

/** Whether it makes sense to connect again after a socket was closed with this code, whoever closed it. */
export function mayReturn(code: number): boolean {
  return code < firstFinalCode;
}
