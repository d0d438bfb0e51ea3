// Switches by operators that override the flow files: rules switched off or on, connections stopped or started. A switch lasts until
// the hub ends or the text changes. The log and the audit name each one that follows its flow file again.

import type { Log } from '../../connections/connection.ts';
import type { Origin } from '../../model/parameter.ts';
import type { HubPersistence } from './connections/hub-persistence.ts';

/** The switch of a rule or a connection by an operator. */
export interface ManualSwitch {
  readonly isOn: boolean;
  readonly by: Origin;
}

/** A rule or connection that can be switched. */
export interface Switchable {
  readonly kind: 'rule' | 'connection';
  readonly name: string;
  readonly file: string;
}

/** A switch as a store keeps it. */
interface Kept extends Switchable {
  readonly isOn: boolean;
  readonly by: string;
}

const hubRestarted = 'the hub was restarted';

export class ManualSwitches {
  readonly #log: Log;
  readonly #persistence: HubPersistence;
  readonly #present = new Map<string, Kept>();

  constructor(log: Log, persistence: HubPersistence) {
    this.#log = log;
    this.#persistence = persistence;
  }

  /** Records a switch; undefined: the flow file applies. */
  note(what: Switchable, by: ManualSwitch | undefined): void {
    const { kind, name, file } = what;
    const id = idOf(what);
    const kept = by && { kind, name, file, isOn: by.isOn, by: by.by.name };
    if (kept === undefined) {
      if (!this.#present.delete(id)) return;
    } else this.#present.set(id, kept);
    this.#persistence.remember(id, () => kept);
  }

  /** Ends a switch: the flow file applies again. Reports that if it changes something. `why`: its text has changed. */
  release(what: Switchable, { isOn, by }: ManualSwitch, isOnAgain: boolean, why: string): void {
    this.note(what, undefined);
    if (isOn !== isOnAgain) this.#report({ ...what, isOn, by: by.name }, why);
  }

  /**
   * Reports the switches of an earlier run of the hub that no longer apply. `isOn` returns the state of a rule or connection; undefined:
   * none has the name. Call it whenever a store has restored its values.
   */
  recall(remembered: ReadonlyMap<string, unknown>, isOn: (what: Switchable) => boolean | undefined): void {
    for (const kept of remembered.values()) {
      if (!isKept(kept)) continue;
      if (this.#present.has(idOf(kept))) continue;
      this.#persistence.remember(idOf(kept), () => undefined);
      const now = isOn(kept);
      if (now !== undefined && now !== kept.isOn) this.#report(kept, hubRestarted);
    }
  }

  /** Logs, when the hub ends, which switches end with it. */
  end(): void {
    for (const kept of this.#present.values())
      this.#log.info({}, `${describeKept(kept)}: this ends with the hub; after a restart its flow file applies again`);
  }

  #report(kept: Kept, why: string): void {
    const { kind, name, file, isOn } = kept;
    const again = kind === 'rule' ? `is ${isOn ? 'off' : 'on'} again` : isOn ? 'is disabled again' : 'runs again';
    this.#log.warn({ [kind]: name, file }, `${describeKept(kept)} and ${again}: ${why}`);
    const after = kind === 'rule' ? (isOn ? 'off' : 'on') : isOn ? 'stop' : 'start';
    this.#persistence.note({ kind, user: 'hub', address: name, after, cause: `${describeKept(kept)}; ${why}` });
  }
}

/** `rule "lamp" (a.json5) was switched off by api 10.0.0.7` */
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
