// A link that signs in a kiosk: first the choice of user and dashboard, and then the link itself, as text and as a QR code for the kiosk's
// camera.

import { generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { createSignal, For, Show } from 'solid-js';
import { createMatcher } from '../../client/replica/replica-pattern.ts';
import type { DashboardList } from '../../wire/http/operation.ts';
import type { UserActed, UserAction, UserInfo } from '../../wire/http/user-shapes.ts';
import { createAttempt, getJson, postJson } from '../hub/page-request.ts';
import { copyText } from '../page/clipboard.ts';
import { Fault } from '../parts/view-bar.tsx';

/** Creates a dialog that invites a kiosk for a user, and the function that opens the dialog. `changed` is called after each invitation. */
export function createKioskInvitation(changed: () => void) {
  const [user, setUser] = createSignal('');
  const [link, setLink] = createSignal('');
  const [isCopied, setCopied] = createSignal(false);
  const { failure, run } = createAttempt(changed);
  const [dashboards, setDashboards] = createSignal<readonly string[]>([]);
  const [dashboard, setDashboard] = createSignal('');
  let dialog!: HTMLDialogElement;
  let name!: HTMLInputElement;
  const offer = (names: readonly string[]) => {
    setDashboards(names);
    setDashboard(names[0] ?? '');
  };
  const invite = ({ name: chosen, dashboards: mayOpen, manage }: UserInfo) => {
    setUser(chosen);
    setLink('');
    setCopied(false);
    dialog.showModal();
    name.focus();
    void getJson<DashboardList>('/hub/dashboards').then(
      (answer) => offer(answer.dashboards.filter(manage ? () => true : createMatcher(mayOpen, []))),
      () => offer([]),
    );
  };
  const create = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const action = { action: 'invite', user: user(), device: String(given.get('name')) } as const;
    void run(async () => {
      const request = { ...action, ...(dashboard() !== '' && { dashboard: dashboard() }) } satisfies UserAction;
      const { link: path = '' } = await postJson<UserActed>('/hub/users', request);
      setLink(new URL(path, location.href).href);
    });
  };
  const KioskInvitation = () => (
    <dialog
      ref={(element) => {
        dialog = element;
      }}
      class="invitation"
      aria-labelledby="invitation"
    >
      <h2 id="invitation">Invite a kiosk for {user()}</h2>
      <Show
        when={link()}
        fallback={
          <form onSubmit={create}>
            <p>The link signs in one device without a password. It works once and expires after 24 hours.</p>
            <label>
              Name of the device{' '}
              <input
                ref={(element) => {
                  name = element;
                }}
                name="name"
                required
                maxLength={100}
                placeholder="Reception"
                autocomplete="off"
              />
            </label>
            <label>
              Shows{' '}
              <select value={dashboard()} onChange={({ currentTarget: { value } }) => setDashboard(value)}>
                <For each={dashboards()}>{(one) => <option value={one}>{one}</option>}</For>
                <option value="">the whole console</option>
              </select>
            </label>
            <Fault text={failure()} />
            <p class="actions">
              <button type="button" onClick={() => dialog.close()}>
                Cancel
              </button>
              <button type="submit" class="main">
                Create link
              </button>
            </p>
          </form>
        }
      >
        <p>Open this link on the device, or scan the code with its camera. It works once and expires after 24 hours.</p>
        <QrCode text={link()} />
        <p class="mono link">{link()}</p>
        <Show when={isLocal()}>
          <p class="muted">
            Other devices cannot reach the hub at {location.hostname}: open the console at an address that the device
            can reach, and create the link there.
          </p>
        </Show>
        <p class="actions">
          <button type="button" onClick={async () => setCopied(await copyText(link()))}>
            {isCopied() ? 'Copied' : 'Copy link'}
          </button>
          <button type="button" class="main" onClick={() => dialog.close()}>
            Done
          </button>
        </p>
      </Show>
    </dialog>
  );
  return { invite, KioskInvitation };
}

const isLocal = () => /^(localhost|127\.|\[::1\])/.test(location.hostname);

/** The width of the light border that readers of QR codes need, in modules. */
const border = 4;

function QrCode(props: { readonly text: string }) {
  const code = () => generate(props.text);
  const size = () => code().size + 2 * border;
  return (
    <svg class="qr" viewBox={`${-border} ${-border} ${size()} ${size()}`} role="img" aria-label="QR code of the link">
      <path d={toSvgPath(code())} />
    </svg>
  );
}
