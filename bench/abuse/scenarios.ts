// The abuses by name, one file each.

import type { Scenario } from './scenario.ts';
import { requestFlood } from './scenarios/request-flood.ts';
import { pingFlood, plainFlood, v1PingFlood } from './scenarios/socket-flood.ts';

export const scenarios: Readonly<Record<string, Scenario>> = {
  'plain-flood': plainFlood,
  'v1-ping-flood': v1PingFlood,
  'ping-flood': pingFlood,
  'request-flood': requestFlood,
};
