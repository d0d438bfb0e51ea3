// What an administrator does with the Debian package, and what must hold. Each step is a shell script for a running Debian.

export interface Step {
  readonly what: string;
  /** Its exit status is 0 if the step holds. */
  readonly script: string;
}

/** A short watchdog for the trial: systemd waits two seconds for a sign of life instead of thirty. */
const shortWatchdog = '[Service]\\nWatchdogSec=2\\n';

/** The functions that all scripts use. */
export const helpers = `
set -eu
export PATCHBAY_URL=http://127.0.0.1:17011
flow=/etc/patchbay/flows/studio.json5
main() { systemctl show -P MainPID patchbay; }
status() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$(main)/status"; }
expect() { [ "$2" = "$3" ] || { echo "$1: expected $3, got $2"; exit 1; }; }
value() { expect "$1" "$(patchbay get "$1")" "$2"; }
refused() { if "$@" > /tmp/said 2>&1; then echo "expected a refusal of $*"; exit 1; fi; }
until_new() { for _ in $(seq 150); do
  [ "$(main)" != "$1" ] && systemctl is-active -q patchbay && return; sleep 0.2; done; echo "expected a process other than $1"; exit 1; }
files() { find / -xdev ! -path '/var/lib/dpkg/*' ! -path '/var/log/*' ! -path '/var/cache/*' ! -path '/root*' \\
  ! -path /var/lib/private ! -path '/var/lib/systemd/*' | sort; }
`;

/** `first` and `second` are the packages; the second is newer. */
export const steps = (first: string, second: string): readonly Step[] => [
  {
    what: 'it installs, is enabled and runs as soon as dpkg is done',
    script: `files > /root/before; dpkg -i ${first}; systemctl is-enabled -q patchbay; systemctl is-active -q patchbay`,
  },
  {
    what: 'it runs with its own Node.js, as its own user, without capabilities, behind a system call filter',
    script: `expect program "$(readlink "/proc/$(main)/exe")" /usr/lib/patchbay/bin/node
      [ "$(status Uid | cut -f1)" -ge 61184 ]
      for set in CapInh CapPrm CapEff CapBnd CapAmb; do expect $set "$(status $set)" 0000000000000000; done
      expect NoNewPrivs "$(status NoNewPrivs)" 1; expect Seccomp "$(status Seccomp)" 2`,
  },
  {
    what: 'systemd rates its exposure at 1.5 or less',
    script:
      'systemd-analyze security --no-pager --threshold=15 patchbay > /tmp/said || { tail -1 /tmp/said; exit 1; }; tail -1 /tmp/said',
  },
  {
    what: 'it writes nothing but its state, and sees no other process',
    script: `refused nsenter -t "$(main)" -m touch /etc/patchbay/x /usr/x /var/x; grep -q Read-only /tmp/said
      nsenter -t "$(main)" -m touch /var/lib/patchbay/x; rm /var/lib/private/patchbay/x
      nsenter -t "$(main)" -m grep -q 'proc .*hidepid=invisible' /proc/mounts
      expect owner "$(stat -c %a /var/lib/private/patchbay)" 700`,
  },
  {
    what: 'rules run, values are set and read, explain gives the reason, metrics and health answer',
    script: `patchbay set desk/level 0.5; value desk/percent 50; patchbay explain desk/percent | grep -q 'level in percent'
      patchbay set desk/mic-open true; value desk/red-light true`,
  },
  {
    what: 'a reload loads a new flow file; one with an error is refused, and the hub continues',
    script: `sed -i "s/'level,F,0'/'level,F,0', 'extra,I,7'/" $flow; systemctl reload patchbay
      for _ in $(seq 50); do patchbay get desk/extra > /tmp/said 2>&1 && break; sleep 0.2; done; value desk/extra 7
      cp $flow /root/good; echo oops >> $flow; refused systemctl reload patchbay
      systemctl is-active -q patchbay; value desk/percent 50; cp /root/good $flow`,
  },
  {
    what: 'an error in the flow file keeps it from starting, and the journal says where',
    script: `echo oops >> $flow; systemctl stop patchbay; refused systemctl start patchbay
      systemctl stop patchbay; journalctl --sync; journalctl -u patchbay --no-pager | grep -q 'studio.json5:[0-9]*:[0-9]*'
      cp /root/good $flow; systemctl reset-failed patchbay; systemctl start patchbay; value desk/percent 50`,
  },
  {
    what: 'killed, it restarts with its values',
    script:
      'patchbay set desk/level 0.25; sleep 1; old=$(main); kill -KILL $old; until_new $old; value desk/percent 25',
  },
  {
    what: 'a stopped event loop is noticed, and the hub restarts with its values',
    script: `mkdir -p /run/systemd/system/patchbay.service.d; printf '${shortWatchdog}' > /run/systemd/system/patchbay.service.d/short.conf
      systemctl daemon-reload; systemctl restart patchbay; old=$(main); sleep 6; expect 'process after three times that time' "$(main)" "$old"
      kill -STOP $old; until_new $old; journalctl --sync; journalctl -u patchbay --no-pager | grep -qi 'watchdog timeout'
      rm -r /run/systemd/system/patchbay.service.d; systemctl daemon-reload; value desk/percent 25`,
  },
  {
    what: 'an upgrade keeps the changed flow file, and the values',
    script: `old=$(main); dpkg -i ${second}; until_new $old; value desk/extra 7; value desk/percent 25; value desk/red-light true
      expect versions "$(dpkg-query -W -f '\${Version}' patchbay)" "$(dpkg-deb -f ${second} Version)"`,
  },
  {
    what: 'after removal, flow file and values stay, and the next installation uses them',
    script: `dpkg -r patchbay; refused systemctl is-active -q patchbay; test -f $flow; refused command -v patchbay
      dpkg -i ${second}; systemctl is-active -q patchbay; value desk/extra 7; value desk/percent 25`,
  },
  {
    what: 'after a purge, no file of it is left',
    script: 'dpkg -P patchbay; files > /root/after; diff /root/before /root/after',
  },
];

/** Runs the package's unit with the hub of another Node.js in `/opt/patchbay`, where `npm install -g` has put it. */
export const otherNodeSteps = (first: string, version: string): readonly Step[] => [
  {
    what: `with Node.js ${version} the hub of npm install -g runs as the same unit`,
    script: `dpkg -i ${first}; mkdir -p /run/systemd/system/patchbay.service.d
      run='/opt/patchbay/bin/node /opt/patchbay/bin/patchbay'
      printf "[Service]\\nExecStartPre=\\nExecStartPre=$run check flows\\nExecStart=\\nExecStart=$run run flows\\n" \\
        > /run/systemd/system/patchbay.service.d/other.conf
      systemctl daemon-reload; systemctl restart patchbay
      expect version "$(/proc/$(main)/exe --version)" v${version}
      patchbay set desk/level 0.75; value desk/percent 75; sleep 1; systemctl restart patchbay; value desk/percent 75
      dpkg -P patchbay`,
  },
];
