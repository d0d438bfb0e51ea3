// Real proxies before a hub, each with the configuration that docs/network.md prints.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { eventually } from '../deadline.ts';
import { pathOf } from '../programs.ts';
import { dependent } from './dependent.ts';
import { isListening } from './port.ts';

const page = join(import.meta.dirname, '../../../docs/network.md');

/** The text of the block of a language in that page, with some parts of it replaced, each of which must be there. */
export async function printed(
  t: ExecutionContext,
  language: string,
  replaced: readonly (readonly [string, string])[],
): Promise<string> {
  let [, text = ''] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(await readFile(page, 'utf8')) ?? [];
  for (const [part, by] of replaced) {
    t.true(text.includes(part), `${language}: ${part}`);
    text = text.replaceAll(part, by);
  }
  return text;
}

/** Runs a proxy until the test ends; resolves when it listens on a port. */
export async function runProxy(
  t: ExecutionContext,
  port: number,
  name: string,
  args: readonly string[],
): Promise<void> {
  const child = spawn(...dependent(pathOf(name)!, args));
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.on('data', (data) => {
      said = `${said}${data}`.slice(-4000);
    });
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill();
    await ended;
  });
  const looking = eventually(() => isListening(port), `${name} listening`);
  await Promise.race([
    looking,
    ended.then(() => {
      throw new Error(`${name} has ended: ${said}`);
    }),
  ]);
}

/** Runs nginx with the server that the README prints, on a port before a hub; `replaced` are other parts of it. */
export async function runNginx(
  t: ExecutionContext,
  folder: string,
  hubPort: number,
  port: number,
  replaced: readonly (readonly [string, string])[] = [],
): Promise<void> {
  const listen = ['listen 80', `listen 127.0.0.1:${port}`] as const;
  const site = await printed(t, 'nginx', [...replaced, ['127.0.0.1:17011', `127.0.0.1:${hubPort}`], listen]);
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = kinds.map((kind) => `${kind}_temp_path ${folder}/nginx-${port}-${kind};`);
  const file = join(folder, `nginx-${port}.conf`);
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder}/nginx-${port}.pid; error_log stderr warn;
events {}
http { access_log off; ${temporary.join(' ')}
${site}}`,
  );
  await runProxy(t, port, 'nginx', ['-p', folder, '-c', file, '-e', 'stderr']);
}
