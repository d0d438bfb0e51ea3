// Why uWebSockets.js does not load, in one sentence that says what to do. npm installs its binary for the Node.js that runs
// `npm install` alone; the newer binaries need glibc 2.38, the older ones are there for Node.js 22 and before.

/** What decides which binary loads. */
export interface Machine {
  readonly nodeVersion: string;
  /** As Node.js has them: `linux`, `x64`. */
  readonly platform: string;
  readonly arch: string;
  /** The glibc that Node.js runs with; undefined on Linux: it is another library, such as musl. */
  readonly glibc: string | undefined;
  /** The error of the loader. */
  readonly reason: string;
}

const majors = [22, 24, 26];
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];
const neededGlibc = [2, 38] as const;
const withNode22 = "npx -y -p node@22 -c 'npm install && npm start'";

/** Says why there is no library on a machine: what runs, what is missing, what helps. */
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
