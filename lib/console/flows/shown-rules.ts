// What the view of flows shows: the rules that the search finds, the groups that they are in and which of these are open, and the rule
// that is chosen.

import { type Accessor, createMemo, createSignal } from 'solid-js';
import type { RuleStatus } from '../../model/reports/rule-status.ts';
import { route, setParams } from '../page/route.ts';
import { searched } from '../parts/view-bar.tsx';
import { groupRules, groupsOf, keyOf, openGroups, type RuleGroup } from './rule-groups.ts';
import type { Installation } from './shown-installation.ts';

export interface ShownRules {
  /** The rules that the search finds. */
  readonly matching: Accessor<readonly RuleStatus[]>;
  /** The files that they are in, with their folders. */
  readonly groups: Accessor<readonly RuleGroup[]>;
  /** The ids of the groups that are open, and how many are closed. */
  readonly open: Accessor<ReadonlySet<string>>;
  readonly closedCount: Accessor<number>;
  readonly selected: Accessor<RuleStatus | undefined>;
  readonly selectedKey: Accessor<string | undefined>;
  groupOf(id: string): RuleGroup | undefined;
  toggle(id: string, isOpen: boolean): void;
  toggleAll(isOpen: boolean): void;
  /** Chooses the rule of a key; undefined: none. */
  select(key: string | undefined): void;
}

/** Follows the installation and the address of the page, for the scope that calls it. `mostBoxes` are there at most. */
export function useShownRules(installation: Installation, mostBoxes: Accessor<number>): ShownRules {
  const [chosen, setChosen] = createSignal<ReadonlyMap<string, boolean>>(new Map());
  const matching = createMemo(() => installation.rules().filter((rule) => isMatch(rule, searched().toLowerCase())));
  const groups = createMemo(() => groupRules(matching()));
  const groupById = createMemo(() => new Map(flat(groups()).map((group) => [group.id, group])));
  const selected = createMemo(() => {
    const { key, rule, file } = route().params;
    if (key !== undefined && installation.ruleOf(key)) return installation.ruleOf(key);
    return installation.rules().find((one) => one.name === rule && (file === undefined || one.file === file));
  });
  /** The groups around the chosen rule are open, unless somebody closed them. */
  const open = createMemo(() => {
    const rule = selected();
    const around = rule ? groupsOf(rule) : [];
    const opened = new Map([...around.map((id) => [id, true] as const), ...chosen()]);
    return openGroups(groups(), opened, around, mostBoxes());
  });
  return {
    matching,
    groups,
    open,
    closedCount: () => groupById().size - open().size,
    selected,
    selectedKey() {
      const rule = selected();
      return rule && keyOf(rule);
    },
    groupOf: (id) => groupById().get(id),
    toggle: (id, isOpen) => setChosen((former) => new Map(former).set(id, isOpen)),
    toggleAll: (isOpen) => setChosen(new Map(flat(groups()).map(({ id }) => [id, isOpen]))),
    select(key) {
      const rule = key === undefined ? undefined : installation.ruleOf(key);
      setParams({ rule: rule?.name, file: rule?.file, key });
    },
  };
}

function isMatch({ name, file, folder, from, to }: RuleStatus, wanted: string): boolean {
  return wanted === '' || [name, file, ...folder, ...from, ...to].some((text) => text.toLowerCase().includes(wanted));
}

function flat(groups: readonly RuleGroup[]): RuleGroup[] {
  return groups.flatMap((group) => [group, ...flat(group.groups)]);
}
