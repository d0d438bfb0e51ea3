// `patchbay schema`: the JSON Schema for flow files or dashboards.
import { type Cli, command } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'schema', 'print the JSON Schema of flow files for use in editors')
    .option('--dashboard', 'print the JSON Schema of dashboards instead')
    .option('--device', 'print the JSON Schema of device descriptions instead')
    .action((options: SchemaOptions) => cli.finish(schema(options, cli.console)));
}

interface SchemaOptions {
  readonly dashboard?: boolean;
  readonly device?: boolean;
}

export async function schema({ dashboard, device }: SchemaOptions, console: Console): Promise<number> {
  const wanted = await (dashboard ? schemaOfDashboards() : device ? schemaOfDescriptions() : schemaOfFlowFiles());
  console.print(JSON.stringify(wanted, undefined, 2));
  return 0;
}

async function schemaOfDashboards(): Promise<object> {
  const { dashboardJsonSchema } = await import('../dashboard/parse-dashboard.ts');
  return dashboardJsonSchema();
}

async function schemaOfDescriptions(): Promise<object> {
  const { descriptionJsonSchema } = await import('../connections/device/description.ts');
  return descriptionJsonSchema();
}

async function schemaOfFlowFiles(): Promise<object> {
  const { loadConnectionTypes } = await import('../connections/connection-types.ts');
  const { flowFileJsonSchema } = await import('../flow/check/schema.ts');
  return flowFileJsonSchema(await loadConnectionTypes());
}
