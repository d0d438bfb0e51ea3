// The files of specs that take longest, the first one most. They begin first: else one of them would run alone when all others are over.

import { resolve } from 'node:path';

const names = [
  'readme',
  'package',
  'flow/programs/misbehaving-flows',
  '../bench/spec/run',
  'readme-pages',
  'connections/rest-api/http/guard/foreign-pages',
  'connections/keyboard/hub',
  'command/run/start',
  'trials/fuzz/fuzz',
];

/** Their full paths. */
export const longest: readonly string[] = names.map((name) => resolve(import.meta.dirname, `${name}.spec.ts`));
