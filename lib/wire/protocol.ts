// What a client offers when it opens a WebSocket (RFC 6455 section 1.9).

/** The subprotocol for dashboards and fast clients. A client that offers none speaks the plain protocol. */
export const protocolName = 'patchbay.v1';

/**
 * A browser cannot set headers: it offers its credentials as one more subprotocol, this followed by what the header
 * `Authorization` would hold, as base64url without padding.
 */
export const credentialsPrefix = 'patchbay.authorization.';
