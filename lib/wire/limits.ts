// The limits for WebSocket clients, requests and responses that are needed on more than one side. The table of all limits, and of what
// happens when a limit is exceeded, is in lib/connections/rest-api/limits/client-limits.ts.

/** The maximum size of a message in either protocol, in bytes. */
export const maxMessageBytes = 65_536;

/** The maximum number of items in a list sent by a plain client; more valid items would not fit into a message. */
export const maxListItems = 4096;

/** The maximum number of subscriptions per socket, unless the hub has another setting. `hello` reports the number. */
export const maxSubscriptions = 32;

/**
 * The maximum number of patterns per subscription, `include` and `exclude` together, unless the hub has another setting; also the highest
 * possible setting.
 */
export const maxPatterns = 2048;
export const mostPatterns = 16_384;

/** The maximum number of regular expressions among these patterns. */
export const maxRegexes = 16;

/** The maximum length of a pattern, in characters. */
export const maxPatternLength = 1024;

/** The lowest and highest rates for a subscription, in updates per second. 0 means one update per change. */
export const leastRate = 0.1;
export const maxRate = 1000;

/** The maximum size of a request body, in bytes. */
export const maxBodyBytes = 65_536;

/** The number of points in a history: the default for a query, and the maximum. */
export const usualPoints = 1000;
export const maxPoints = 10_000;

/** The maximum number of points in all histories of a list together. */
export const maxListPoints = 200_000;

/** The number of events for a parameter, or of entries in the audit: the default for a query, and the maximum. */
export const usualEntries = 100;
export const maxEntries = 1000;

/** The maximum number of parameters in a list, which is more than a hub has. */
export const maxParameters = 1_000_000;

/** The maximum number of WebSocket clients in the list of clients. */
export const maxListedClients = 500;

/** The maximum number of alarms in a response. */
export const maxListedAlarms = 1000;
