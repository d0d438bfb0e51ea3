// The language of the console: chosen in the URL, by the user or by the browser. The code names every text in English; the other languages
// are in one table, which is loaded only for them.

import { keep, recall } from '../page/storage.ts';
import type { Text } from './texts.ts';

/** The languages of the console, in the order of the columns in the table of texts. */
export const languages = ['en', 'de', 'fr'] as const;
export type Language = (typeof languages)[number];

/** The sign-in page reads the choice under the same key. */
const storageKey = 'patchbay-language';
/** The URL parameter that selects a language, which the browser then remembers; intended for kiosks: `/hub/?lang=de`. */
export const languageParameter = 'lang';

const page = (globalThis as { location?: { readonly search: string } }).location; // specs use some of the modules without a page
const asked = new URLSearchParams(page?.search).get(languageParameter);
if (isLanguage(asked)) keep(storageKey, asked);
const preferred = page === undefined ? [] : [asked, recall(storageKey), ...navigator.languages];
/** The language that the browser prefers, with its region, such as `de-CH`. */
const tag = preferred.find((one) => isLanguage(one?.slice(0, 2))) ?? 'en';

/** The language of the page. The language never changes while the page is open. */
export const language = tag.slice(0, 2) as Language;
/** The locale for dates and times. In English, times use the 24-hour clock. */
export const locale = language === 'en' ? 'en-GB' : language;

const numbers = new Intl.NumberFormat(preferred.find((one) => one?.startsWith(`${language}-`)) ?? language);
const counts = language === 'en' ? new Intl.NumberFormat(locale) : numbers;
/** The character between a number and its decimals: a comma in German and French, but a point in Switzerland. */
export const decimalMark = language !== 'en' && numbers.format(1.5)[1] === ',' ? ',' : '.';

/** Replaces the decimal point of a number with the decimal mark of the language: `-12.5` becomes `-12,5`. */
export const localNumber = (number: string) => number.replace('.', decimalMark);

/** Formats a count with grouped digits: `100,000`. */
export const formatCount = (count: number) => counts.format(count);

const plurals = new Intl.PluralRules(language);
let table: ReadonlyMap<string, string> = new Map();

/** The spaces in French text at which a line must not break: before `:`, `;`, `?`, and just inside quotation marks. */
const unbroken = / (?=[:;?»])|(?<=«) /g;

/** Loads the texts of the page's language. Resolves to the language of the texts: English if the texts cannot be loaded. */
export async function loadTexts(): Promise<Language> {
  if (language === 'en') return language;
  const { texts } = await import('./texts.ts').catch(() => ({ texts: [] }));
  const column = languages.indexOf(language);
  table = new Map(texts.map((row) => [row[0], row[column]!.replace(unbroken, '\u00a0')]));
  return texts.length === 0 ? 'en' : language;
}

/**
 * Returns a text in the language of the page, with `{1}` replaced by the first value. A text with two forms, `{1} alarm|{1} alarms`, uses
 * the form that its first value, a number, requires. Call this while drawing, not while a module is being loaded: the table of texts may
 * not have been loaded yet.
 */
export function t(text: Text, ...values: readonly (string | number)[]): string {
  const [one = '', others = one] = said(text).split('|');
  const form = plurals.select(Number(values[0])) === 'one' ? one : others;
  return form.replace(/\{(\d)\}/g, (_, place: string) => {
    const value = values[Number(place) - 1] ?? '';
    return typeof value === 'number' ? formatCount(value) : value;
  });
}

/** Translates a word from the hub, such as a state, into the language of the page. A word without a translation stays as it is. */
export function said(word: string): string {
  return table.get(word) ?? word;
}

/** Stores the language that the user has chosen, so that the next page uses it. */
export function keepLanguage(chosen: string): void {
  keep(storageKey, chosen);
}

function isLanguage(text: string | null | undefined): text is Language {
  return languages.some((one) => one === text);
}
