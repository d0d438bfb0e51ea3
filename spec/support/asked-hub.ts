// What a hub is asked over HTTP. What it refuses is an error: no load and no script goes on as if it had been done.

import type { Value } from '../../lib/model/value.ts';
import type { ConnectionList, ConnectionStatus, RuleList } from '../../lib/wire/http/operation.ts';
import type { Explanation, ParameterInfo, Update } from '../../lib/wire/http/parameter-shapes.ts';

export class AskedHub {
  readonly #url: string;

  constructor(port: number) {
    this.#url = `http://127.0.0.1:${port}`;
  }

  async set(parameter: string, value: Value): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    await this.#ask('/update', {
      method: 'POST',
      headers,
      body: JSON.stringify({ parameter, value } satisfies Update),
    });
  }

  value(address: string): Promise<string> {
    return this.#ask(`/parameters/${address}`);
  }

  /** All parameters, or those of a connection in their order. */
  parameters(connection?: string): Promise<readonly ParameterInfo[]> {
    return this.#json(`/hub/parameters${connection === undefined ? '' : `?filter=^${connection}/`}`);
  }

  /** The values of a connection, in the order of its parameters. */
  async values(connection: string): Promise<readonly (Value | undefined)[]> {
    return (await this.parameters(connection)).map(({ value }) => value);
  }

  explain(address: string): Promise<Explanation> {
    return this.#json(`/hub/explain/${address}`);
  }

  async connection(id: string): Promise<ConnectionStatus> {
    const { connections } = await this.#json<ConnectionList>('/hub/connections');
    return connections.find((connection) => connection.id === id)!;
  }

  async ruleState(name: string): Promise<string> {
    return (await this.#json<RuleList>('/hub/rules')).find((rule) => rule.name === name)!.state;
  }

  async #json<Answer>(path: string): Promise<Answer> {
    return JSON.parse(await this.#ask(path)) as Answer;
  }

  async #ask(path: string, { headers, ...request }: { headers?: object; method?: string; body?: string } = {}) {
    // A connection that is kept may be closed by the hub meanwhile.
    const answer = await fetch(`${this.#url}${path}`, { ...request, headers: { ...headers, connection: 'close' } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: expected an answer, got ${answer.status}: ${text.slice(0, 300)}`);
    return text;
  }
}
