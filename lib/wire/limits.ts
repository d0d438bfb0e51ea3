// The limits for WebSocket clients, requests and responses that both the hub and its clients need. The table of all limits, and of what
// happens when a limit is exceeded, is in lib/connections/rest-api/limits/client-limits.ts.

/** The maximum size of a WebSocket message in either protocol, in bytes. */
export const maxMessageBytes = 65_536;

/** The maximum number of items in a list from a plain client. A message has no room for a larger number of valid items. */
export const maxListItems = 4096;

/** The default maximum number of subscriptions per socket. The greeting `hello` reports the number that applies. */
export const maxSubscriptions = 32;

/**
 * The default maximum number of patterns in a subscription, in `include` and `exclude` together, and the highest value to which this limit
 * can be set.
 */
export const maxPatterns = 2048;
export const mostPatterns = 16_384;

/** The maximum number of regular expressions among the patterns of a subscription. */
export const maxRegexes = 16;

/** The maximum length of a pattern, in characters. */
export const maxPatternLength = 1024;

/** The lowest and the highest rate for a subscription, in updates per second. 0 means one update per change. */
export const leastRate = 0.1;
export const maxRate = 1000;

/** The maximum size of an HTTP request body, in bytes. */
export const maxBodyBytes = 65_536;

/** The number of points in a history: the default in a query, and the maximum. */
export const usualPoints = 1000;
export const maxPoints = 10_000;

/** The maximum total number of points in all histories of one response. */
export const maxListPoints = 200_000;

/** The number of events or audit entries in a response: the default in a query, and the maximum. */
export const usualEntries = 100;
export const maxEntries = 1000;

/** The maximum number of parameters in the response to `GET /hub/parameters`, which is more than any hub has. */
export const maxParameters = 1_000_000;

/** The maximum number of WebSocket clients in the response to `GET /hub/clients`. */
export const maxListedClients = 500;

/** The maximum number of alarms in the response to `GET /hub/alarms`. */
export const maxListedAlarms = 1000;
