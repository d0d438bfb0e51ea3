// Groups rules by files and folders, and opens as many groups as fit on the screen.

import type { RuleStatus } from '../../model/reports/rule-status.ts';

/** The number of boxes (rules and closed groups) up to which groups are open by default. */
const comfortableBoxes = 60;
/** The maximum number of boxes that are drawn. */
export const maxBoxes = 160;

export interface RuleGroup {
  /** Identifies the group by its file and its folders, outermost first. */
  readonly id: string;
  readonly title: string;
  readonly rules: RuleStatus[];
  readonly groups: RuleGroup[];
}

/** Returns a key that identifies a rule within an installation. A rule in shadow may have the same name as a live rule. */
export function keyOf({ file, folder, name, shadow }: RuleStatus): string {
  return JSON.stringify([file, ...folder, name, ...(shadow ? [shadow] : [])]);
}

/** Returns the groups of the flow files, each with the groups of its folders, in the order of the rules. */
export function groupRules(rules: readonly RuleStatus[]): RuleGroup[] {
  const roots: RuleGroup[] = [];
  for (const rule of rules) {
    let level = roots;
    let group: RuleGroup | undefined;
    for (const [depth, title] of [rule.file, ...rule.folder].entries()) {
      const id = JSON.stringify([rule.file, ...rule.folder.slice(0, depth)]);
      group = level.find((one) => one.id === id);
      if (!group) {
        group = { id, title, rules: [], groups: [] };
        level.push(group);
      }
      level = group.groups;
    }
    group!.rules.push(rule);
  }
  return roots;
}

/** Returns all rules in a group, including the rules in the groups within it. */
export function rulesIn(group: RuleGroup): RuleStatus[] {
  return [...group.rules, ...group.groups.flatMap(rulesIn)];
}

/** Returns the ids of the groups that contain a rule, outermost first. */
export function groupsOf({ file, folder }: RuleStatus): string[] {
  return [file, ...folder].map((_, depth) => JSON.stringify([file, ...folder.slice(0, depth)]));
}

/**
 * Returns the ids of the open groups, level by level from the outermost. `chosen` contains the user's choices. By default, the groups on a
 * level are open if opening all of them results in at most `comfortableBoxes` boxes. There are never more than `most` boxes: groups in
 * `first` are opened before other groups.
 */
export function openGroups(
  roots: readonly RuleGroup[],
  chosen: ReadonlyMap<string, boolean>,
  first: readonly string[] = [],
  most = maxBoxes,
): ReadonlySet<string> {
  const open = new Set<string>();
  let boxes = roots.length;
  for (let level = [...roots]; level.length > 0; ) {
    const all = level.reduce((sum, group) => sum + addedBy(group), boxes);
    const isComfortable = all <= (boxes === 1 ? maxBoxes : comfortableBoxes); // a view with a single box is useless
    const next: RuleGroup[] = [];
    const isFirst = ({ id }: RuleGroup) => (first.includes(id) ? 0 : 1);
    for (const group of level.sort((one, other) => isFirst(one) - isFirst(other))) {
      if (!(chosen.get(group.id) ?? isComfortable) || boxes + addedBy(group) > most) continue;
      boxes += addedBy(group);
      open.add(group.id);
      next.push(...group.groups);
    }
    level = next;
  }
  return open;
}

/** Returns the number of boxes that are added when a group is opened. */
function addedBy({ rules, groups }: RuleGroup): number {
  return rules.length + groups.length - 1;
}
