import { longest } from './spec/prepared/groups.ts';

const placeOf = (spec) => (longest.includes(spec) ? longest.indexOf(spec) : longest.length);

export default {
  extensions: ['ts'],
  files: ['{spec,bench}/**/*.spec.ts'],
  workerThreads: false,
  timeout: '5m',
  sortTestFiles: (one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1),
};
