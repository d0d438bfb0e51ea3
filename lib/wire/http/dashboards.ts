// The list of dashboards. A dashboard itself is told as lib/dashboard/format.ts has it.

/** `GET /hub/dashboards` answers with `{"dashboards":["studio"]}`, in alphabetical order. */
export interface DashboardList {
  readonly dashboards: readonly string[];
}
