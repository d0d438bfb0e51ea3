// Switches by operators that override the flow files: rules switched off or on, connections stopped or started. A switch ends with the hub
// or when the source text changes. A switch with a term outlasts both, until a time or permanently. Whenever a rule or connection follows
// its flow file again, this is recorded in the log and in the audit.

import type { SchedulerLike, Subscription } from 'rxjs';
import type { Log } from '../../connections/connection.ts';
import type { Origin } from '../../model/parameter.ts';
import type { Override, SwitchTerm } from '../../model/reports/rule-status.ts';
import type { HubPersistence } from './connections/hub-persistence.ts';

/** An operator's decision to switch a rule or a connection on or off. */
export interface ManualSwitch {
  readonly isOn: boolean;
  readonly by: Origin;
  /** The term of the switch. Undefined if the switch ends with the hub or when the source text changes. */
  readonly term?: SwitchTerm | undefined;
}

/** A rule or connection that an operator can switch. */
export interface Switchable {
  readonly kind: 'rule' | 'connection';
  readonly name: string;
  readonly file: string;
}

/** A switch in the form in which a store keeps it. Times are in milliseconds since 1970. */
interface Kept extends Switchable {
  readonly isOn: boolean;
  readonly by: string;
  readonly since?: number;
  /**
   * When the switch ends, in milliseconds since 1970. null means that the switch is permanent; undefined means that the switch ends with
   * the hub or when the text in the flow file changes.
   */
  readonly until?: number | null;
  readonly reason?: string;
}

/** Keeps the switches with a term if the hub has no store. */
export interface SwitchFile {
  read(): readonly unknown[];
  write(kept: readonly unknown[]): void;
}

/**
 * The maximum interval at which the ends of terms are checked, in milliseconds, because a Node.js timer cannot wait longer than 24 days.
 */
const mostWaitMs = 3_600_000;

const hubRestarted = 'the hub was restarted';

export class ManualSwitches {
  readonly #log: Log;
  readonly #persistence: HubPersistence;
  readonly #present = new Map<string, Kept>();
  readonly #scheduler: SchedulerLike;
  /** When terms end, in milliseconds on the scheduler's clock, which never jumps. Keyed by rule or connection. */
  readonly #ends = new Map<string, number>();
  #waiting: Subscription | undefined;
  #file: SwitchFile | undefined;
  /** Called to make a rule or connection follow its flow file again. */
  onEnd: (what: Switchable) => void = () => {};

  constructor(log: Log, persistence: HubPersistence, scheduler: SchedulerLike) {
    this.#log = log;
    this.#persistence = persistence;
    this.#scheduler = scheduler;
  }

  /** Adopts the switches with a term that an earlier run has left in a file. If the hub has no store, the switches stay in the file. */
  keepIn(file: SwitchFile): void {
    this.#file = file;
    if (!this.#persistence.hasStore) this.recallTerms(file.read());
  }

  /** Adopts and returns the switches with a term from an earlier run. */
  recallTerms(remembered: Iterable<unknown>): readonly Switchable[] {
    const recalled: Switchable[] = [];
    for (const kept of remembered) {
      if (!isKept(kept) || kept.until === undefined || this.#present.has(idOf(kept))) continue;
      this.#keep(kept);
      recalled.push(kept);
    }
    return recalled;
  }

  /** Returns the switch with a term for a rule or connection, or undefined if there is none. */
  lasting(what: Pick<Switchable, 'kind' | 'name' | 'file'>): ManualSwitch | undefined {
    if (this.#ends.size === 0) return undefined;
    const kept = this.#present.get(idOf(what));
    if (kept?.until === undefined) return undefined;
    const { isOn, by, until, reason = '' } = kept;
    return { isOn, by: { kind: 'client', name: by }, term: { until, reason } };
  }

  /** Returns the operators' switches that are in effect, oldest first. */
  overrides(): readonly Override[] {
    const all = [...this.#present.values()].sort((one, other) => (one.since ?? 0) - (other.since ?? 0));
    return all.map(({ kind, name, file, isOn, by, since = 0, until, reason = '' }) => ({
      ...{ kind, name, file, isOn, by, since, reason },
      isLasting: until !== undefined,
      ...(typeof until === 'number' && { until }),
    }));
  }

  /** Stops waiting for switches to end. */
  stop(): void {
    this.#waiting?.unsubscribe();
  }

  #keep(kept: Kept): void {
    const id = idOf(kept);
    this.#present.set(id, kept);
    this.#ends.delete(id);
    if (kept.until === undefined) return;
    const { until, since = 0 } = kept;
    // after a restart, no wait is longer than the term that was set, whatever time the machine's clock shows
    const leftMs = until === null ? Number.POSITIVE_INFINITY : Math.min(until - Date.now(), until - since);
    this.#ends.set(id, this.#scheduler.now() + Math.max(0, leftMs));
    this.#wait();
  }

  #wait(): void {
    this.#waiting?.unsubscribe();
    const first = Math.min(...this.#ends.values());
    if (first === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.min(mostWaitMs, Math.max(0, first - this.#scheduler.now()));
    this.#waiting = this.#scheduler.schedule(() => this.#endTerms(), delayMs);
  }

  #endTerms(): void {
    const now = this.#scheduler.now();
    for (const [id, end] of this.#ends) {
      const kept = this.#present.get(id);
      if (end > now || kept === undefined) continue;
      this.#forget(id);
      this.#report(kept, 'its time has expired');
      this.onEnd(kept);
    }
    this.#wait();
  }

  #forget(id: string): void {
    const kept = this.#present.get(id);
    this.#present.delete(id);
    this.#persistence.remember(id, () => undefined);
    if (this.#ends.delete(id) || kept?.until !== undefined) this.#writeFile();
  }

  #writeFile(): void {
    if (!this.#persistence.hasStore)
      this.#file?.write([...this.#present.values()].filter(({ until }) => until !== undefined));
  }

  /** Records how an operator has switched a rule or connection; undefined means that the flow file applies. */
  note(what: Switchable, by: ManualSwitch | undefined): void {
    const { kind, name, file } = what;
    const id = idOf(what);
    if (by === undefined) {
      if (this.#present.has(id)) this.#forget(id);
      return;
    }
    const { isOn, term } = by;
    const before = this.#present.get(id);
    const kept: Kept = {
      kind,
      name,
      file,
      isOn,
      by: by.by.name,
      since: before?.isOn === isOn ? (before.since ?? 0) : Date.now(),
      ...term,
    };
    this.#keep(kept);
    this.#persistence.remember(id, () => kept);
    if (term !== undefined || before?.until !== undefined) this.#writeFile();
  }

  /**
   * Ends a switch, so that the flow file applies again, and reports the end if it has an effect. `why` is the reason, such as a changed
   * text.
   */
  release(what: Switchable, { isOn, by }: ManualSwitch, isOnAgain: boolean, why: string): void {
    this.note(what, undefined);
    if (isOn !== isOnAgain) this.#report({ ...what, isOn, by: by.name }, why);
  }

  /**
   * Reports the switches from an earlier run of the hub that no longer apply. `isOn` returns the state of a rule or connection, or
   * undefined if no rule or connection has this name. Call this whenever a store has restored its values.
   */
  recall(remembered: ReadonlyMap<string, unknown>, isOn: (what: Switchable) => boolean | undefined): void {
    for (const kept of remembered.values()) {
      if (!isKept(kept) || kept.until !== undefined) continue;
      if (this.#present.has(idOf(kept))) continue;
      this.#persistence.remember(idOf(kept), () => undefined);
      const now = isOn(kept);
      if (now !== undefined && now !== kept.isOn) this.#report(kept, hubRestarted);
    }
  }

  /** Logs which switches end because the hub is stopping. */
  end(): void {
    for (const kept of this.#present.values())
      if (kept.until === undefined)
        this.#log.info(
          {},
          `${describeKept(kept)}: this lasts until the hub stops; after a restart, the flow file applies again`,
        );
  }

  #report(kept: Kept, why: string): void {
    const { kind, name, file, isOn } = kept;
    const again = kind === 'rule' ? `is ${isOn ? 'off' : 'on'} again` : isOn ? 'is disabled again' : 'runs again';
    this.#log.warn({ [kind]: name, file }, `${describeKept(kept)} and ${again}: ${why}`);
    const after = kind === 'rule' ? (isOn ? 'off' : 'on') : isOn ? 'stop' : 'start';
    this.#persistence.note({ kind, user: 'hub', address: name, after, cause: `${describeKept(kept)}; ${why}` });
  }
}

/** Formats the term of a switch: `, until 2026-11-29T22:00:00.000Z: repairs`. */
export function describeTerm(term: SwitchTerm | undefined): string {
  if (term === undefined) return '';
  const until = term.until === null ? 'for good' : `until ${new Date(term.until).toISOString()}`;
  return `, ${until}${term.reason === '' ? '' : `: ${term.reason}`}`;
}

/** Describes a switch from an earlier run: `rule "lamp" (a.json5) was switched off by api 10.0.0.7`. */
function describeKept({ kind, name, file, isOn, by }: Kept): string {
  const done = kind === 'rule' ? `switched ${isOn ? 'on' : 'off'}` : isOn ? 'started' : 'stopped';
  return `${kind} "${name}" (${file}) was ${done} by ${by}`;
}

function idOf({ kind, name, file }: Switchable): string {
  return JSON.stringify(kind === 'rule' ? [kind, name, file] : [kind, name]);
}

function isKept(memory: unknown): memory is Kept {
  const { kind, name, file, isOn, by } = (memory ?? {}) as Partial<Record<keyof Kept, unknown>>;
  return (
    (kind === 'rule' || kind === 'connection') &&
    [name, file, by].every((text) => typeof text === 'string') &&
    typeof isOn === 'boolean'
  );
}
