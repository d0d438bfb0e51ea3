// The schemas of the OpenAPI document: the shapes of the wire that have a name, as JSON Schema 2020-12.

import { z } from 'zod';
import type { Dashboard } from '../../../../dashboard/format.ts';
import { named, type namedShapes, value } from '../../../../wire/http/shape.ts';
import '../../../../wire/http/operation.ts';
import '../../../../wire/http/parameters.ts';
import '../../../../wire/http/past.ts';
import '../../../../wire/http/problem.ts';
import '../../../../wire/http/users.ts';

named('Value', value);
named('Dashboard', z.custom<Dashboard>().meta({ type: 'object' }));

/** The schemas, by name. */
export function schemasOf(shapes: typeof namedShapes): Record<string, object> {
  const { schemas } = z.toJSONSchema(shapes, {
    uri: (id) => `#/components/schemas/${id}`,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // Bounds of all integers of JavaScript say nothing.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return Object.fromEntries(Object.entries(schemas).map(([id, { $id, $schema, ...schema }]) => [id, schema]));
}
