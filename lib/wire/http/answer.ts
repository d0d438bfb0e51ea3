// All that pages answer with in JSON, but for dashboards, whose format is lib/dashboard/format.ts.

import type { RuleStatus } from '../../model/reports/rule-status.ts';
import type { ClientList } from './clients.ts';
import type { ConnectionList, ConnectionStatus } from './connections.ts';
import type { DashboardList } from './dashboards.ts';
import type { Explanation } from './explanation.ts';
import type { LoadReport } from './flow-files.ts';
import type { Health, Probe } from './health.ts';
import type { Domain } from './hubs.ts';
import type { LogPage } from './log.ts';
import type { OpenApiDocument } from './open-api.ts';
import type { RuleList } from './rules.ts';
import type { ReloadAnswer, ShadowReport } from './shadow.ts';
import type { Snapshot, SnapshotList } from './snapshots.ts';
import type { StoreStatus } from './store.ts';
import type { RuleTraces } from './trace.ts';
import type { Me, SignedIn, UserActed, UserList } from './users.ts';

export type Answer =
  | ClientList
  | ConnectionList
  | ConnectionStatus
  | DashboardList
  | Domain
  | Explanation
  | Health
  | LoadReport
  | LogPage
  | OpenApiDocument
  | Probe
  | ReloadAnswer
  | RuleList
  | RuleStatus
  | RuleTraces
  | ShadowReport
  | Snapshot
  | SnapshotList
  | StoreStatus
  | Me
  | SignedIn
  | UserActed
  | UserList;
