// Flows: rules between what they read and what they write, as a graph and as a list, and the files that they are in.

import { createMemo, createResource, createSignal, lazy, Match, Show, Suspense, Switch } from 'solid-js';
import type { RuleStatus } from '../../model/rule-status.ts';
import { Files } from '../flows/files.tsx';
import { buildGraph } from '../flows/graph.ts';
import { useInstallation } from '../flows/installation.ts';
import type { Drawing } from '../flows/layout.ts';
import { groupRules, groupsOf, keyOf, maxBoxes, openGroups, type RuleGroup } from '../flows/rule-groups.ts';
import { RuleList } from '../flows/rule-list.tsx';
import { RulePanel } from '../flows/rule-panel.tsx';
import { route, setParams } from '../route.ts';
import { Fault, Search, searched } from '../view-bar.tsx';

const Canvas = lazy(() => import('../flows/canvas.tsx'));
const narrow = matchMedia('(max-width: 700px)');

export default function Flows() {
  const installation = useInstallation();
  const [chosen, setChosen] = createSignal<ReadonlyMap<string, boolean>>(new Map());
  const isList = () => (route().params.as ?? (narrow.matches ? 'list' : 'graph')) === 'list';
  const matching = createMemo(() => installation.rules().filter((rule) => isMatch(rule, searched().toLowerCase())));
  const groups = createMemo(() => groupRules(matching()));
  const selected = createMemo(() => {
    const { key, rule, file } = route().params;
    if (key !== undefined && installation.ruleOf(key)) return installation.ruleOf(key);
    return installation.rules().find((one) => one.name === rule && (file === undefined || one.file === file));
  });
  const selectedRule = () => {
    const rule = selected();
    return rule && keyOf(rule);
  };
  /** The groups around the chosen rule are open, unless somebody closed them. */
  const open = createMemo(() => {
    const rule = selected();
    const around = rule ? groupsOf(rule) : [];
    return openGroups(groups(), new Map([...around.map((id) => [id, true] as const), ...chosen()]), around);
  });
  const graph = createMemo(() => buildGraph(groups(), open()), undefined, {
    equals: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  });
  const [drawing] = createResource(
    () => (isList() ? undefined : graph()),
    async (shown): Promise<Drawing | undefined> => (await import('../flows/layout.ts')).layOut(shown),
    { initialValue: undefined }, // so that the view stays while the page waits
  );
  const groupById = createMemo(() => new Map(flat(groups()).map((group) => [group.id, group])));
  const toggle = (id: string, isOpen: boolean) => setChosen((former) => new Map(former).set(id, isOpen));
  const select = (key: string | undefined) => {
    const rule = key === undefined ? undefined : installation.ruleOf(key);
    setParams({ rule: rule?.name, file: rule?.file, key });
  };
  const closed = () => groupById().size - open().size;

  return (
    <>
      <div class="bar">
        <h1>Flows</h1>
        <Search label="Search rules" placeholder="Search by rule, address, folder, file" />
        <span class="count">
          {matching().length} {matching().length === 1 ? 'rule' : 'rules'}
        </span>
        <button type="button" aria-pressed={!isList()} onClick={() => setParams({ as: 'graph' })}>
          Graph
        </button>
        <button type="button" aria-pressed={isList()} onClick={() => setParams({ as: 'list' })}>
          List
        </button>
        <button type="button" onClick={() => setChosen(new Map(flat(groups()).map(({ id }) => [id, closed() > 0])))}>
          {closed() > 0 ? 'Open all' : 'Close all'}
        </button>
      </div>
      <Fault text={installation.error()} />
      <Show when={installation.report()}>{(report) => <Files report={report()} />}</Show>
      <div class="flows">
        <Switch>
          <Match when={installation.isLoaded() && matching().length === 0}>
            <p class="note">{searched() ? 'No rule matches.' : 'There are no rules.'}</p>
          </Match>
          <Match when={isList()}>
            <div class="scroll">
              <RuleList
                {...{ installation, selectedRule, selectRule: select, toggleGroup: toggle }}
                groupOf={(id) => groupById().get(id)}
                groups={groups().map(({ id }) => id)}
                open={open()}
              />
            </div>
          </Match>
          <Match when={drawing.latest}>
            {(drawn) => (
              <Suspense>
                <Canvas
                  drawing={drawn()}
                  context={{
                    installation,
                    selectedRule,
                    groupOf: (id) => groupById().get(id),
                    selectRule: select,
                    openGroup: (id) => toggle(id, true),
                  }}
                />
              </Suspense>
            )}
          </Match>
        </Switch>
        <Show when={selected()}>
          {(rule) => <RulePanel rule={rule()} installation={installation} close={() => select(undefined)} />}
        </Show>
      </div>
      <Show when={!isList() && closed() > 0}>
        <p class="note foot">
          {closed() === 1 ? '1 folder is closed; press it' : `${closed()} folders are closed; press one`} to open it.{' '}
          {maxBoxes} boxes are drawn at most: search to see fewer.
        </p>
      </Show>
    </>
  );
}

function isMatch({ name, file, folder, from, to }: RuleStatus, wanted: string): boolean {
  return wanted === '' || [name, file, ...folder, ...from, ...to].some((text) => text.toLowerCase().includes(wanted));
}

function flat(groups: readonly RuleGroup[]): RuleGroup[] {
  return groups.flatMap((group) => [group, ...flat(group.groups)]);
}
