// Loaded into a server before it starts (`--import`): tells at SIGUSR2 what the process holds in memory.

import { renameSync, writeFileSync } from 'node:fs';
import { memoryFileOf, usedMemory } from './used-memory.ts';

process.on('SIGUSR2', () => {
  const file = memoryFileOf(process.pid);
  writeFileSync(`${file}.part`, JSON.stringify(usedMemory()));
  renameSync(`${file}.part`, file);
});
