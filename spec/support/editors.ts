// Users who edit the flow files of a hub over HTTP.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EditResult, SourceAnswer } from '../../lib/wire/http/editing-shapes.ts';
import type { Problem } from '../../lib/wire/http/problem.ts';
import type { HubUnderTest } from './hub.ts';

export class Editors {
  readonly hub: HubUnderTest;
  constructor(hub: HubUnderTest) {
    this.hub = hub;
  }

  name(file: string): string {
    return join(this.hub.folder, file);
  }

  text(file: string): Promise<string> {
    return readFile(this.name(file), 'utf8');
  }

  async get<Answer>(path: string, token = 'owner-token-of-the-hub'): Promise<{ status: number; body: Answer }> {
    const answer = await fetch(`http://127.0.0.1:${this.hub.port}${path}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    });
    return { status: answer.status, body: (await answer.json()) as Answer };
  }

  async post<Answer>(path: string, body: object, token = 'owner-token-of-the-hub') {
    const answer = await fetch(`http://127.0.0.1:${this.hub.port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: JSON.parse(text) as Answer };
  }

  async source(file: string, token?: string): Promise<SourceAnswer> {
    const { body } = await this.get<SourceAnswer>(`/hub/source/${encodeURIComponent(this.name(file))}`, token);
    return body;
  }

  async edit(file: string, ops: object[], mode = 'save', token?: string) {
    const { etag } = await this.source(file);
    return this.post<EditResult & Problem>('/hub/edit', { file: this.name(file), base: etag, ops, mode }, token);
  }
}
