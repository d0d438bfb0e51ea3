// How much the hub takes of a request, and tells in one answer, as far as more than one side has to know it. The table of all limits, with
// what becomes of whoever goes past one, is lib/connections/rest-api/limits/limits.ts.

/** Bytes of the body of a request. */
export const maxBodyBytes = 65_536;

/** Points of a history: where a query does not say how many, and the most that it may ask for. */
export const usualPoints = 1000;
export const maxPoints = 10_000;

/** Points of the histories of a list together. */
export const maxListPoints = 200_000;

/** Events of a parameter, or entries of the audit: where a query does not say how many, and the most that it may ask for. */
export const usualEntries = 100;
export const maxEntries = 1000;

/** Parameters of a list; more than a hub has. */
export const maxParameters = 1_000_000;

/** WebSocket clients in the list of them. */
export const maxListedClients = 500;
