// People set parameters by hand: key by key, over what is selected, while values move fifty times a second.

import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { goTo, openConsole, waitUntil } from '../support/browser/console.ts';
import { browser } from '../support/browser/own-browser.ts';
import { within } from '../support/deadline.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const desk = { type: 'dummy', parameters: ['level,F,-3.25', 'gain,F,1', 'take,I,3', 'title,S,Morning', 'never,F'] };
const openEditor = shared(async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk } });
  return { hub, page: await openConsole(t, browser, hub.port, '', { reducedMotion: 'reduce' }) };
});

/** Opens a parameter; all have their first values. */
async function open(address: string): Promise<{ readonly hub: HubUnderTest; readonly page: Page }> {
  const { hub, page } = await openEditor();
  const values = { level: -3.25, gain: 1, take: 3, title: 'Morning' };
  for (const [id, value] of Object.entries(values)) hub.write(`desk/${id}`, value, writer);
  await goTo(page, `#/parameters?address=${address}`);
  return { hub, page };
}

/** The writes of clients of the API. */
const writesTo = (hub: HubUnderTest) =>
  hub.changes$.pipe(filter(({ origin }) => origin.kind === 'client' && origin !== writer));

/** Returns what they have written, in order: `desk/take=4`. */
function listen(t: ExecutionContext, hub: HubUnderTest): string[] {
  const written: string[] = [];
  const subscription = writesTo(hub).subscribe({
    next: ({ parameter, value }) => written.push(`${parameter.address}=${value}`),
    error: () => {},
  });
  t.teardown(() => subscription.unsubscribe());
  return written;
}

/** Resolves with the next value that they write. */
const nextOf = async (hub: HubUnderTest, address: string) => {
  const change = firstValueFrom(writesTo(hub).pipe(filter(({ parameter }) => parameter.address === address)));
  return (await within(change, address)).value;
};

/** Moves a parameter fifty times a second until the test is over. */
function keepMoving(t: ExecutionContext, hub: HubUnderTest, address: string): void {
  let round = 0;
  const timer = setInterval(() => hub.write(address, 1 + (++round % 99), writer), 20); // never a value that is typed: no change would come of it
  t.teardown(() => clearInterval(timer));
}

/** Selects the text in the field as a hand does, types over it, and presses Enter. */
async function typeOver(page: Page, text: string, select: 'mouse' | 'keys' = 'keys'): Promise<void> {
  const field = page.locator('.field input, .field textarea');
  await field.click(select === 'mouse' ? { clickCount: 3 } : {});
  if (select === 'keys') await page.keyboard.press('Control+a');
  await page.keyboard.type(text, { delay: 15 });
  await page.keyboard.press('Enter');
}

test.serial('a number that is typed while its value changes is written as intended', async (t) => {
  const { hub, page } = await open('desk/level');
  await page.getByRole('spinbutton').waitFor();
  keepMoving(t, hub, 'desk/level');
  const rows: [typed: string, value: number][] = [
    ['-12.5', -12.5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['-12,5', -12.5],
    ['-.25', -0.25],
    ['0', 0],
  ];
  for (const [place, [typed, value]] of rows.entries()) {
    const written = nextOf(hub, 'desk/level');
    await typeOver(page, typed, place % 2 === 0 ? 'mouse' : 'keys');
    t.is(await written, value, typed);
    await page.getByText(`set to ${value}`, { exact: true }).waitFor();
  }
});

test.serial(
  'an invalid or ambiguous number is reported next to the field; nothing is written, and the draft stays',
  async (t) => {
    const { hub, page } = await open('desk/level');
    const written = listen(t, hub);
    const field = page.getByRole('spinbutton');
    const alert = page.locator('.editor [role=alert]');
    await field.waitFor();
    keepMoving(t, hub, 'desk/level');
    for (const [typed, sentence] of [
      ['1,000', '"1,000" may mean 1000 or 1.000'],
      ['1e999', 'Expected a number from -1.8e308'],
      ['NaN', 'got "NaN"'],
      ['--1', 'got "--1"'],
    ] as const) {
      await typeOver(page, typed);
      await alert.getByText(sentence).waitFor();
      t.is(await field.inputValue(), typed);
      t.is(await field.getAttribute('aria-invalid'), 'true');
    }
    await field.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.press('Enter');
    await alert.getByText('got nothing').waitFor();
    await page.keyboard.press('Escape');
    await waitUntil(page, `document.querySelector('.field input').value !== ''`);
    t.is(await alert.textContent(), '');

    await page.locator('[role=row][data-address="desk/take"]').click();
    await typeOver(page, '12,5');
    await alert.getByText('Expected a whole number').waitFor();
    t.deepEqual(written, []);
    const taken = nextOf(hub, 'desk/take');
    await typeOver(page, '1e3');
    t.is(await taken, 1000);
  },
);

test.serial('a draft is never written to the next opened parameter', async (t) => {
  const { hub, page } = await open('desk/level');
  const written = listen(t, hub);
  const row = (address: string) => page.locator(`[role=row][data-address="${address}"]`);
  await page.getByRole('spinbutton').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('77');
  await row('desk/gain').click();
  await page.getByRole('complementary', { name: 'desk/gain' }).waitFor();
  await waitUntil(page, `document.querySelector('.field input')?.value === '1'`);
  await page.getByRole('spinbutton').click();
  await page.keyboard.press('Enter');
  await page.getByText('set to 1', { exact: true }).waitFor();
  await row('desk/title').click();
  await waitUntil(page, `document.querySelector('.field textarea')?.value === 'Morning'`);
  await page.locator('textarea').click();
  await page.keyboard.type(' news');
  await row('desk/level').click();
  await row('desk/title').click();
  await waitUntil(page, `document.querySelector('.field textarea')?.value === 'Morning'`);
  t.is(hub.find('desk/level')!.value, -3.25);
  t.deepEqual(written, [], 'setting the same value again does not count as a change');
});

test.serial(
  'while values change, selected text stays selected, focus and scroll stay, and rows stay chosen',
  async (t) => {
    const { hub, page } = await open('desk/level');
    const field = page.getByRole('spinbutton');
    await field.waitFor();
    keepMoving(t, hub, 'desk/level');
    const shown = page.locator('.detail output');
    const moves = async (times: number) => {
      for (let count = 0; count < times; count++) {
        const before = await shown.textContent();
        await waitUntil(page, `document.querySelector('.detail output').textContent !== ${JSON.stringify(before)}`);
      }
    };
    await moves(3);
    await field.click({ clickCount: 3 });
    const selected = `(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)`;
    const text = await page.evaluate<string>(selected);
    t.true(text.length > 0);
    await moves(10);
    t.is(await page.evaluate(selected), text);
    await page.locator('.detail h2').click();
    await waitUntil(page, `document.querySelector('.field input').value !== ${JSON.stringify(text)}`);

    for (const css of ['.detail output', '[data-address="desk/level"] .value', '.copy:nth-child(3) code']) {
      await page.locator(css).click({ clickCount: 3 });
      await moves(10);
      const [held, all] = await page.evaluate<[string, string]>(
        `[getSelection().toString().trim(), document.querySelector(${JSON.stringify(css)}).textContent]`,
      );
      t.true(held !== '' && all.includes(held), `${css}: "${held}" of "${all}"`);
    }
    const copy = page.getByRole('button', { name: 'Copy curl, set' });
    await copy.focus();
    await moves(10);
    t.is(await page.evaluate('document.activeElement.ariaLabel'), 'Copy curl, set');
    t.is(await page.locator('.row.opened').getAttribute('data-address'), 'desk/level');
  },
);

test.serial('steps add to one another, also faster than the reports of the hub, and to a typed number', async (t) => {
  const { hub, page } = await open('desk/take');
  const more = page.getByRole('button', { name: 'Increase by 1' });
  await waitUntil(page, `document.querySelector('.field input')?.value === '3'`);
  const { x, y } = (await more.boundingBox())!;
  await page.mouse.move(x + 5, y + 5);
  for (let count = 0; count < 7; count++) {
    await page.mouse.down();
    await page.mouse.up();
  }
  await waitUntil(page, `document.querySelector('.detail output').textContent === '10'`);
  t.is(hub.find('desk/take')!.value, 10);
  await page.getByRole('spinbutton').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('100');
  await page.keyboard.press('ArrowUp');
  t.is(await page.getByRole('spinbutton').inputValue(), '101');
  const taken = nextOf(hub, 'desk/take');
  await more.click();
  t.is(await taken, 102);
  await page.locator('[role=row][data-address="desk/never"]').click();
  await page.getByRole('button', { name: 'Increase by 0.1' }).click();
  await page.locator('.editor [role=alert]').getByText('got nothing').waitFor();
  t.is(hub.find('desk/never')!.value, undefined);
});

test.serial(
  'text keeps its lines, tabs and spaces; Enter sets a single line, and adds a line to several',
  async (t) => {
    const { hub, page } = await open('desk/title');
    const field = page.locator('textarea');
    const shows = (text: string) =>
      waitUntil(page, `document.querySelector('textarea')?.value === ${JSON.stringify(text)}`);
    await shows('Morning');
    const evening = nextOf(hub, 'desk/title');
    await typeOver(page, '  Evening ');
    t.is(await evening, '  Evening ');

    hub.write('desk/title', ' one\r\n\ttwo\r\n three ', writer);
    await page.locator('.detail h2').click();
    await shows(' one\n\ttwo\n three ');
    const edited = nextOf(hub, 'desk/title');
    await field.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('four');
    await page.keyboard.press('Control+Enter');
    t.is(await edited, ' one\r\n\ttwo\r\n three \r\nfour');

    const lines = nextOf(hub, 'desk/title');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('a');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('b');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    t.is(await lines, 'a\r\nb', 'with the line breaks that were there');
  },
);

test.serial('text of 63,000 characters is edited without loss; one too long is refused with a sentence', async (t) => {
  const { hub, page } = await open('desk/title');
  const long = `${`${'0123456789 '.repeat(5)}\tend\n`.repeat(1050)}`.trim();
  hub.write('desk/title', long, writer);
  await waitUntil(page, `document.querySelector('textarea')?.value.length === ${long.length}`);
  const edited = nextOf(hub, 'desk/title');
  await page.locator('textarea').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('!');
  await page.keyboard.press('Control+Enter');
  t.true((await edited) === `${long}!`);
  await page.locator('[data-address="desk/title"] .value', { hasText: '…' }).waitFor();
  await page.locator('textarea').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('x'.repeat(70_000));
  await page.keyboard.press('Enter');
  await page.locator('.editor [role=alert]').getByText('expected at most 65536 bytes').waitFor();
  t.is(String(hub.find('desk/title')!.value).length, long.length + 1);
});
