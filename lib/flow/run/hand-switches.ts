// What operators have switched otherwise than flow files say: rules that are off or on, connections that are stopped or started. It lasts
// until the hub ends, or until the text is another. Whatever comes back by itself is named in the log and in the audit.

import type { Log } from '../../connections/connection.ts';
import type { Origin } from '../../model/parameter.ts';
import type { HubPersistence } from './connections/hub-persistence.ts';

/** How somebody has switched a rule or a connection. */
export interface HandSwitch {
  readonly isOn: boolean;
  readonly by: Origin;
}

/** What was switched. */
export interface Switchable {
  readonly kind: 'rule' | 'connection';
  readonly name: string;
  readonly file: string;
}

/** What a store has kept of it. */
interface Kept extends Switchable {
  readonly isOn: boolean;
  readonly by: string;
}

const startedAnew = 'the hub has started anew';

export class HandSwitches {
  readonly #log: Log;
  readonly #persistence: HubPersistence;
  readonly #present = new Map<string, Kept>();

  constructor(log: Log, persistence: HubPersistence) {
    this.#log = log;
    this.#persistence = persistence;
  }

  /** Takes note of a switch; undefined: it is as its flow file says. */
  note(what: Switchable, by: HandSwitch | undefined): void {
    const { kind, name, file } = what;
    const id = idOf(what);
    const kept = by && { kind, name, file, isOn: by.isOn, by: by.by.name };
    if (kept === undefined) {
      if (!this.#present.delete(id)) return;
    } else this.#present.set(id, kept);
    this.#persistence.remember(id, () => kept);
  }

  /** What was switched goes by its flow file again: that is told, unless it stays as it is. `why`: its text has changed. */
  release(what: Switchable, { isOn, by }: HandSwitch, isOnAgain: boolean, why: string): void {
    this.note(what, undefined);
    if (isOn !== isOnAgain) this.#report({ ...what, isOn, by: by.name }, why);
  }

  /**
   * Tells what an earlier run of the hub had switched and is not any more. `isOn` tells how something is; undefined: there is none of
   * the name. To be called whenever a store has given back what it keeps.
   */
  recall(isOn: (what: Switchable) => boolean | undefined): void {
    for (const kept of this.#persistence.takeRemembered().values()) {
      if (!isKept(kept)) continue;
      if (this.#present.has(idOf(kept))) continue;
      this.#persistence.remember(idOf(kept), () => undefined);
      const now = isOn(kept);
      if (now !== undefined && now !== kept.isOn) this.#report(kept, startedAnew);
    }
  }

  /** The hub ends: says what will be as flow files say when it starts again. */
  end(): void {
    for (const kept of this.#present.values())
      this.#log.info({}, `${wordsOf(kept)}: this ends with the hub, at the next start it is as its flow file says`);
  }

  #report(kept: Kept, why: string): void {
    const { kind, name, file, isOn } = kept;
    const again = kind === 'rule' ? `is ${isOn ? 'off' : 'on'} again` : isOn ? 'is disabled again' : 'runs again';
    this.#log.warn({ [kind]: name, file }, `${wordsOf(kept)} and ${again}: ${why}`);
    const after = kind === 'rule' ? (isOn ? 'off' : 'on') : isOn ? 'stop' : 'start';
    this.#persistence.note({ kind, user: 'hub', address: name, after, cause: `${wordsOf(kept)}; ${why}` });
  }
}

/** `rule "lamp" (a.json5) was switched off by api 10.0.0.7` */
function wordsOf({ kind, name, file, isOn, by }: Kept): string {
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
