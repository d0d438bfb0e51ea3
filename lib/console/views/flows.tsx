// Flows: rules between what they read and what they write, as a graph and as a list, and the files that they are in.

import { createMemo, createResource, lazy, Match, Show, Suspense, Switch } from 'solid-js';
import { Files } from '../flows/files.tsx';
import { buildGraph } from '../flows/flow-graph.ts';
import type { Drawing } from '../flows/graph-layout.ts';
import { maxBoxes } from '../flows/rule-groups.ts';
import { RuleList } from '../flows/rule-list.tsx';
import { RulePanel } from '../flows/rule-panel.tsx';
import { useInstallation } from '../flows/shown-installation.ts';
import { type ShownRules, useShownRules } from '../flows/shown-rules.ts';
import { route, setParams } from '../page/route.ts';
import { Fault, Search, searched } from '../parts/view-bar.tsx';

const Canvas = lazy(() => import('../flows/canvas.tsx'));
const narrow = matchMedia('(max-width: 700px)');

export default function Flows() {
  const installation = useInstallation();
  const isList = () => (route().params.as ?? (narrow.matches ? 'list' : 'graph')) === 'list';
  const shown = useShownRules(installation, () => (isList() ? Number.POSITIVE_INFINITY : maxBoxes));
  const graph = createMemo(() => (isList() ? undefined : buildGraph(shown.groups(), shown.open())), undefined, {
    equals: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  });
  const [drawing] = createResource(
    graph,
    async (drawn): Promise<Drawing | undefined> => (await import('../flows/graph-layout.ts')).layOut(drawn),
    { initialValue: undefined }, // so that the view stays while the page waits
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
            <p class="note">{searched() ? 'No rule matches.' : 'There are no rules.'}</p>
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
      <h1>Flows</h1>
      <Search label="Search rules" placeholder="Search by rule, address, folder, file" />
      <span class="count">
        {matching().length} {matching().length === 1 ? 'rule' : 'rules'}
      </span>
      <button type="button" aria-pressed={!props.isList} onClick={() => setParams({ as: 'graph' })}>
        Graph
      </button>
      <button type="button" aria-pressed={props.isList} onClick={() => setParams({ as: 'list' })}>
        List
      </button>
      <button type="button" onClick={() => toggleAll(closedCount() > 0)}>
        {closedCount() > 0 ? 'Open all' : 'Close all'}
      </button>
    </div>
  );
}

function ClosedNote(props: { readonly count: number }) {
  return (
    <p class="note foot">
      {props.count === 1 ? '1 folder is closed; press it' : `${props.count} folders are closed; press one`} to open it.{' '}
      {maxBoxes} boxes are drawn at most: search to see fewer.
    </p>
  );
}
