# Second step of the action: makes bubblewrap work on Ubuntu runners, where AppArmor keeps it from user namespaces.
# It does so in every mode. It never fails the step: whether a run may go on without a sandbox is for the policy to say.
set -uo pipefail

readonly PROFILES=${BOSUN_APPARMOR_PROFILES:-/etc/apparmor.d}
readonly EXTRA=${BOSUN_APPARMOR_EXTRA:-/usr/share/apparmor/extra-profiles}
readonly NARROW=bwrap-userns-restrict

say() { echo "Sandbox: $1"; }
# Where nobody asks for commands, the lack of a sandbox is no news.
give_up() {
  if [ -n "$commands" ]; then
    echo "::warning title=Bosun::The sandbox is not available: $1 Commands run without it, but none in a run with untrusted input; sandbox: required ends with exit code 12."
  else
    say "not available: $1 The model may only read, so nothing needs it."
  fi
  exit 0
}

works() { timeout 10 bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc true 2> /dev/null; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
install_packages() {
  as_root timeout 180 env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    -o DPkg::Lock::Timeout=60 bubblewrap apparmor-profiles > /dev/null 2>&1
}
load_profile() { as_root apparmor_parser -r "$PROFILES/$1" > /dev/null 2>&1; }

choice=${INPUT_SANDBOX_SETUP:-auto}
[ "$choice" != skip ] || exit 0
[ "$(uname -s)" = Linux ] || exit 0
if [ "${INPUT_SANDBOX:-${BOSUN_SANDBOX:-}}" = off ]; then
  say 'switched off'
  exit 0
fi
commands=${INPUT_POLICY:-}${BOSUN_POLICY:-}${INPUT_VERIFY:-}${BOSUN_VERIFY:-}${INPUT_ARGS:-}${INPUT_SANDBOX:-}${BOSUN_SANDBOX:-}
[ "${INPUT_MODE:-${BOSUN_MODE:-plan}}" = plan ] || commands=yes
if works; then
  say 'bubblewrap works'
  exit 0
fi
if [ "$choice" != force ] && [ "${RUNNER_ENVIRONMENT:-}" != github-hosted ]; then
  give_up 'bubblewrap does not work here, and a runner of your own is left as it is (sandbox-setup: force changes that).'
fi
as_root true 2> /dev/null || give_up 'setting bubblewrap up needs root or sudo without a password.'
command -v apt-get > /dev/null || give_up 'bubblewrap is missing or does not work, and there is no apt-get to install it.'

if ! command -v bwrap > /dev/null || [ ! -e "$EXTRA/$NARROW" ]; then
  install_packages || { as_root timeout 180 apt-get update > /dev/null 2>&1 && install_packages; } ||
    give_up 'apt-get could not install bubblewrap and apparmor-profiles.'
fi
if works; then
  say 'installed bubblewrap'
  exit 0
fi

# The distribution's own profile: bwrap may make namespaces, what runs inside gets no privileges from them.
if [ -e "$EXTRA/$NARROW" ]; then
  as_root install -m 644 "$EXTRA/$NARROW" "$PROFILES/$NARROW" && load_profile "$NARROW"
  if works; then
    say "loaded the AppArmor profile $NARROW for bubblewrap"
    exit 0
  fi
  as_root apparmor_parser -R "$PROFILES/$NARROW" > /dev/null 2>&1
  as_root rm -f "$PROFILES/$NARROW"
fi

# The last resort: namespaces for /usr/bin/bwrap alone; the system-wide restriction stays for everything else.
as_root tee "$PROFILES/bosun-bwrap" > /dev/null << 'PROFILE'
abi <abi/4.0>,
include <tunables/global>
profile bosun-bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}
PROFILE
load_profile bosun-bwrap
works || give_up 'bubblewrap is installed, but this system does not let it make namespaces.'
say 'loaded an AppArmor profile that lets bubblewrap make namespaces'
