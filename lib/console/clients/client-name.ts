// The names of clients as people know them: the user, the name that a client gives itself, its browser, or its host.

import type { ClientStatus } from '../../wire/http/operation.ts';
import { pageName, pageNamePrefix } from '../hub/page-name.ts';
import { t } from '../language/language.ts';

type Named = Pick<ClientStatus, 'user' | 'address' | 'name' | 'browser'>;

/** Returns whether a client is the page in which this code is running, given the client's name. */
export function isThisPage({ name }: Named): boolean {
  return name === pageName;
}

/** Returns the name under which a client is shown: `olivia`, `door-tablet`, `Firefox on Linux`, or otherwise the client's host. */
export function clientName({ user, address, name = '', browser = '' }: Named): string {
  return user || ownName(name) || browser || hostName(address);
}

/** Returns further facts about a client, on one line: `console, Firefox on Linux, localhost`. */
export function clientFacts(client: Named): string {
  const { address, name = '', browser = '' } = client;
  const isConsole = name.startsWith(pageNamePrefix);
  const facts = [ownName(name), isConsole ? t('console') : '', browser, hostName(address)];
  return facts.filter((fact) => fact && fact !== clientName(client)).join(', ');
}

/**
 * Returns the name shown for a host: `localhost` for the machine itself (`127.0.0.1` and `::1`, also in unabbreviated form), otherwise the
 * address.
 */
export function hostName(address: string): string {
  return /^(127\.\d+\.\d+\.\d+|::1|(0{1,4}:){7}0{0,3}1)$/.test(address) ? 'localhost' : address;
}

function ownName(name: string): string {
  return name.startsWith(pageNamePrefix) ? '' : name;
}
