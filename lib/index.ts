// What embedders import: a hub from flow files, the contract of connection types, and the words of the model.

export {
  type ConnectionContext,
  type ConnectionEvent,
  type ConnectionState,
  type ConnectionStatus,
  defineConnectionType,
  defineGatewayType,
  type HubPort,
} from './connections/connection.ts';
export { connectionTypes } from './connections/registry.ts';
export type { FlowTest, FlowTestStep } from './flow/check-tests.ts';
export {
  defineFlow,
  type FlowConnections,
  type FlowDefinition,
  type FlowRule,
  type Installation,
  type On,
} from './flow/define-flow.ts';
export { type Hub, type HubLog, type HubOptions, loadFlows, type Reload, startHub, version } from './hub.ts';
export { type ErrorCode, errorCatalogue, HubError } from './model/error.ts';
export type { Access, Change, Origin, Parameter, ParameterDeclaration } from './model/parameter.ts';
export type { RuleRun, RuleRuns } from './model/rule-run.ts';
export { convert, type Value, type ValueType } from './model/value.ts';
export { type FlowTestOptions, type FlowTestResult, runFlowTests } from './testing/run-tests.ts';
export { type FlowUnderTest, type TestFlowOptions, testFlow } from './testing/test-flow.ts';
