// The limits of WebSocket clients, requests and answers that are needed on more than one side. The table of all limits, with the
// consequences of exceeding each, is lib/connections/rest-api/limits/client-limits.ts.

/** Bytes of one message, of either protocol. */
export const maxMessageBytes = 65_536;

/** Items of a list sent by a plain client; more valid items would not fit into a message. */
export const maxListItems = 4096;

/** Subscriptions of one socket, unless the hub has another setting; `hello` reports the number. */
export const maxSubscriptions = 32;

/** Patterns of one subscription, `include` and `exclude` together, unless the hub has another setting; and the highest such setting. */
export const maxPatterns = 2048;
export const mostPatterns = 16_384;

/** The maximum number of regular expressions among them. */
export const maxRegexes = 16;

/** Characters of one pattern. */
export const maxPatternLength = 1024;

/** The lowest and highest rates of a subscription, in updates per second. 0 means one update per change. */
export const leastRate = 0.1;
export const maxRate = 1000;

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

/** Parameters in a list; more than a hub has. */
export const maxParameters = 1_000_000;

/** WebSocket clients in their list. */
export const maxListedClients = 500;

/** Alarms in an answer. */
export const maxListedAlarms = 1000;
