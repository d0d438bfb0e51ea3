// What a running store can be asked for: everything that it knows of earlier times. Gateways answer their clients with it.

/** Each part of a store adds what it can be asked for. All of it is read elsewhere than on the hub's thread. */
// biome-ignore lint/suspicious/noEmptyInterface: the parts of a store fill it
export interface Archive {}
