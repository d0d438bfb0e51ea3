// The graph of a running hub: a way through a timer, a virtual core, an alarm or a device is drawn without a gap.

import test, { type ExecutionContext } from 'ava';
import { buildGraph, type Graph } from '../../../lib/console/flows/flow-graph.ts';
import { groupRules, openGroups } from '../../../lib/console/flows/rule-groups.ts';
import { startTestHub } from '../../support/hub.ts';

const flow = {
  connections: {
    desk: {
      type: 'dummy',
      parameters: ['mic,B,false', 'level,F,0', 'title,S', 'lamp,B,false', 'late,B,false', 'horn,B,false'],
    },
    clock: { type: 'timer', timers: [2000] },
    core: {
      type: 'virtual-core',
      inputs: { late: 'clock/timer/1/trigger', level: 'desk/level' },
      outputs: { open: { type: 'B', expression: 'level > 0.5' }, unused: { type: 'B', expression: 'level > 1' } },
    },
    panel: { type: 'dummy', parameters: ['silent,B,false'] },
    alarms: { type: 'alarms', alarms: { silence: { when: 'panel/silent', delay: '1s' } } },
    player: { type: 'device', tcp: '127.0.0.1:9', protocol: 'mpd' },
    router: { type: 'device', tcp: '127.0.0.1:9', protocol: 'videohub', variables: { outputs: 2 }, simulate: true },
  },
  rules: [
    { name: 'start', from: 'desk/mic', when: 'value', map: '2000', to: 'clock/timer/1/start' },
    { name: 'over', from: 'clock/timer/1/trigger', map: 'true', to: 'desk/late' },
    { name: 'open', from: 'core/open', to: 'desk/lamp' },
    { name: 'silent', from: 'desk/mic', map: '!value', to: 'panel/silent' },
    { name: 'horn', from: 'alarms/silence', to: 'desk/horn' },
    { name: 'next', from: 'desk/mic', when: 'value', map: 'true', to: 'player/next' },
    { name: 'title', from: 'player/song/title', to: 'desk/title' },
    { name: 'route', from: 'desk/mic', map: 'value ? 2 : 1', to: 'router/out/0' },
    { name: 'routed', from: 'router/out/0', map: 'value == 2', to: 'desk/lamp' },
  ],
};

async function graphOf(t: ExecutionContext, rules = flow.rules): Promise<Graph> {
  const hub = await startTestHub(t, { ...flow, rules });
  const groups = groupRules([...hub.eachRule()]);
  return buildGraph(groups, openGroups(groups, new Map()), [...hub.ways()]);
}

/** Whether lines lead from one parameter to another. */
function leads({ edges }: Graph, from: string, to: string): boolean {
  const reached = new Set([`p ${from}`]);
  for (const id of reached) for (const edge of edges) if (edge.from === id) reached.add(edge.to);
  return reached.has(`p ${to}`);
}

const ways: readonly (readonly [from: string, to: string, through: string])[] = [
  ['desk/mic', 'desk/late', 'a timer'],
  ['desk/level', 'desk/lamp', 'a virtual core'],
  ['desk/mic', 'desk/horn', 'an alarm'],
  ['desk/mic', 'desk/title', 'a device that is told by a trigger'],
  ['desk/mic', 'desk/lamp', 'a device that confirms what was written'],
];

test('a way through a timer, a virtual core, an alarm or a device is whole', async (t) => {
  const graph = await graphOf(t);
  for (const [from, to, through] of ways) t.true(leads(graph, from, to), `from ${from} to ${to} through ${through}`);
  t.false(leads(graph, 'desk/level', 'desk/title'));
});

test('what a connection makes of nothing that is drawn has no box', async (t) => {
  const graph = await graphOf(
    t,
    flow.rules.filter(({ name }) => ['over', 'title'].includes(name)),
  );
  t.deepEqual(
    graph.nodes.map(({ id }) => id).filter((id) => id.startsWith('w ')),
    [],
  );
});
