// What the hub takes of a WebSocket client, as both sides have to know it. The table of all limits, with what becomes of whoever
// goes past one, is lib/connections/rest-api/limits/limits.ts.

/** Bytes of one message, of either protocol. */
export const maxMessageBytes = 65_536;

/** Items of a list that a plain client sends; a message has no room for more that make sense. */
export const maxListItems = 4096;

/** Subscriptions of one socket, unless the settings of the hub say otherwise; `hello` tells. */
export const maxSubscriptions = 32;

/** Patterns of one subscription, `include` and `exclude` together, unless the settings say otherwise; and the most that they may say. */
export const maxPatterns = 2048;
export const mostPatterns = 16_384;

/** How many of them may be regular expressions. */
export const maxRegexes = 16;

/** Characters of one pattern. */
export const maxPatternLength = 1024;

/** How often a second a subscription is sent something; 0 means as changes come. */
export const leastRate = 0.1;
export const maxRate = 1000;
