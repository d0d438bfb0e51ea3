// The endpoints for rules: their state, switching a rule on or off, and the most recent runs of a rule.

import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import type { RuleStatus, SwitchTerm } from '../../../model/reports/rule-status.ts';
import { readIsoTime } from '../../../model/time/iso-time.ts';
import { overrideList, ruleList, ruleStatus, ruleSwitch, ruleTraces, wayList } from '../../../wire/http/operation.ts';
import { text, texts } from '../../../wire/http/shape.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { Lines } from '../http/page.ts';
import { readQuery } from '../input/parse-input.ts';
import { action, page } from './endpoint.ts';

const ruleQuery = z.object({ state: texts.optional().describe('Only rules in one of these states') });

export const endpoints = [
  page({
    path: '/hub/rules',
    need: 'manage',
    id: 'listRules',
    tag: 'operation',
    summary: 'The state of each rule, from top to bottom',
    query: ruleQuery,
    answer: ruleList,
    read({ hub }, { query }) {
      const { state } = readQuery(ruleQuery, new URLSearchParams(query));
      return state === undefined ? hub.eachRule() : new Lines(rulesIn(hub, new Set(state)));
    },
  }),
  page({
    path: '/hub/ways',
    need: 'manage',
    id: 'listWays',
    tag: 'operation',
    summary: 'Dependencies within connections: parameters that depend on inputs, or on a write to another parameter',
    answer: wayList,
    read: ({ hub }) => ({ structure: hub.structure, ways: [...hub.ways()] }),
  }),
  action({
    path: '/hub/rules',
    need: 'manage',
    id: 'switchRule',
    tag: 'operation',
    summary:
      'Switches a rule on or off, until the next switch or until a reload changes its text; with `until`, the switch outlasts reloads',
    isTraced: true,
    body: ruleSwitch,
    answer: ruleStatus,
    answered: 'The new state of the rule',
    errors: {
      400: '`until` is not a time in the future',
      404: 'Rule not found',
      409: 'Several rules have this name; add the file',
    },
    act: ({ hub }, { rule, file, enabled, until, reason }, { by }) =>
      hub.switchRule(rule, file, enabled, by, termOf(until, reason)),
  }),
  page({
    path: '/hub/overrides',
    need: 'manage',
    id: 'listOverrides',
    tag: 'operation',
    summary: 'The overrides: rules and connections that an operator has switched contrary to their flow files',
    answer: overrideList,
    read: ({ hub }) => ({
      overrides: hub.overrides().map(({ since, until, ...override }) => ({
        ...override,
        since: toIsoTime(since),
        ...(until !== undefined && { until: toIsoTime(until) }),
      })),
    }),
  }),
  page({
    path: '/hub/trace',
    need: 'manage',
    id: 'trace',
    tag: 'causes',
    summary: 'The 50 most recent runs of the rules with a given name',
    query: z.object({ rule: text.describe('Name of the rule') }),
    answer: ruleTraces,
    errors: { 400: 'The name is missing, or given more than once', 404: 'Rule not found' },
    read: ({ hub }, { query }) =>
      hub.runsOf(onlyRule(query)).map(({ runs, ...trace }) => ({
        ...trace,
        runs: runs.map((run) => ({ ...run, time: toIsoTime(run.time) })),
      })),
  }),
];

/**
 * Returns the time until which a rule stays switched, and the reason for switching the rule; undefined if the request contains neither.
 * Errors: `bad-request`.
 */
export function termOf(until: string | null | undefined, reason = ''): SwitchTerm | undefined {
  if (until === undefined) {
    if (reason === '') return undefined;
    throw new HubError(
      'bad-request',
      'until: expected a time, or null for no end, because the request contains a reason',
    );
  }
  const time = until === null ? null : readIsoTime(until);
  if (time === undefined || (time !== null && time <= Date.now()))
    throw new HubError(
      'bad-request',
      `until: expected a time in the future such as 2026-11-29T22:00:00Z, or null, got ${describe(until)}`,
    );
  return { until: time, reason };
}

/** Returns the only value of `rule` in a query. Errors: `bad-request`. */
function onlyRule(query: string): string {
  const [rule, ...more] = new URLSearchParams(query).getAll('rule');
  if (rule !== undefined && more.length === 0) return rule;
  throw new HubError('bad-request', `query: expected rule=<name> once, got ${rule === undefined ? 'none' : 'several'}`);
}

/** The number of rules to examine between two checks of the clock. */
const stepRules = 100;

/** Yields the rules in the given states, and undefined whenever it is time to check the clock. */
function* rulesIn(hub: HubPort, states: ReadonlySet<string>): Generator<RuleStatus | undefined, void> {
  let looked = 0;
  for (const rule of hub.eachRule()) {
    if (states.has(rule.state)) yield rule;
    if (++looked % stepRules === 0) yield undefined;
  }
}
