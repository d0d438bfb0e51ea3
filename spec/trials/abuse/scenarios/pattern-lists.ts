// Lists of parameters with filters of the largest programs that are let through, and larger ones.

import { keepAsking } from '../ask.ts';
import { manyParameters } from '../many-parameters.ts';
import type { Scenario } from '../scenario.ts';

const connections = 50;
const refusedEvery = 100;

export const patternLists: Scenario = {
  about: '50 HTTP connections list 10,000 parameters with the worst filters that there are',
  limits: ['patternSteps'],
  parameters: manyParameters,
  attack: (port) =>
    keepAsking(port, connections, (number) => {
      const times = number % refusedEvery === 0 ? 200 : 190;
      return `/hub/parameters?filter=${encodeURIComponent(`(?i)(.*){1,${times}}~${number}`)}`;
    }),
};
