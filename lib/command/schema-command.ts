// `patchbay schema`: the JSON Schema of flow files, or of dashboards.
import { connectionTypes } from '../connections/connection-types.ts';
import { dashboardJsonSchema } from '../dashboard/json-schema.ts';
import { flowFileJsonSchema } from '../flow/check/schema.ts';
import type { Console } from './console.ts';

export async function schema(isOfDashboards: boolean, console: Console): Promise<number> {
  const wanted = isOfDashboards ? dashboardJsonSchema() : flowFileJsonSchema(connectionTypes);
  console.print(JSON.stringify(wanted, undefined, 2));
  return 0;
}
