// A pattern with which a client selects addresses.

/**
 * A glob such as `desk/*`, which matches the whole address, or a regular expression such as `{regex: '^desk/'}`, which may match anywhere
 * in the address (RE2). In a glob, `*` stands for any characters within a segment, and `**` for any characters.
 */
export type Pattern = string | { readonly regex: string };
