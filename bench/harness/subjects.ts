// All subjects, in the order in which they run, and how those are run that are chosen.

import { inTemporaryFolder } from '../../spec/support/folder.ts';
import { deadDevices } from '../subjects/dead-devices.ts';
import { deviceFrames } from '../subjects/device-frames.ts';
import { edges } from '../subjects/edge-hubs.ts';
import { filterCost } from '../subjects/filter-cost.ts';
import { httpRead } from '../subjects/http-read.ts';
import { manyHubs } from '../subjects/hubs.ts';
import { idle } from '../subjects/idle.ts';
import { memory } from '../subjects/memory.ts';
import { past } from '../subjects/past.ts';
import { plainFanOut } from '../subjects/plain-fan-out.ts';
import { plainIngest } from '../subjects/plain-ingest.ts';
import { plainLatency } from '../subjects/plain-latency.ts';
import { recording } from '../subjects/recording.ts';
import { rightsCost } from '../subjects/rights.ts';
import { ruleGrowth } from '../subjects/rule-growth.ts';
import { start } from '../subjects/start.ts';
import { studio } from '../subjects/studio.ts';
import { v1Dashboards, v1Stalled } from '../subjects/v1-dashboards.ts';
import { v1FanOut } from '../subjects/v1-fan-out.ts';
import { v1Ingest } from '../subjects/v1-ingest.ts';
import { v1Resume } from '../subjects/v1-resume.ts';
import { virtualCore } from '../subjects/virtual-core.ts';
import { writeRule } from '../subjects/write-rule.ts';
import { type MeasuredCase, missedBy, type SubjectResult } from './report.ts';
import { runRounds } from './rounds.ts';
import type { Case, Subject } from './subject.ts';

export const subjects: readonly Subject[] = [
  httpRead,
  plainFanOut,
  plainIngest,
  plainLatency,
  v1FanOut,
  v1Dashboards,
  v1Stalled,
  v1Resume,
  v1Ingest,
  filterCost,
  rightsCost,
  manyHubs,
  edges,
  idle,
  writeRule,
  ruleGrowth,
  virtualCore,
  deviceFrames,
  deadDevices,
  memory,
  recording,
  studio,
  start,
  past,
];

/** The subjects of these names, all when there is none. Errors: for a name that is none. */
export function chooseSubjects(names: readonly string[]): readonly Subject[] {
  const known = subjects.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`expected subjects of ${known.join(', ')}, got "${unknown}"`);
  return names.length === 0 ? subjects : subjects.filter(({ name }) => names.includes(name));
}

/** Runs a subject's cases, or what `prepare` makes of them, as far as their names have `chosen`; `tell` hears of each measurement as it is there. */
export async function runSubject(
  subject: Subject,
  rounds: number,
  chosen: string,
  prepare: (folder: string) => Promise<readonly Case[]>,
  notify: (line: string) => void,
): Promise<SubjectResult> {
  return inTemporaryFolder('bench', async (folder) => {
    const cases: MeasuredCase[] = [];
    for (const item of (await prepare(folder)).filter(({ name }) => name.includes(chosen))) {
      const result = await runRounds(item, rounds, (line) => notify(`${subject.name} ${line}`));
      const mistakes = [...result.mistakes, ...(subject.mustReach ? missedBy(result, item.metrics) : [])];
      cases.push({ ...result, mistakes, metrics: item.metrics, notes: item.notes ?? [] });
    }
    return { name: subject.name, about: subject.about, cases };
  });
}

/** Whether any round of any contender was wrong. */
export function hasMistakes(results: readonly SubjectResult[]): boolean {
  return results.some(({ cases }) => cases.some(({ mistakes }) => mistakes.length > 0));
}
