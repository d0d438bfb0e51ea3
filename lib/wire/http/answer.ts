// All that pages answer with in JSON, but for dashboards, whose format is lib/dashboard/format.ts.

import type { RuleStatus } from '../../model/reports/rule-status.ts';
import type { DashboardList } from './dashboards.ts';
import type { Explanation } from './explanation.ts';
import type { OpenApiDocument } from './open-api.ts';
import type { ClientList } from './operation/clients.ts';
import type { ConnectionList, ConnectionStatus } from './operation/connections.ts';
import type { LoadReport } from './operation/flow-files.ts';
import type { Health, Probe } from './operation/health.ts';
import type { Domain } from './operation/hubs.ts';
import type { LogPage } from './operation/log.ts';
import type { RuleList } from './operation/rules.ts';
import type { ReloadAnswer, ShadowReport } from './operation/shadow.ts';
import type { RuleTraces } from './operation/trace.ts';
import type { Me, SignedIn, UserActed, UserList } from './operation/users.ts';
import type { Snapshot, SnapshotList } from './past/snapshots.ts';
import type { StoreStatus } from './past/store.ts';

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
