// Flows: the rules with their sources and destinations, as a graph and as a list, and the flow files.

import {
  type Accessor,
  createMemo,
  createResource,
  createSignal,
  For,
  lazy,
  Match,
  Show,
  Suspense,
  Switch,
} from 'solid-js';
import { counted } from '../../model/digits.ts';
import type { RuleStatus } from '../../model/reports/rule-status.ts';
import type { LoadReport } from '../../wire/http/operation.ts';
import { mayEdit } from '../hub/me.ts';
import { t } from '../language/language.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatDate } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { Fault, Search, searched } from '../parts/view-bar.tsx';
import { buildGraph } from './flow-graph.ts';
import type { Drawing } from './graph-layout.ts';
import { groupRules, groupsOf, keyOf, maxBoxes, openGroups, type RuleGroup } from './rule-groups.ts';
import { RuleList } from './rule-list.tsx';
import { RulePanel } from './rule-panel.tsx';
import { linkToNewRule, workText } from './rule-text.tsx';
import { type Installation, useInstallation } from './shown-installation.ts';

const Canvas = lazy(() => import('./canvas.tsx'));
const narrow = matchMedia('(max-width: 700px)');

export default function Flows() {
  const installation = useInstallation();
  const isList = () => (route().params.as ?? (narrow.matches ? 'list' : 'graph')) === 'list';
  const shown = useShownRules(installation, () => (isList() ? Number.POSITIVE_INFINITY : maxBoxes));
  const graph = createMemo(
    () => (isList() ? undefined : buildGraph(shown.groups(), shown.open(), installation.ways(), workText)),
    undefined,
    {
      equals: (one, other) => JSON.stringify(one) === JSON.stringify(other),
    },
  );
  const [drawing] = createResource(
    graph,
    async (drawn): Promise<Drawing | undefined> => (await import('./graph-layout.ts')).layOut(drawn),
    { initialValue: undefined }, // keeps the previous view while the layout is loading
  );
  const context = {
    installation,
    selectedRule: shown.selectedKey,
    selectRule: shown.select,
    groupOf: shown.groupOf,
  };

  return (
    <>
      <Bar shown={shown} isList={isList()} />
      <Fault text={installation.error()} />
      <Show when={installation.report()}>{(report) => <Files report={report()} />}</Show>
      <div class="flows">
        <Switch>
          <Match when={installation.isLoaded() && shown.matching().length === 0}>
            <p class="note">{searched() ? 'No rule matches.' : 'No rules.'}</p>
          </Match>
          <Match when={isList()}>
            <div class="scroll">
              <RuleList
                {...context}
                toggleGroup={shown.toggle}
                groups={shown.groups().map(({ id }) => id)}
                open={shown.open()}
              />
            </div>
          </Match>
          <Match when={drawing.latest}>
            {(drawn) => (
              <Suspense>
                <Canvas drawing={drawn()} context={{ ...context, openGroup: (id) => shown.toggle(id, true) }} />
              </Suspense>
            )}
          </Match>
        </Switch>
        <Show when={shown.selected()}>
          {(rule) => <RulePanel rule={rule()} installation={installation} close={() => shown.select(undefined)} />}
        </Show>
      </div>
      <Show when={!isList() && shown.closedCount() > 0}>
        <ClosedNote count={shown.closedCount()} />
      </Show>
    </>
  );
}

function Bar(props: { readonly shown: ShownRules; readonly isList: boolean }) {
  const { matching, closedCount, toggleAll } = props.shown;
  return (
    <div class="bar">
      <h1>{t('Flows')}</h1>
      <Search label="Search rules" placeholder="Search by rule, address, folder or file" />
      <span class="count">{counted(matching().length, 'rule')}</span>
      <button type="button" aria-pressed={!props.isList} onClick={() => setParams({ as: 'graph' })}>
        Graph
      </button>
      <button type="button" aria-pressed={props.isList} onClick={() => setParams({ as: 'list' })}>
        List
      </button>
      <button type="button" onClick={() => toggleAll(closedCount() > 0)}>
        {closedCount() > 0 ? 'Open all' : 'Close all'}
      </button>
      <Show when={mayEdit()}>
        <a class="button" href={linkToNewRule()}>
          + Rule
        </a>
        <a href={linkTo('recipes')}>Recipes</a>
        <a href={linkTo('revisions')}>Revisions</a>
      </Show>
    </div>
  );
}

function ClosedNote(props: { readonly count: number }) {
  return (
    <p class="note foot">
      {props.count === 1 ? '1 folder is closed; click it' : `${props.count} folders are closed; click one`} to open it.
      The graph shows at most {maxBoxes} boxes: search to narrow it down.
    </p>
  );
}

// The flow files, and the result of the last load.

export function Files(props: { readonly report: LoadReport }) {
  const mistakes = () => props.report.files.reduce((sum, { mistakes }) => sum + mistakes.length, 0);
  return (
    <details class="files" open={!props.report.loaded || mistakes() > 0}>
      <summary>
        {counted(props.report.files.length, 'file')},{' '}
        <Show
          when={mistakes() > 0}
          fallback={props.report.loaded ? 'no errors' : <span class="error">not loaded</span>}
        >
          <span class="error">{counted(mistakes(), 'error')}</span>
        </Show>
        , {formatDate(props.report.time)}
      </summary>
      <Show when={props.report.reason}>
        <p class="error">{props.report.reason}</p>
      </Show>
      <Show when={!props.report.loaded}>
        <p>The previous configuration remains active.</p>
      </Show>
      <ul>
        <GuardedFor each={props.report.files} as="li">
          {({ path, connections, rules, mistakes }) => (
            <li>
              <code>{path}</code>{' '}
              <span class="muted">
                {connections} connections, {rules} rules
              </span>
              <For each={mistakes}>{(mistake) => <pre class="error">{mistake}</pre>}</For>
            </li>
          )}
        </GuardedFor>
      </ul>
    </details>
  );
}

// The content of the view: the rules that match the search, their groups, which of the groups are open, and the selected rule.

export interface ShownRules {
  /** The rules that match the search text. */
  readonly matching: Accessor<readonly RuleStatus[]>;
  /** The groups of rules: the flow files with their folders. */
  readonly groups: Accessor<readonly RuleGroup[]>;
  /** The ids of the open groups. */
  readonly open: Accessor<ReadonlySet<string>>;
  /** The number of closed groups. */
  readonly closedCount: Accessor<number>;
  readonly selected: Accessor<RuleStatus | undefined>;
  readonly selectedKey: Accessor<string | undefined>;
  groupOf(id: string): RuleGroup | undefined;
  toggle(id: string, isOpen: boolean): void;
  toggleAll(isOpen: boolean): void;
  /** Selects the rule with a key, as returned by `keyOf`; undefined clears the selection. */
  select(key: string | undefined): void;
}

/** Follows the installation and the URL until the calling reactive scope is disposed. At most `mostBoxes` boxes are shown. */
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
  /** The ids of the open groups. The groups around the selected rule are open unless the user has closed them. */
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

function isMatch(rule: RuleStatus, wanted: string): boolean {
  const { name, file, folder, from, to } = rule;
  const texts = [name, file, ...folder, ...from, ...to, workText(rule)];
  return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted));
}

function flat(groups: readonly RuleGroup[]): RuleGroup[] {
  return groups.flatMap((group) => [group, ...flat(group.groups)]);
}
