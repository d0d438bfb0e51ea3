// GET /hub/: what there is to ask for, for people who come by browser or curl.

import type { HubPort } from '../connection.ts';

const paths = [
  ['/parameters/<address>', 'the value of a parameter'],
  ['/update?parameter=<address>&value=<value>', 'sets a parameter, or fires a trigger; also by POST'],
  ['/ws', 'WebSocket: every change, and updates; ?snapshot=true, ?filter=<regex>'],
  ['/hub/client.js', "the client library for pages: import { connect } from '/hub/client.js'"],
  ['/hub/parameters', 'all parameters with state and metadata; ?filter=<regex>'],
  ['/hub/explain/<address>', 'why a parameter is as it is'],
  ['/hub/rules', 'how each rule is doing: running, limited, failing'],
  ['/hub/trace?rule=<name>', 'the last runs of a rule'],
  ['/hub/health', 'how the hub and its connections are'],
] as const;

/** A line of plain text per path, under the version of the hub. */
export function contentsOf({ version }: HubPort): string {
  const width = Math.max(...paths.map(([path]) => path.length));
  const lines = paths.map(([path, meaning]) => `${path.padEnd(width)}  ${meaning}`);
  return `patchbay ${version}\n\n${lines.join('\n')}\n`;
}
