// Operates a page as a person would, by mouse and keyboard alone, and counts the actions. An element just opened must have the focus, since
// a person would go on typing; where it does not, a hesitation is recorded.

import { setTimeout } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';

/** The most presses of Tab after which a person looks for another way: F6 from part to part, and Tab again. */
const mostTabs = 5;
const mostParts = 5;
/** A list begins anew with the first letter after a pause of a second, which a busy machine takes between two letters. */
const letterPauseMs = 1200;
const mostAttempts = 5;

export class Hand {
  readonly page: Page;
  readonly #hesitations: string[] = [];
  #clicks = 0;
  #keys = 0;

  constructor(page: Page) {
    this.page = page;
  }

  /** What it has pressed since the last call, and where it had to search. */
  count(): { readonly clicks: number; readonly keys: number; readonly hesitations: readonly string[] } {
    const counted = { clicks: this.#clicks, keys: this.#keys, hesitations: [...this.#hesitations] };
    this.#clicks = 0;
    this.#keys = 0;
    this.#hesitations.length = 0;
    return counted;
  }

  async click(target: Locator): Promise<void> {
    this.#clicks++;
    await target.click();
  }

  /** Drags something: to the left and down. */
  async drag(target: Locator, pixels: number): Promise<void> {
    const { mouse } = this.page;
    const box = (await target.boundingBox())!;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    this.#clicks++;
    await mouse.move(x, y);
    await mouse.down();
    await mouse.move(x - pixels, y + pixels, { steps: 5 });
    await mouse.up();
  }

  /** Clicks a button or link by its name. */
  async press(name: string): Promise<void> {
    const { page } = this;
    await this.click(
      page
        .getByRole('button', { name, exact: true })
        .or(page.getByRole('link', { name, exact: true }))
        .first(),
    );
  }

  async key(name: string): Promise<void> {
    this.#keys++;
    await this.page.keyboard.press(name);
  }

  async type(text: string): Promise<void> {
    this.#keys += text.length;
    await this.page.keyboard.type(text);
  }

  /** Waits until a field has the focus, as a person does before typing. */
  async awaitFocus(label: string): Promise<void> {
    await this.#field(label).and(this.page.locator(':focus')).waitFor();
  }

  /** Clicks a button that opens a field, which must then have the focus. */
  async open(button: string, label: string): Promise<void> {
    await this.press(button);
    await this.#at(label, 0, `“${button}” leaves the focus where it was, not at “${label}”`);
  }

  /** Goes to a field by Tab or F6, if it is near, else by the mouse, and types over what it has. */
  async fill(label: string, text: string): Promise<void> {
    await this.#near(label);
    if (await this.#hasText()) await this.key('ControlOrMeta+a');
    await this.type(text);
  }

  /** Goes back to a field by the mouse, and types over what it has. */
  async correct(label: string, text: string): Promise<void> {
    await this.click(this.page.getByLabel(label, { exact: true }));
    await this.fill(label, text);
  }

  /** Chooses an option by its first letters, as a person does. */
  async choose(label: string, option: string): Promise<void> {
    const isOpened = await this.#near(label);
    let shown = '';
    for (let attempt = 0; attempt < mostAttempts && !shown.startsWith(option); attempt++) {
      if (attempt > 0) await setTimeout(letterPauseMs);
      await this.type(option);
      if (isOpened && attempt === 0) await this.key('Enter'); // the mouse has opened the list
      shown = await this.page.evaluate<string>('document.activeElement.selectedOptions?.[0]?.label ?? ""');
    }
    if (!shown.startsWith(option)) throw new Error(`“${label}”: expected the option “${option}”, got “${shown}”`);
  }

  async see(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Waits until a button can be pressed, and presses it. */
  async pressWhenReady(name: string): Promise<void> {
    const button = this.page.getByRole('button', { name, exact: true });
    await this.click(button); // which waits until it is enabled
  }

  /** Goes to a field by Tab; if it is in a part further away, by F6 and Tab. Returns whether it took the mouse. */
  async #near(label: string): Promise<boolean> {
    if (await this.#tabTo(label, mostTabs)) return false;
    const part = this.page.locator('fieldset:focus-within').filter({ has: this.#field(label) });
    for (let step = 0; step < mostParts && (await part.count()) < (await this.#depth(label)); step++)
      await this.key('F6');
    return this.#at(label, mostTabs, `“${label}” is not among the next ${mostTabs} fields of its part`);
  }

  /** Returns whether it used the mouse. */
  async #at(label: string, tabs: number, hesitation: string): Promise<boolean> {
    if (await this.#tabTo(label, tabs)) return false;
    this.#hesitations.push(hesitation);
    await this.click(this.#field(label));
    return true;
  }

  async #tabTo(label: string, tabs: number): Promise<boolean> {
    const field = this.#field(label);
    await field.waitFor();
    for (let tab = 0; ; tab++) {
      if ((await field.and(this.page.locator(':focus')).count()) > 0) return true;
      if (tab === tabs) return false;
      await this.key('Tab');
    }
  }

  #field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true });
  }

  /** How many groups of fields, one in the other, have a field. */
  #depth(label: string): Promise<number> {
    return this.page
      .locator('fieldset')
      .filter({ has: this.#field(label) })
      .count();
  }

  #hasText(): Promise<boolean> {
    return this.page.evaluate<boolean>('document.activeElement.value !== ""');
  }
}
