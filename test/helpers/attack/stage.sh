# A stage for hostile programs, so that a hole in Bosun harms nobody: run in namespaces of its own (see stage.ts).
# All of the machine is made read-only here, folders of people and services are replaced by an empty file system of
# limited size, devices by harmless ones, and what only root could do to the kernel is given up. Then it runs
#   stage.sh FOLDER KEPT:KEPT… PROGRAM ARGUMENT…
# where FOLDER is an empty one that nobody needs, and KEPT are folders of what is replaced that are shown all the same.
set -eu
hold=$1 kept=$2
shift 2

covered='/home /root /srv /mnt /media /run /var/tmp /tmp'

mount --make-rprivate /
mount -t tmpfs -o size=100m,mode=755 tmpfs "$hold"
mkdir "$hold/proc" "$hold/dev"
# Without one that is whole nobody in here could mount another; it is out of reach below.
mount -t proc proc "$hold/proc"

# Field 5 is the place, field 6 its options, which must stay, or else who is not root may not change them.
awk '$5 != "/proc" && index($5, "'"$hold"'") != 1 { sub(/^rw/, "ro", $6); print $5, $6 }' /proc/self/mountinfo |
  while read -r place options; do
    # Of several on one place only the last can be reached.
    mount -o "remount,bind,$options" "$place" 2>/dev/null || mountpoint -q "$place" || continue
  done

for folder in $covered; do
  [ -d "$folder" ] && [ ! -L "$folder" ] || continue
  mkdir -p "$hold/cover$folder"
  chmod "$(stat -c %a "$folder")" "$hold/cover$folder"
done
chmod 755 "$hold/cover/root"
IFS=:
for folder in $kept; do
  for above in /home /root /srv /mnt /media /run /var/tmp /tmp; do
    case $folder in "$above"/*)
      mkdir -p "$hold/cover$folder"
      mount --bind "$folder" "$hold/cover$folder"
      mount -o remount,bind,ro "$hold/cover$folder"
      ;;
    esac
  done
done
IFS=' '

for name in null zero full random urandom tty; do
  : >"$hold/dev/$name"
  mount --bind "/dev/$name" "$hold/dev/$name"
done
mkdir "$hold/dev/shm" "$hold/dev/pts"
chmod 1777 "$hold/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$hold/dev/pts"
ln -s pts/ptmx "$hold/dev/ptmx"
ln -s /proc/self/fd "$hold/dev/fd"
mount --rbind "$hold/dev" /dev

for name in sys sysrq-trigger irq bus; do
  [ -e "/proc/$name" ] || continue
  mount --bind "/proc/$name" "/proc/$name"
  mount -o remount,bind,ro,nosuid,nodev,noexec "/proc/$name"
done
# Counts what belongs to this user namespace alone; bubblewrap needs it.
mount --bind /proc/sys/user /proc/sys/user
mount -o remount,bind,rw,nosuid,nodev,noexec /proc/sys/user

for folder in $covered; do
  # The one that hides FOLDER comes last.
  case $hold in "$folder"/*) last=$folder ;; *) [ ! -d "$hold/cover$folder" ] || mount --rbind "$hold/cover$folder" "$folder" ;; esac
done
[ -z "${last-}" ] || mount --rbind "$hold/cover$last" "$last"
[ ! -d "$hold" ] || mount -t tmpfs -o ro tmpfs "$hold"

ip link set lo up 2>/dev/null || ifconfig lo up
cd /

# What must hold before anything hostile runs.
if touch /usr/.stage /etc/.stage 2>/dev/null; then echo 'stage: the system is writable' >&2; exit 70; fi
if [ -w /proc/sys/kernel/core_pattern ] && (: >>/proc/sys/kernel/core_pattern) 2>/dev/null; then
  echo 'stage: the kernel can be set up' >&2
  exit 70
fi
[ "$$" = 1 ] || { echo 'stage: no process namespace' >&2; exit 70; }

ulimit -c 0
ulimit -f 1000000
ulimit -d 4000000
given_up=-sys_module,-sys_boot,-sys_rawio,-sys_time,-sys_resource,-sys_pacct,-sys_tty_config,-mknod,-syslog
given_up=$given_up,-mac_admin,-mac_override,-audit_control,-linux_immutable,-wake_alarm,-block_suspend
exec setpriv --bounding-set "$given_up" --inh-caps "$given_up" "$@"
