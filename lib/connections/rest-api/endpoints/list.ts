// All endpoints, by file. To add one, write it in a file in this folder and add a line here.

export { endpoints as audit } from './audit.ts';
export { endpoints as backup } from './backup.ts';
export { endpoints as browser } from './browser.ts';
export { endpoints as clients } from './clients.ts';
export { endpoints as connections } from './connections.ts';
export { endpoints as dashboards } from './dashboards.ts';
export { endpoints as editing } from './editing.ts';
export { endpoints as evaluation } from './evaluation.ts';
export { endpoints as events } from './events.ts';
export { endpoints as explain } from './explain.ts';
export { endpoints as flowFiles } from './flow-files.ts';
export { endpoints as health } from './health.ts';
export { endpoints as history } from './history.ts';
export { endpoints as hubs } from './hubs.ts';
export { endpoints as log } from './log.ts';
export { endpoints as metrics } from './metrics.ts';
export { endpoints as parameter } from './one-parameter.ts';
export { endpoints as openapi } from './openapi.ts';
export { endpoints as parameters } from './parameters.ts';
export { endpoints as record } from './record.ts';
export { endpoints as rules } from './rules.ts';
export { endpoints as signIn } from './sign-in.ts';
export { endpoints as snapshots } from './snapshots.ts';
export { endpoints as store } from './store-status.ts';
export { endpoints as update } from './update.ts';
export { endpoints as users } from './users.ts';
