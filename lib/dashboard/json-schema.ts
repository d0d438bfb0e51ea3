// The JSON Schema of dashboards, with which editors complete and check them: widgets, and what templates add.

import { z } from 'zod';
import { allowVariables } from '../template/allow-variables.ts';
import { eachSchema } from '../template/each.ts';
import { dashboardSchema, widgetSchemas } from './format.ts';

const each = { each: eachSchema.optional() };

export function dashboardJsonSchema(): object {
  const { group, ...single } = widgetSchemas;
  const singles = Object.values(single).map((schema) => (schema as z.ZodObject).extend(each));
  const within = listOf(singles);
  const widgets = listOf([...singles, group.extend({ ...each, widgets: within })]);
  const schema = dashboardSchema.extend({ widgets });
  return allowVariables(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

/** A list of widgets and of repeated lists of widgets. */
function listOf(schemas: readonly z.ZodObject[]): z.ZodType {
  const [first, ...others] = schemas;
  const widget = z.discriminatedUnion('type', [first!, ...others]);
  const item: z.ZodType = z.lazy(() => z.union([widget, z.strictObject({ each: eachSchema, widgets: z.array(item) })]));
  return z.array(item);
}
