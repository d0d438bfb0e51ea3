// The control file of the Debian package.

export interface ControlFacts {
  readonly version: string;
  /** The installed size. */
  readonly kibibytes: number;
  readonly nodeVersion: string;
  /** `Patchbay <patchbay@example.org>`. */
  readonly maintainer: string;
}

/** A version as Debian orders it: `0.2.0~rc.1` comes before `0.2.0`. */
export function debianVersionOf(version: string): string {
  return version.replace('-', '~');
}

export function controlOf({ version, kibibytes, nodeVersion, maintainer }: ControlFacts): string {
  return [
    'Package: patchbay',
    `Version: ${debianVersionOf(version)}`,
    'Architecture: amd64',
    `Maintainer: ${maintainer}`,
    `Installed-Size: ${kibibytes}`,
    'Depends: init-system-helpers (>= 1.54~), libc6 (>= 2.36), libgcc-s1, libstdc++6 (>= 12)',
    'Recommends: systemd',
    'Section: misc',
    'Priority: optional',
    'Description: hub of parameters: connections, rules and dashboards meet',
    ' Patchbay wires buttons, lamps, faders and devices to each other, shows them on',
    ' dashboards, and says why each of them changed.',
    ' .',
    ` It includes Node.js ${nodeVersion}, and runs as a sandboxed systemd service.`,
    '',
  ].join('\n');
}
