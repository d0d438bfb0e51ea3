// Why uWebSockets.js does not load, in one sentence that says what to do. npm installs its binary only for the Node.js that runs
// `npm install`. The newer binaries need glibc 2.38; the older ones exist for Node.js 22 and before.

/** What decides which binary loads. */
export interface Machine {
  readonly nodeVersion: string;
  /** The names that Node.js gives them: `linux`, `x64`. */
  readonly platform: string;
  readonly arch: string;
  /** The glibc that Node.js runs with. Undefined on Linux means another C library, such as musl. */
  readonly glibc: string | undefined;
  /** What the loader said. */
  readonly reason: string;
}

const majors = [22, 24, 26];
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];
const neededGlibc = [2, 38] as const;
const withNode22 = "npx -y -p node@22 -c 'npm install && npm start'";

/** Says what runs here, what is missing, and what helps. */
export function whyNoLibrary({ nodeVersion, platform, arch, glibc, reason }: Machine): string {
  const node = `Node.js ${nodeVersion}`;
  const major = Number.parseInt(nodeVersion, 10);
  const place = `${platform}-${arch}`;
  if (!platforms.includes(place))
    return `uWebSockets.js has no binary for ${place}: use one of ${platforms.join(', ')}`;
  if (platform === 'linux' && glibc === undefined)
    return 'uWebSockets.js needs Linux with glibc, and here is another C library, such as musl of Alpine: use Debian, Ubuntu, Fedora …';
  if (!majors.includes(major)) return `uWebSockets.js has no binary for ${node}: use Node.js 22, as ${withNode22} does`;
  if (platform === 'linux' && major > 22 && isOlder(glibc!))
    return `uWebSockets.js for ${node} needs glibc ${neededGlibc.join('.')}, and this machine has ${glibc}: use Node.js 22, as ${withNode22} does`;
  if (/Cannot find (module|package)/.test(reason))
    return `uWebSockets.js was installed for another Node.js than ${node}, which runs now: run npm install again with this one`;
  return `uWebSockets.js cannot be loaded by ${node}: ${reason}`;
}

function isOlder(glibc: string): boolean {
  const [major = 0, minor = 0] = glibc.split('.').map(Number);
  return major < neededGlibc[0] || (major === neededGlibc[0] && minor < neededGlibc[1]);
}
