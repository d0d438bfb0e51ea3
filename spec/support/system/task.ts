// The other end of process.ts: what a process of a benchmark reads as its task and reports to the one that started it.

/** What a process reports: its result, or what was wrong. */
export type Answer<Result> = { readonly result: Result } | { readonly mistake: string };

/** Runs the work of this process with its task and reports what comes of it. */
export async function runTask<Task>(work: (task: Task) => Promise<unknown> | unknown): Promise<void> {
  process.on('disconnect', () => process.exit()); // the one that asked has gone, or has what it needs
  try {
    answer({ result: await work(JSON.parse(process.argv[2]!) as Task) });
  } catch (error) {
    answer({ mistake: error instanceof Error ? error.message : String(error) });
  }
}

function answer(message: Answer<unknown>): void {
  process.send!(message);
}
