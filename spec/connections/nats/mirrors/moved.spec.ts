// A connection moves from one hub to another: a third one shows it where it is, whichever of the two it hears of first.

import test, { type ExecutionContext } from 'ava';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

const desk = { kind: 'connection', name: 'desk' } as const;
const lamp = { id: 'lamp', type: 'I', access: 'read-write' } as const;

async function startThree() {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  const start = (name: string) => new JoinedHub(name, time, network.transportOf(name), 1, { connection: 'desk' });
  const [west, east, edge] = [start('west'), start('east'), start('edge')];
  west.graph.declare(desk, [{ ...lamp, defaultValue: 1 }]);
  await time.run(2000);
  const waitFor = (ms: number) => time.run(time.now() + ms);
  /** East comes to have what it does not show of west. */
  const move = () => {
    east.graph.declare(desk, [{ ...lamp, defaultValue: 2 }]);
  };
  return { west, east, edge, waitFor, move };
}

const shownOn = ({ graph }: JoinedHub) => {
  const shown = graph.find('desk/lamp');
  return `${shown?.value} of ${shown?.remote?.hub}, ${shown?.remote?.staleSince === undefined ? 'fresh' : 'stale'}`;
};

function stop(...hubs: JoinedHub[]): void {
  for (const hub of hubs) hub.stop();
}

async function expectEast(
  t: ExecutionContext,
  edge: JoinedHub,
  east: JoinedHub,
  waitFor: (ms: number) => Promise<void>,
) {
  t.is(shownOn(edge), '2 of east, fresh');
  east.graph.write('desk/lamp', 7, desk);
  await waitFor(100);
  t.is(shownOn(edge), '7 of east, fresh');
}

test('it is declared elsewhere after its hub has died', async (t) => {
  const { west, east, edge, waitFor, move } = await startThree();
  t.is(shownOn(edge), '1 of west, fresh');
  stop(west);
  await waitFor(4000);
  t.is(shownOn(edge), '1 of west, stale');
  move();
  await waitFor(1000);
  await expectEast(t, edge, east, waitFor);
  stop(east, edge);
});

test('it is declared elsewhere before its hub is known to be gone, or to have given it up', async (t) => {
  for (const isDead of [true, false]) {
    const { west, east, edge, waitFor, move } = await startThree();
    move();
    await waitFor(100);
    t.is(shownOn(edge), '1 of west, fresh', 'who is there keeps it');
    if (isDead) stop(west);
    else west.graph.remove([west.graph.find('desk/lamp')!]);
    await waitFor(5000);
    await expectEast(t, edge, east, waitFor);
    stop(east, edge, ...(isDead ? [] : [west]));
  }
});
