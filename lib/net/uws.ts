// The only file that imports uWebSockets.js. npm provides its binaries in two versions: the newer version needs glibc 2.38; the older
// version also runs on older machines, with Node.js versions up to 23. The hub uses the first version that loads.
import { createRequire } from 'node:module';
import { arch, platform, report, versions } from 'node:process';
import type uws from 'uws-legacy';
import { HubError, messageOf } from '../model/error.ts';

export type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uws-legacy';

const require = createRequire(import.meta.url);
const packages = ['uws-modern', 'uws-legacy'];

let loaded: typeof uws | undefined;
let loadedName: string | undefined;

interface Tls {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ListenSocket {
  readonly port: number;
  /** Stops accepting connections. Existing connections stay open. */
  close(): void;
}

/** The signature of `listen` with a host, which the library supports but its type declarations lack. */
interface HostListener {
  listen(host: string, port: number, options: number, keep: (socket: uws.us_listen_socket | false) => void): void;
}

/**
 * Encodes a string as UTF-8. Strings that are used repeatedly are encoded once, because the library uses bytes directly but copies strings
 * first.
 */
export function encodeText(text: string): ArrayBuffer {
  return new TextEncoder().encode(text).buffer as ArrayBuffer;
}

/**
 * The TLS 1.2 ciphers with forward secrecy and authenticated encryption, under their OpenSSL names. All ciphers of TLS 1.3 have both
 * properties, and the library supports no version before TLS 1.2.
 */
const ciphers = ['ECDSA', 'RSA'].flatMap((signature) =>
  ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].map((cipher) => `ECDHE-${signature}-${cipher}`),
);

/**
 * Returns whether the loaded version of the library may close a WebSocket whose handshake is answered late, within the cork of its own
 * response.
 */
export function closesLateUpgrades(): boolean {
  load();
  return loadedName === 'uws-legacy';
}

/** Creates a uWebSockets.js app that serves HTTP or, with `tls`, HTTPS. Errors: `cannot-start`. */
export function createApp(tls: Tls | undefined): uws.TemplatedApp {
  const library = load();
  if (tls === undefined) return library.App();
  try {
    return library.SSLApp({
      cert_file_name: tls.certFile,
      key_file_name: tls.keyFile,
      ssl_ciphers: ciphers.join(':'),
    });
  } catch (error) {
    throw new HubError(
      'cannot-start',
      `tls: cannot use the certificate and its key, which must be in PEM form: ${messageOf(error)}`,
    );
  }
}

/**
 * Listens on a port of a host; an empty host means all addresses, and port 0 any free port. Errors: `cannot-start` if the port is in use or
 * the host is not this machine, in which case the app is closed.
 */
export function listen(app: uws.TemplatedApp, host: string, port: number): ListenSocket {
  const library = load();
  const exclusive = 1; // LIBUS_LISTEN_EXCLUSIVE_PORT: without this option, two hubs share a port, and each gets half of the clients
  let listening: uws.us_listen_socket | false = false;
  const keep = (socket: uws.us_listen_socket | false) => {
    listening = socket;
  };
  if (host === '') app.listen(port, exclusive, keep);
  else (app as typeof app & HostListener).listen(host, port, exclusive, keep);
  if (!listening) {
    app.close();
    const place = host === '' ? `port ${port}` : `${host} port ${port}`;
    throw new HubError(
      'cannot-start',
      `port: expected a free port, but ${place} is in use or does not belong to this machine: set another port, or stop the program that uses it`,
    );
  }
  const socket: uws.us_listen_socket = listening;
  return { port: library.us_socket_local_port(socket), close: () => library.us_listen_socket_close(socket) };
}

function load(): typeof uws {
  if (loaded !== undefined) return loaded;
  let reason = '';
  for (const name of packages) {
    try {
      loaded = require(name) as typeof uws;
      loadedName = name;
      return loaded;
    } catch (error) {
      reason ||= messageOf(error).replaceAll(/\s+/g, ' ');
    }
  }
  const { glibcVersionRuntime: glibc } = (report.getReport() as { header: { glibcVersionRuntime?: string } }).header;
  throw new HubError('cannot-start', whyNoLibrary({ nodeVersion: versions.node, platform, arch, glibc, reason }));
}

// Explains why uWebSockets.js does not load, and suggests a remedy. npm installs its binary only for the Node.js version that runs `npm
// install`. The newer binaries need glibc 2.38; the older binaries exist for Node.js 22 and before.

/** The properties of the machine that determine which binary is needed. */
export interface Machine {
  readonly nodeVersion: string;
  /** The operating system and the processor, under the names that Node.js uses, such as `linux` and `x64`. */
  readonly platform: string;
  readonly arch: string;
  /** The version of glibc with which Node.js runs. On Linux, undefined means another C library, such as musl. */
  readonly glibc: string | undefined;
  /** The message of the error with which the library failed to load. */
  readonly reason: string;
}

const majors = [22, 24, 26];
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];
const neededGlibc = [2, 38] as const;
const withNode22 = "npx -y -p node@22 -c 'npm install && npm start'";

/** Returns a sentence that explains why the library does not load, and what to do. */
export function whyNoLibrary({ nodeVersion, platform, arch, glibc, reason }: Machine): string {
  const node = `Node.js ${nodeVersion}`;
  const major = Number.parseInt(nodeVersion, 10);
  const place = `${platform}-${arch}`;
  if (!platforms.includes(place))
    return `uWebSockets.js has no binary for ${place}: use one of ${platforms.join(', ')}`;
  if (platform === 'linux' && glibc === undefined)
    return 'uWebSockets.js needs Linux with glibc, but this system has another C library, such as musl on Alpine: use Debian, Ubuntu, Fedora …';
  if (!majors.includes(major)) return `uWebSockets.js has no binary for ${node}: use Node.js 22, as ${withNode22} does`;
  if (platform === 'linux' && major > 22 && isOlder(glibc!))
    return `uWebSockets.js for ${node} needs glibc ${neededGlibc.join('.')}, and this machine has ${glibc}: use Node.js 22, as ${withNode22} does`;
  if (/Cannot find (module|package)/.test(reason))
    return `uWebSockets.js was not installed for ${node}, which is running: run npm install again with it`;
  return `uWebSockets.js cannot be loaded by ${node}: ${reason}`;
}

function isOlder(glibc: string): boolean {
  const [major = 0, minor = 0] = glibc.split('.').map(Number);
  return major < neededGlibc[0] || (major === neededGlibc[0] && minor < neededGlibc[1]);
}
