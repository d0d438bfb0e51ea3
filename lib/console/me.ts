// Who uses the console, and what that may do. What it may not do is not offered.

import { createResource } from 'solid-js';
import type { Me } from '../wire/http/users.ts';
import { isStale } from './hub.ts';
import { getJson, postJson } from './request.ts';
import type { View } from './views.ts';

/** Asks again when the link is back: somebody may have changed what one may do. */
export function useMe() {
  const [me] = createResource(
    () => !isStale(),
    () => getJson<Me>('/hub/me').catch(() => undefined),
  );
  return me;
}

/** Whether a view is of use; as long as nothing is known, each of them is. */
export function isOffered({ needsManage = false }: View, me: Me | undefined): boolean {
  return !needsManage || (me?.manage ?? true);
}

/** Ends what the cookie of this browser is good for; one that came with other credentials has none. */
export async function signOut(): Promise<void> {
  await postJson('/hub/sign-out', {}).catch(() => {});
  location.assign('/hub/sign-in');
}
