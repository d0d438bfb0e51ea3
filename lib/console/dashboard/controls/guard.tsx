// Safeguards between an operator's hand and a write: a button that has to be held, a question, and a PIN. These safeguards only prevent
// accidents: what protects a parameter are the user's rights, which the hub checks.

import { createSignal, createUniqueId, type JSX, Show } from 'solid-js';
import { Portal } from 'solid-js/web';
import { t } from '../../language/language.ts';
import { useDelay } from '../../page/page-timers.ts';
import { createHold } from './hold.ts';

/** The number of wrong PINs after which the user has to wait before the next attempt. */
const freeTries = 3;
const waitMs = 5000;

export interface Guarding {
  readonly confirm?: string | undefined;
  readonly hold?: number | undefined;
  readonly pin?: string | undefined;
}

export interface Guard {
  /** Whether the widget asks a question or for a PIN before it acts. */
  readonly asks: boolean;
  /** Runs the work immediately or, if the widget asks, after the operator has responded. */
  run(work: () => void): void;
  /** The dialog with the question or the PIN. */
  readonly Dialog: () => JSX.Element;
}

interface GuardOptions {
  /** The title of the dialog, which names the guarded action. */
  readonly title: string;
  /** Whether the button in the dialog has to be held, because the control itself cannot be held. */
  readonly holdsInDialog?: boolean;
}

/** Creates the guard of a widget, according to its guarding settings. */
export function createGuard(guarding: Guarding, { title, holdsInDialog = false }: GuardOptions): Guard {
  const { confirm, pin } = guarding;
  const hold = holdsInDialog ? guarding.hold : undefined;
  const asks = confirm !== undefined || pin !== undefined || hold !== undefined;
  const [work, setWork] = createSignal<() => void>();
  const close = () => setWork(undefined);
  return {
    asks,
    run(wanted) {
      if (asks) setWork(() => wanted);
      else wanted();
    },
    Dialog: () => (
      <Show when={work()}>
        {(wanted) => (
          <Question
            title={title}
            text={confirm}
            pin={pin}
            hold={hold}
            close={close}
            act={() => {
              const act = wanted(); // the work is gone once the dialog is closed
              close();
              act();
            }}
          />
        )}
      </Show>
    ),
  };
}

function Question(props: {
  readonly title: string;
  readonly text: string | undefined;
  readonly pin: string | undefined;
  readonly hold: number | undefined;
  readonly act: () => void;
  readonly close: () => void;
}) {
  const id = createUniqueId();
  const [typed, setTyped] = createSignal('');
  const [mistake, setMistake] = createSignal('');
  const [isWaiting, setWaiting] = createSignal(false);
  const waiting = useDelay();
  let tries = 0;
  const act = () => {
    if (props.pin === undefined || typed() === props.pin) return props.act();
    setTyped('');
    tries += 1;
    if (tries % freeTries !== 0) return setMistake(t('Wrong PIN.'));
    setMistake(t('Wrong PIN. Wait {1} seconds.', waitMs / 1000));
    setWaiting(true);
    return waiting.start(waitMs, () => {
      setWaiting(false);
      setMistake('');
    });
  };
  const type = (digit: string) => !isWaiting() && setTyped((former) => `${former}${digit}`.slice(0, 8));
  return (
    <Portal mount={document.querySelector('.panel-page') ?? document.body}>
      <dialog
        class="guard"
        ref={(dialog) => queueMicrotask(() => dialog.isConnected && !dialog.open && dialog.showModal())}
        aria-labelledby={id}
        onClose={() => props.close()}
      >
        <h2 id={id}>{props.title}</h2>
        <Show when={props.text}>
          <p>{props.text}</p>
        </Show>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (props.hold === undefined && !isWaiting()) act();
          }}
        >
          <Show when={props.pin !== undefined}>
            <label>
              PIN{' '}
              <input
                type="password"
                inputMode="numeric"
                autocomplete="off"
                maxLength={8}
                value={typed()}
                disabled={isWaiting()}
                onInput={(event) => setTyped(event.currentTarget.value)}
              />
            </label>
            <div class="keypad">
              {['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'].map((digit) => (
                <button type="button" disabled={isWaiting()} onClick={() => type(digit)}>
                  {digit}
                </button>
              ))}
              <button type="button" disabled={isWaiting()} onClick={() => setTyped((former) => former.slice(0, -1))}>
                {t('Delete')}
              </button>
            </div>
            <p role="alert" class="error">
              {mistake()}
            </p>
          </Show>
          <div class="actions">
            <button type="button" onClick={() => props.close()}>
              {t('Cancel')}
            </button>
            <HoldButton seconds={props.hold} class="primary" disabled={isWaiting()} type="submit" act={act}>
              {props.hold === undefined ? t('Set') : t('Hold for {1} s to set', props.hold)}
            </HoldButton>
          </div>
        </form>
      </dialog>
    </Portal>
  );
}

// A button that acts after it has been held for a time. A screen reader presses a button without holding it; in this case, the button asks
// a question.

interface HoldButtonProps {
  readonly seconds: number | undefined;
  readonly act: () => void;
  readonly type?: 'submit' | 'button';
  readonly class?: string;
  readonly classList?: Record<string, boolean | undefined>;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
  readonly tone?: string | undefined;
  readonly pressed?: boolean | undefined;
  readonly label?: string | undefined;
  readonly children: JSX.Element;
}

export function HoldButton(props: HoldButtonProps) {
  const { seconds } = props;
  const delay = useDelay();
  let isByHand = false;
  const hold = createHold({
    isFree: () => !props.disabled,
    async press() {
      isByHand = true;
      delay.start((seconds ?? 0) * 1000, () => props.act());
    },
    release: delay.stop,
  });
  const guard = createGuard(
    { confirm: t('This button normally has to be held down. Set the value anyway?') },
    { title: props.label ?? t('Set') },
  );
  const click = () => {
    if (seconds === undefined) return props.type === 'submit' ? undefined : props.act();
    if (!isByHand) guard.run(props.act);
    isByHand = false;
    return undefined;
  };
  return (
    <>
      <button
        type={seconds === undefined ? (props.type ?? 'button') : 'button'}
        class={props.class}
        classList={{ ...props.classList, holding: seconds !== undefined && hold.isHeld() }}
        style={seconds === undefined ? undefined : { '--hold': `${seconds}s` }}
        disabled={props.disabled}
        title={props.title ?? (seconds === undefined ? undefined : t('Hold for {1} s', seconds))}
        data-tone={props.tone}
        data-hold={seconds}
        aria-pressed={props.pressed}
        aria-label={props.label}
        onClick={click}
        {...(seconds !== undefined && hold.listeners)}
      >
        {props.children}
      </button>
      {guard.Dialog()}
    </>
  );
}
