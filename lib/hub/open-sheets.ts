// Who has which rule open in the browser, so that two people notice each other before they save. A page reports its sheet again and again;
// one that is silent is forgotten. Nothing of it is stored.

/** The time for which a sheet is shown after its last report. Browsers let a page in the background report once a minute. */
export const sheetLastsMs = 90_000;
/** The oldest sheets are forgotten beyond these numbers. */
export const maxSheets = 1000;
export const maxSheetsPerUser = 50;

export interface OpenSheet {
  /** The name of the user, or of the client. */
  readonly user: string;
  /** The name of the rule; empty for a new rule. */
  readonly rule: string;
  /** In milliseconds since 1970. */
  readonly since: number;
}

interface KnownSheet extends OpenSheet {
  readonly path: string;
  readonly seenAt: number;
}

export class OpenSheets {
  /** By user and sheet; the one that was silent longest comes first. */
  readonly #sheets = new Map<string, KnownSheet>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes that a sheet is open. Returns the others of its file, the longest open one first. */
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
