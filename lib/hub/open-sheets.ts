// Which user has which rule open in the browser, so that two people notice each other before they save. A page reports its open sheet
// repeatedly, and a sheet without reports is removed. The open sheets are not stored.

/** How long a sheet is shown after its last report, in milliseconds. Browsers let a page in the background report only once a minute. */
export const sheetLastsMs = 90_000;
/** The maximum number of open sheets in total. When a limit is exceeded, the oldest sheets are removed. */
export const maxSheets = 1000;
/** The maximum number of open sheets per user. */
export const maxSheetsPerUser = 50;

export interface OpenSheet {
  /** The name of the user, or of the client if there is no user. */
  readonly user: string;
  /** The name of the rule that is open; empty for a new rule. */
  readonly rule: string;
  /** When the sheet was opened, in milliseconds since 1970. */
  readonly since: number;
}

interface KnownSheet extends OpenSheet {
  readonly path: string;
  readonly seenAt: number;
}

export class OpenSheets {
  /** The sheets, keyed by user and sheet ID, in the order of their last reports, oldest first. */
  readonly #sheets = new Map<string, KnownSheet>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records that a sheet is open. Returns the other open sheets for the same file, starting with the sheet that has been open longest. */
  open(path: string, sheet: string, user: string, rule: string): readonly OpenSheet[] {
    const now = this.#now();
    const key = keyOf(user, sheet);
    const known = this.#sheets.get(key);
    const since = known?.path === path && known.rule === rule ? known.since : now;
    this.#sheets.delete(key);
    this.#sheets.set(key, { path, user, rule, since, seenAt: now });
    this.#forget(now, user);
    return [...this.#sheets]
      .filter(([other, one]) => other !== key && one.path === path)
      .map(([, one]) => ({ user: one.user, rule: one.rule, since: one.since }))
      .sort((one, other) => one.since - other.since);
  }

  close(sheet: string, user: string): void {
    this.#sheets.delete(keyOf(user, sheet));
  }

  #forget(now: number, user: string): void {
    for (const [key, { seenAt }] of this.#sheets) {
      if (seenAt > now - sheetLastsMs && this.#sheets.size <= maxSheets) break;
      this.#sheets.delete(key);
    }
    const own = [...this.#sheets].filter(([, one]) => one.user === user);
    for (const [key] of own.slice(0, Math.max(0, own.length - maxSheetsPerUser))) this.#sheets.delete(key);
  }
}

function keyOf(user: string, sheet: string): string {
  return `${user}\n${sheet}`;
}
