// `patchbay schema`: the JSON Schema of flow files or dashboards.
import { type Cli, command } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'schema', 'print the JSON Schema of flow files, for editors')
    .option('--dashboard', 'print the JSON Schema of dashboards instead')
    .action(({ dashboard = false }: { dashboard?: boolean }) => cli.finish(schema(dashboard, cli.console)));
}

export async function schema(isOfDashboards: boolean, console: Console): Promise<number> {
  const wanted = await (isOfDashboards ? schemaOfDashboards() : schemaOfFlowFiles());
  console.print(JSON.stringify(wanted, undefined, 2));
  return 0;
}

async function schemaOfDashboards(): Promise<object> {
  const { dashboardJsonSchema } = await import('../dashboard/json-schema.ts');
  return dashboardJsonSchema();
}

async function schemaOfFlowFiles(): Promise<object> {
  const { connectionTypes } = await import('../connections/connection-types.ts');
  const { flowFileJsonSchema } = await import('../flow/check/schema.ts');
  return flowFileJsonSchema(connectionTypes);
}
