// The exports for programs that embed a hub: the start of a hub from flow files, the connection types, tests, and all exports for flow
// files.

export * from './authoring.ts';
export { loadConnectionTypes } from './connections/connection-types.ts';
export { Hub, type HubLog, type HubOptions, loadFlows, type Reload, startHub } from './hub/index.ts';
export { type FlowTestOptions, type FlowTestResult, runFlowTests } from './testing/run-tests.ts';
export { type FlowUnderTest, type TestFlowOptions, testFlow } from './testing/test-flow.ts';
