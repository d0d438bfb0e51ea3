// A paged list from the hub, newest first, as held by the console.

/** The maximum number of rows that the page holds. To see older rows, users set an end time. */
export const maxHeld = 5000;

export interface Held<Row> {
  /** The rows, newest first. The same row has the same id in each response. */
  readonly rows: readonly (Row & { readonly id: string })[];
  /** The cursor with which older rows are requested; undefined if there are no older rows. */
  readonly next: string | number | undefined;
}

/** Returns rows as held by the console, each with an id. Rows with equal keys are distinguished by their order, the oldest first. */
export function pageOf<Row>(rows: readonly Row[], next: Held<Row>['next'], keyOf: (row: Row) => unknown): Held<Row> {
  const counts = new Map<string, number>();
  const identify = (row: Row) => {
    const key = JSON.stringify(keyOf(row));
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return { ...row, id: `${key} ${count}` };
  };
  return { rows: rows.toReversed().map(identify).toReversed(), next };
}

export function addOlder<Row>(held: Held<Row>, { rows, next }: Held<Row>, keyOf: (row: Row) => unknown): Held<Row> {
  return pageOf([...held.rows, ...rows], next, keyOf);
}

/**
 * Merges the newest page into the held rows: new rows are added at the top, and known rows are updated. If there are more new rows than fit
 * on a page, or if the list becomes too long, older rows have to be requested again.
 */
export function addNewer<Row>(held: Held<Row> | undefined, page: Held<Row>): Held<Row> {
  const oldest = page.rows.at(-1);
  const known = held?.rows.findIndex(({ id }) => id === oldest?.id) ?? -1;
  const older = known < 0 ? [] : held!.rows.slice(known + 1);
  if (older.length === 0 || page.rows.length + older.length > maxHeld) return page;
  return { rows: [...page.rows, ...older], next: held!.next };
}

/** Drops the rows from before a time, in milliseconds since 1970. */
export function since<Row extends { readonly time: string }>(held: Held<Row>, from: number): Held<Row> {
  const rows = held.rows.filter(({ time }) => Date.parse(time) >= from);
  return rows.length === held.rows.length ? held : { rows, next: undefined };
}
