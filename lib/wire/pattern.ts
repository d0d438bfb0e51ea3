// The pattern with which a client selects addresses.

/**
 * `desk/*`, a glob that matches the whole address, or `{regex: '^desk/'}`, which may match anywhere in the address (RE2). In a glob, `*`
 * stands for any characters within a segment, and `**` for any characters.
 */
export type Pattern = string | { readonly regex: string };
