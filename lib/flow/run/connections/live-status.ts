// How a connection is doing: shown, logged when it becomes another, and written to its status parameter.

import { BehaviorSubject, type Observable } from 'rxjs';
import type { Log } from '../../../connections/connection.ts';
import type { ConnectionState, ConnectionStatus } from '../../../model/reports/connection-status.ts';
import { withoutSecrets } from '../../../model/secret.ts';
import { wallClock } from '../../../model/time/wall-clock.ts';
import { type ConnectionPlan, statusParameterId } from '../../plan.ts';
import type { OwnParameters } from './own-parameters.ts';

/** How a connection is doing, as far as its supervisor knows. */
export type SupervisedStatus = Omit<ConnectionStatus, 'enabled' | 'parameters' | 'file'>;

export class LiveStatus {
  readonly #status$: BehaviorSubject<SupervisedStatus>;
  readonly #parameters: OwnParameters;
  readonly #log: Log;
  readonly #secretsOf: () => readonly string[];
  #since = wallClock.pin(wallClock.now());

  constructor(
    { id, type, description, enabled }: ConnectionPlan,
    parameters: OwnParameters,
    log: Log,
    secretsOf: () => readonly string[],
  ) {
    this.#parameters = parameters;
    this.#log = log;
    this.#secretsOf = secretsOf;
    this.#status$ = new BehaviorSubject<SupervisedStatus>({
      id,
      type: type.type,
      description: withoutSecrets(description, secretsOf()),
      state: enabled ? 'degraded' : 'disabled',
      reason: enabled ? 'starting' : '',
      since: this.#since(),
    });
  }

  /** Replays the present status, completes when the connection is stopped, never errors. */
  get status$(): Observable<SupervisedStatus> {
    return this.#status$.asObservable();
  }

  get present(): SupervisedStatus {
    return { ...this.#status$.value, since: this.#since() };
  }

  describe(words: string): void {
    const description = withoutSecrets(words, this.#secretsOf());
    if (description !== this.present.description) this.#status$.next({ ...this.present, description });
  }

  enter(state: ConnectionState, why: string): void {
    const reason = withoutSecrets(why, this.#secretsOf());
    const last = this.present;
    if (last.state === state && last.reason === reason) return;
    this.#since = wallClock.pin(wallClock.now());
    this.#status$.next({ ...last, state, reason, since: this.#since() });
    const message = `connection "${last.id}" is ${state}${reason && `: ${reason}`}`;
    if (state === 'failed') this.#log.error({}, message);
    else if (state === 'degraded') this.#log.warn({}, message);
    else this.#log.info({}, message);
    this.showConnected(state === 'running');
  }

  /** Writes the status parameter, where the connection has one. */
  showConnected(isConnected: boolean): void {
    this.#parameters.setIfThere(statusParameterId, isConnected);
  }

  complete(): void {
    this.#status$.complete();
  }
}
