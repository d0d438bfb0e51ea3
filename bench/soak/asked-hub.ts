// What a hub that is soaked is asked over HTTP.

import type { ConnectionList, ConnectionStatus } from '../../lib/wire/http/operation/connections.ts';
import type { RuleList } from '../../lib/wire/http/operation/rules.ts';

export class AskedHub {
  readonly #url: string;

  constructor(port: number) {
    this.#url = `http://127.0.0.1:${port}`;
  }

  async set(parameter: string, value: string | number): Promise<void> {
    const answer = await fetch(`${this.#url}/update`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ parameter, value }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.text();
  }

  async value(address: string): Promise<string> {
    return (await fetch(`${this.#url}/parameters/${address}`)).text();
  }

  /** The values of a connection, in the order of its parameters. */
  async values(connection: string): Promise<readonly unknown[]> {
    const listed = await this.#json<readonly { value?: unknown }[]>(`/hub/parameters?filter=^${connection}/`);
    return listed.map(({ value }) => value);
  }

  async connection(id: string): Promise<ConnectionStatus> {
    const { connections } = await this.#json<ConnectionList>('/hub/connections');
    return connections.find((connection) => connection.id === id)!;
  }

  async ruleState(name: string): Promise<string> {
    return (await this.#json<RuleList>('/hub/rules')).find((rule) => rule.name === name)!.state;
  }

  async #json<Answer>(path: string): Promise<Answer> {
    return (await fetch(`${this.#url}${path}`)).json() as Promise<Answer>;
  }
}
