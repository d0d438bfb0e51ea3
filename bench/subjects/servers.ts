// How the subjects that have a server measure it: a fresh process, a load, and an orderly end.

import { performTask, type ServerProcess } from '../process.ts';

/** Starts a server, runs a load against it and stops it, whatever happens; resolves to what the load reports. */
export async function measureServer<Result>(
  start: () => Promise<ServerProcess>,
  load: string,
  task: (server: ServerProcess) => object,
): Promise<Result> {
  const server = await start();
  try {
    const result = await performTask<Result>(load, task(server));
    await server.stop();
    return result;
  } catch (error) {
    await server.stop().catch(() => {}); // what the load found comes first
    throw error;
  }
}
