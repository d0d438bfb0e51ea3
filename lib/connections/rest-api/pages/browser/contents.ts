// GET /hub/ without the console: a list of what there is to ask for, for people who come by browser or curl.

import type { HubPort } from '../../../hub-port.ts';

const paths = [
  ['/parameters/<address>', 'the value of a parameter'],
  ['/update?parameter=<address>&value=<value>', 'sets a parameter, or fires a trigger; also by POST'],
  ['/ws', 'WebSocket: every change, and updates; ?snapshot=true, ?filter=<regex>'],
  ['/hub/client.js', "the client library for pages: import { connect } from '/hub/client.js'"],
  ['/hub/parameters', 'all parameters with state and metadata; ?filter=<regex>'],
  ['/hub/explain/<address>', 'why a parameter is as it is'],
  ['/hub/connections', 'how each connection is doing; POST /hub/connections/<id> starts, stops or restarts one'],
  ['/hub/rules', 'how each rule is doing: running, limited, failing, waiting, disabled; POST switches one on or off'],
  ['/hub/trace?rule=<name>', 'the last runs of a rule'],
  ['/hub/shadow', 'what would have been done in shadow; POST /hub/reload takes over what flow files say'],
  ['/hub/files', 'the flow files, and what the last load said of them'],
  ['/hub/log?after=<n>&level=<level>', 'the newest entries of the log'],
  ['/hub/clients', 'who is connected by WebSocket, slow ones first'],
  ['/hub/dashboards', 'the dashboards of the console; /hub/dashboards/<name>'],
  ['/hub/openapi.json', 'all of this for machines, OpenAPI 3.1'],
  ['/hub/health', 'how the hub, its connections and its log are'],
] as const;

/** A line of plain text per path, under the version of the hub. */
export function contentsOf({ version }: HubPort): string {
  const width = Math.max(...paths.map(([path]) => path.length));
  const lines = paths.map(([path, meaning]) => `${path.padEnd(width)}  ${meaning}`);
  return `patchbay ${version}\n\n${lines.join('\n')}\n`;
}
