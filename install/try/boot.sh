#!/bin/sh
# boot.sh <folder>: boots the systemd of a Debian in a folder, next to that of this machine, with separate processes, mounts, cgroups and
# network. It runs until it is killed. It needs root, and no container program.
set -e
root=$(realpath "$1")
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts) # systemd uses only groups below its own
group=$groups/patchbay-try-$$
mkdir "$group"
echo $$ > "$group/cgroup.procs"

exec unshare --mount --pid --fork --kill-child --net --cgroup --ipc --uts --propagation private sh -ec '
  root=$1
  mount --bind "$root" "$root"
  cd "$root"
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs dev
  for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
  done
  mkdir dev/shm dev/pts
  ln -s /proc/self/fd dev/fd
  ln -s pts/ptmx dev/ptmx
  mount -t tmpfs tmpfs run
  mount -t tmpfs tmpfs tmp
  pivot_root . mnt
  cd /
  umount -l /mnt
  exec env -i container=patchbay-try PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system
' sh "$root"
