// The exports for TypeScript flow files: `defineFlow` and the types of the model. This file does not load the hub, because each saved flow
// is first tried in a thread that loads only this file.

import type { ConnectionSettings } from './connections/connection-types.ts';
import type { FlowDefinition as AnyFlowDefinition } from './flow/define-flow.ts';

export {
  type ConnectionContext,
  type ConnectionEvent,
  defineConnectionType,
  defineGatewayType,
} from './connections/connection.ts';
export type { HubPort } from './connections/hub-port.ts';
export type { FlowTest, FlowTestStep } from './flow/check/tests/test-schema.ts';
export type { DataRule, FlowRule, Installation, On, RuleFolder } from './flow/define-flow.ts';
export { version } from './hub/version.ts';
export { type ErrorCode, errorCatalogue, HubError } from './model/error.ts';
export type { Access, Change, Origin, Parameter, ParameterDeclaration } from './model/parameter.ts';
export type { ConnectionState, ConnectionStatus } from './model/reports/connection-status.ts';
export type { RuleRun, RuleRuns } from './model/reports/rule-status.ts';
export { convert, type Value, type ValueType } from './model/value.ts';
export type { ConnectionSettings };

/** The definition of a TypeScript flow file whose connections have the hub's built-in types. */
export type FlowDefinition = AnyFlowDefinition<ConnectionSettings>;

/** Defines the content of a TypeScript flow file. Use the result as the file's default export. */
export function defineFlow(definition: FlowDefinition): FlowDefinition {
  return definition;
}
