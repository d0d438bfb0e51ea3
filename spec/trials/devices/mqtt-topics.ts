// The topics of the broker load: those of the bridge, and those of the relay beside it. Both prefixes have the same length.

export const bridgePrefix = 'hub';
export const besidePrefix = 'far';
