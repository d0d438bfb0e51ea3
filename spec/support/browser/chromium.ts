import { createRequire } from 'node:module';

/** As CommonJS: of an `import`, Node.js would read 7 MB for the names in it, a fifth of a second for each file of specs. */
export const { chromium } = createRequire(import.meta.url)('playwright-core') as typeof import('playwright-core');
