// `patchbay-hub/client`, and `/hub/client.js` on every hub: the library with which dashboards and programs follow and set parameters.

export type { About } from '../model/parameter.ts';
export type { Value, ValueType } from '../model/value.ts';
export type { Delivery } from '../wire/v1/client-messages.ts';
export type { Hub, HubSettings, Loss } from './client-hub.ts';
export { type ConnectOptions, connect } from './client-hub.ts';
export type { HubState, LinkTimes } from './link/link.ts';
export type { SocketClass, SocketLike } from './link/platform.ts';
export type { Parameter } from './param.ts';
export type { Change, ParameterView } from './replica/replica-parameter.ts';
export type { AddressPattern } from './replica/replica-pattern.ts';
export type { Observer, Stream, Unsubscribable } from './stream.ts';
export type { Batch } from './subscriptions/live-query.ts';
export type { Selection, SelectionRequest } from './subscriptions/selections.ts';
export { type Entries, WriteError } from './writes.ts';
