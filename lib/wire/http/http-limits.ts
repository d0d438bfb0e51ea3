// The limits of requests and answers that more than one side needs. The table of all limits, with the consequences of exceeding each, is
// lib/connections/rest-api/limits/client-limits.ts.

/** Bytes of the body of a request. */
export const maxBodyBytes = 65_536;

/** Points of a history: the default of a query, and the maximum. */
export const usualPoints = 1000;
export const maxPoints = 10_000;

/** Points of the histories of a list together. */
export const maxListPoints = 200_000;

/** Events of a parameter, or entries of the audit: the default of a query, and the maximum. */
export const usualEntries = 100;
export const maxEntries = 1000;

/** Parameters of a list; more than a hub has. */
export const maxParameters = 1_000_000;

/** WebSocket clients in their list. */
export const maxListedClients = 500;
