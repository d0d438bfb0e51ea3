// The tasks of an operator, each starting from the start view of the console.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import JSON5 from 'json5';
import { eventually } from '../../support/deadline.ts';
import { writer } from '../../support/hub.ts';
import type { Studio } from './studio.ts';

export interface Task {
  readonly about: string;
  /** Errors: what the page does not show, or the hub does not do. */
  run(studio: Studio): Promise<void>;
}

/** Opens a view by the navigation. */
async function view({ hand }: Studio, name: string): Promise<void> {
  await hand.click(hand.page.getByRole('navigation').getByRole('link', { name }));
  await hand.page.getByRole('heading', { level: 1, name }).waitFor();
}

/** Types an address into the field that has the focus, or to which `/` leads. */
async function search({ hand }: Studio, text: string): Promise<void> {
  await hand.key('/');
  await hand.type(text);
}

async function chooseAddress({ hand }: Studio, address: string): Promise<void> {
  await hand.key('/');
  await hand.type(address);
  await hand.key('Enter');
}

const row = ({ hand }: Studio, address: string) =>
  hand.page.locator(`[role=row][data-address="${address}"]:visible`).first();

async function openParameter(studio: Studio, address: string): Promise<void> {
  await view(studio, 'Parameters');
  await search(studio, address);
  await studio.hand.click(row(studio, address));
}

async function setLevel(studio: Studio, text: string, expected: number): Promise<void> {
  await openParameter(studio, 'desk/level');
  const field = studio.hand.page.getByLabel('Value of desk/level');
  await studio.hand.click(field);
  await studio.hand.key('ControlOrMeta+a');
  await studio.hand.type(text);
  await studio.hand.key('Enter');
  await eventually(() => studio.hub.find('desk/level')?.value === expected, `desk/level to be ${expected}`);
}

export const tasks: Readonly<Record<string, Task>> = {
  red: {
    about: 'why is the red light on?',
    async run(studio) {
      await view(studio, 'Why');
      await chooseAddress(studio, 'desk/red-light');
      await studio.hand.page.locator('.cause', { hasText: 'door light' }).first().waitFor();
      await studio.hand.page.locator('.cause', { hasText: 'desk/mic' }).first().waitFor();
    },
  },
  author: {
    about: 'who set the level?',
    async run(studio) {
      studio.hub.write('desk/level', -3, { kind: 'client', name: 'api olaf 10.0.0.7' });
      await openParameter(studio, 'desk/level');
      await studio.hand.page.getByRole('complementary').getByText('api olaf 10.0.0.7').waitFor();
    },
  },
  alarm: {
    about: 'silence the alarm, and acknowledge it',
    async run(studio) {
      const { hand, hub } = studio;
      await view(studio, 'Alarms');
      await hand.click(hand.page.getByLabel('sound'));
      hub.write('desk/silent', true, writer);
      await hand.press('Silence');
      await hand.page.getByRole('button', { name: 'Silence', exact: true }).waitFor({ state: 'detached' });
      await hand.press('Acknowledge: Silence on air');
      await eventually(() => hub.find('alarm/silence/state')?.value === 'acknowledged', 'the alarm to be acknowledged');
    },
  },
  night: {
    about: 'what happened at three in the morning?',
    async run(studio) {
      const { hand } = studio;
      await view(studio, 'History');
      await chooseAddress(studio, 'studio-1/lamp');
      await hand.press('Last night');
      await hand.click(hand.page.getByRole('button', { name: /, 03:00: [1-9]/ }).first());
      await hand.page.locator('.event', { hasText: '03:04' }).first().waitFor();
      await hand.page.locator('.event', { hasText: 'red light' }).first().waitFor();
    },
  },
  point: { about: 'set a level to −12.5', run: (studio) => setLevel(studio, '-12.5', -12.5) },
  comma: { about: 'set a level to −13,5', run: (studio) => setLevel(studio, '−13,5', -13.5) },
  minute: {
    about: 'what changed in the last minute?',
    async run(studio) {
      const { hand, hub } = studio;
      hub.write('desk/title', 'News', { kind: 'client', name: 'api olaf 10.0.0.7' });
      await view(studio, 'Parameters');
      await hand.press('Recent');
      const line = hand.page.locator('[data-recent="desk/title"]');
      await line.getByText('News').waitFor();
      await line.getByText('api olaf 10.0.0.7').waitFor();
    },
  },
  client: {
    about: 'which client is slow?',
    async run(studio) {
      const { hand, hub, port } = studio;
      const slow = await openStalled(port);
      const flood = setInterval(() => hub.write('desk/title', `${Date.now()} ${'x'.repeat(60_000)}`, writer), 2);
      try {
        await view(studio, 'Clients');
        await hand.page.locator('tbody tr').first().getByText('stalled').waitFor();
        await hand.page.locator('tbody tr').first().getByText('corridor-sign').waitFor();
      } finally {
        clearInterval(flood);
        slow.destroy();
      }
    },
  },
  off: {
    about: 'switch a rule off for an hour',
    async run(studio) {
      const { hand, hub } = studio;
      await view(studio, 'Flows');
      await search(studio, 'door light');
      await hand.click(hand.page.getByText('door light').and(hand.page.locator(':visible')).last());
      await hand.press('Switch door light off for a while');
      await hand.press('Switch off');
      await eventually(
        () => hub.overrides().some(({ name, until }) => name === 'door light' && isInAnHour(until)),
        'the rule to be off for an hour',
      );
    },
  },
  yesterday: {
    about: 'compare yesterday with today',
    async run(studio) {
      const { hand } = studio;
      await view(studio, 'History');
      await chooseAddress(studio, 'studio-1/level');
      const compare = hand.page.getByLabel('Compare with an earlier time');
      await hand.click(compare);
      await hand.type('the day before');
      await hand.key('Enter');
      await eventually(async () => (await compare.inputValue()) === String(24 * 60 * minuteMs), 'the day before');
      await hand.page.getByText('the day before').last().waitFor({ state: 'attached' });
    },
  },
  panel: {
    about: 'build a panel of six widgets',
    async run(studio) {
      const { hand, read } = studio;
      await view(studio, 'Dashboards');
      await hand.press('+ New panel');
      await hand.awaitFocus('Title');
      await hand.type('Desk');
      await hand.key('Enter');
      await hand.page.getByLabel('Search parameters').waitFor();
      await hand.key('/');
      const names = ['mic', 'red-light', 'level', 'silent', 'title', 'door'];
      for (const [place, name] of names.entries()) {
        await hand.type(`desk/${name}`);
        await hand.key('Enter');
        await hand.page.locator('[data-list=widgets] .widget').nth(place).waitFor();
        await eventually(async () => (await hand.page.getByLabel('Search parameters').inputValue()) === '', 'the next');
      }
      await hand.press('Save');
      await hand.page.getByText(/^Saved/).waitFor();
      const { widgets } = JSON5.parse<{ widgets: { address: string }[] }>(await read('panels/desk.json5'));
      const made = widgets.map(({ address }) => address).join(' ');
      if (made !== names.map((name) => `desk/${name}`).join(' ')) throw new Error(`expected six widgets, got ${made}`);
    },
  },
  reception: {
    about: 'set up a read-only screen at the reception with a link',
    async run(studio) {
      const { hand, browser } = studio;
      await view(studio, 'Users');
      await hand.press('Invite kiosk for reception');
      await hand.awaitFocus('Name of the device');
      await hand.type('Reception');
      await hand.press('Create link');
      const link = await hand.page.locator('.invitation .link').textContent();
      const elsewhere = await browser.newContext();
      try {
        const page = await elsewhere.newPage();
        await page.goto(link!);
        await page.locator('.widget.lamp').waitFor();
        if (await page.getByRole('button', { name: 'Mic' }).isEnabled())
          throw new Error('expected a panel that can only be read, got one that writes');
        if ((await page.getByRole('navigation').count()) > 0) throw new Error('expected a panel alone');
      } finally {
        await elsewhere.close();
      }
    },
  },
  label: {
    about: 'change the label of a parameter',
    async run(studio) {
      const { hand, hub, read } = studio;
      await openParameter(studio, 'desk/level');
      await hand.press('Edit label');
      await hand.awaitFocus('Label');
      await hand.type('Level of the main mix');
      await hand.key('Enter');
      await eventually(() => hub.find('desk/level')?.about?.label === 'Level of the main mix', 'the new label');
      const { describe } = JSON5.parse<{ describe: object }>(await read('flow.json5'));
      if (JSON.stringify(describe) !== '{"desk/level":{"label":"Level of the main mix"}}')
        throw new Error(`expected one label, got ${JSON.stringify(describe)}`);
    },
  },
};

const minuteMs = 60_000;

function isInAnHour(until: number | undefined): boolean {
  return until !== undefined && Math.abs(until - Date.now() - 60 * minuteMs) < minuteMs;
}

/** Opens a socket that reads nothing after its handshake. */
async function openStalled(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // the hub cuts it off in the end
  const credentials = Buffer.from('anna:anna').toString('base64');
  socket.write(
    `GET /ws?name=corridor-sign HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Basic ${credentials}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.pause();
  return socket;
}
