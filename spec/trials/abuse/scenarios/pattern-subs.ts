// Subscriptions with patterns that nobody had before.

import { keepSending } from '../ask.ts';
import { manyParameters } from '../many-parameters.ts';
import type { Scenario } from '../scenario.ts';

const sockets = 50;
const refusedEvery = 100;
const globs = 1500;

export const patternSubs: Scenario = {
  about:
    '50 patchbay.v1 sockets subscribe to ever other patterns, regexes of large programs and 1,500 globs of many stars',
  limits: ['patternSteps'],
  parameters: manyParameters,
  attack: (port) =>
    keepSending(port, sockets, messageOf, (text) => text.includes('"end":') || text.includes('"error":')),
};

function messageOf(number: number): string {
  if (number % refusedEvery === 0) return JSON.stringify({ sub: 1, include: [{ regex: '(?i)(.*){1,200}~' }] });
  if (number % 2 === 0) return JSON.stringify({ sub: 1, include: [{ regex: `(?i)(.*){1,190}~${number}` }] });
  const include = Array.from({ length: globs }, (_, index) => `*e*${number + index}*s*a*e*o*a*u*~`);
  return JSON.stringify({ sub: 1, include });
}
