import { join } from 'node:path';

/** These take longest, the first one most. They begin first: else one of them would run alone when all others are over. */
const longest = [
  'readme.spec.ts',
  'package.spec.ts',
  'flow/programs/misbehaving-flows.spec.ts',
  'flow/run/rules/misbehaving-rules.spec.ts',
  'bench/run.spec.ts',
  'readme-pages.spec.ts',
  'connections/rest-api/http/guard/foreign-pages.spec.ts',
  'connections/keyboard/hub.spec.ts',
  'command/run/start.spec.ts',
  'bench/fuzz.spec.ts',
].map((spec) => join(import.meta.dirname, 'spec', spec));

const placeOf = (spec) => (longest.includes(spec) ? longest.indexOf(spec) : longest.length);

export default {
  extensions: ['ts'],
  files: ['spec/**/*.spec.ts'],
  workerThreads: false,
  timeout: '5m',
  sortTestFiles: (one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1),
};
