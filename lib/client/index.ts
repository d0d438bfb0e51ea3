// `patchbay-hub/client`, and `/hub/client.js` of every hub: what dashboards and programs import to follow and set parameters.

export type { Value, ValueType } from '../model/value.ts';
export type { Delivery } from '../wire/v1/client-messages.ts';
export { type ConnectOptions, connect } from './connect.ts';
export type { Hub, HubSettings, Loss } from './hub.ts';
export type { HubState, LinkTimes } from './link.ts';
export type { Batch } from './live-query.ts';
export type { Parameter } from './param.ts';
export type { AddressPattern } from './pattern.ts';
export type { SocketClass, SocketLike } from './platform.ts';
export type { Change, ParameterView } from './replica-parameter.ts';
export type { Selection, SelectionRequest } from './selections.ts';
export type { Observer, Stream, Unsubscribable } from './stream.ts';
export { type Entries, WriteError } from './writes.ts';
