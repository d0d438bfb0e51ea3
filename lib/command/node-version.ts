// The first import of the command line. With a version of Node.js that patchbay does not support it says so and ends the
// process, before anything else fails with a message that helps nobody.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isSupported = (major === 22 && minor >= 18) || (major === 24 && minor >= 11) || major >= 26;

if (!isSupported) {
  const inClone = import.meta.url.endsWith('.ts');
  const again = inClone ? "-c 'npm install && npm start'" : '-p patchbay-hub patchbay';
  process.stderr.write(
    `patchbay needs Node.js 22 from 22.18, 24 from 24.11, or 26, and this is ${process.versions.node}: npx -y -p node@22 ${again}\n`,
  );
  process.exit(1);
}

export {};
