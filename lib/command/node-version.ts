// The first import of the command line. On an unsupported version of Node.js, prints a clear error and ends the process before anything
// else fails with a cryptic error.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isSupported = (major === 22 && minor >= 18) || (major === 24 && minor >= 11) || major >= 26;

if (!isSupported) {
  const inClone = import.meta.url.endsWith('.ts');
  const again = inClone ? "-c 'npm install && npm start'" : '-p patchbay-hub patchbay';
  process.stderr.write(
    `patchbay needs Node.js 22.18+, 24.11+ or 26+, got ${process.versions.node}. Run it with another version: npx -y -p node@22 ${again}\n`,
  );
  process.exit(1);
}

export {};
