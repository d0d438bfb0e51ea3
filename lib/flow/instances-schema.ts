// The shape of the `instances` setting in flow files.

import { z } from 'zod';
import { record } from '../model/record-schema.ts';

const variables = record(z.string(), z.unknown(), { error: "an object of variables, such as { host: '10.0.0.1' }" });

/** The schema for `instances`: a template, and the variables of each instance, keyed by instance name. */
export const instancesSchema = z.strictObject(
  {
    template: z
      .string({ error: "the path of a template, such as './_studio.json5'" })
      .describe('The template: a file whose name begins with _'),
    each: record(z.string(), variables, {
      error: "an object of instances, such as { s1: { host: '10.0.0.1' } }",
    }).describe('The variables of each instance, by instance name. ${instance} is that name'),
  },
  { error: "an object such as { template: './_studio.json5', each: { s1: { … } } }" },
);
