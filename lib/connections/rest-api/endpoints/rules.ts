// How rules are doing, the switch of one, and its last runs.

import { z } from 'zod';
import { HubError } from '../../../model/error.ts';
import { ruleList, ruleStatus, ruleSwitch, ruleTraces } from '../../../wire/http/operation.ts';
import { text } from '../../../wire/http/shape.ts';
import { toIsoTime } from '../../../wire/time.ts';
import { action, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/rules',
    need: 'manage',
    id: 'listRules',
    tag: 'operation',
    summary: 'How each rule is doing, top to bottom',
    answer: ruleList,
    read: ({ hub }) => hub.eachRule(),
  }),
  action({
    path: '/hub/rules',
    need: 'manage',
    id: 'switchRule',
    tag: 'operation',
    summary: 'Switches a rule on or off, until it is switched again or its file is another',
    isTraced: true,
    body: ruleSwitch,
    answer: ruleStatus,
    answered: 'How it is doing now',
    errors: { 404: 'There is no such rule', 409: 'Several rules have the name' },
    act: ({ hub }, { rule, file, enabled }, { by }) => hub.switchRule(rule, file, enabled, by),
  }),
  page({
    path: '/hub/trace',
    need: 'manage',
    id: 'trace',
    tag: 'causes',
    summary: 'The last 50 runs of the rules of a name',
    query: z.object({ rule: text.describe('The name') }),
    answer: ruleTraces,
    errors: { 400: 'No name, or several', 404: 'There is no such rule' },
    read: ({ hub }, { query }) =>
      hub.runsOf(onlyRule(query)).map(({ runs, ...trace }) => ({
        ...trace,
        runs: runs.map((run) => ({ ...run, time: toIsoTime(run.time) })),
      })),
  }),
];

/** Errors: `bad-request`. */
function onlyRule(query: string): string {
  const [rule, ...more] = new URLSearchParams(query).getAll('rule');
  if (rule !== undefined && more.length === 0) return rule;
  throw new HubError('bad-request', `query: expected rule=<name> once, got ${rule === undefined ? 'none' : 'more'}`);
}
