// What a hub that logs JSON has said.

/** The messages of the whole lines of a log; the files in `folder`, if it is given, are named without it. */
export function messagesOf(output: string, folder?: string): string[] {
  const messages = output
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  return folder === undefined ? messages : messages.map((message) => message.replaceAll(`${folder}/`, ''));
}
