# First step of the action: a Node that is new enough, and Bosun built from this very checkout. Bash 3.2 will do.
set -euo pipefail
cd "$GITHUB_ACTION_PATH"

fail() {
  echo '::endgroup::'
  echo "::error title=Bosun::$1"
  exit 1
}

case "$(uname -s)" in
  Linux | Darwin) ;;
  *) fail "Bosun runs on Linux and macOS, not on ${RUNNER_OS:-this system}. Choose runs-on: ubuntu-latest." ;;
esac

advice="Put actions/setup-node with node-version 22 before this step."
command -v node > /dev/null || fail "There is no Node on this runner; Bosun needs 20.19 or newer. $advice"
# A release may have been built already, and a second use in the same job finds what the first one built. One Node says whether
# it is new enough, which version this is, and, if it is built, what it says of itself.
facts() {
  node -e 'const [a, b] = process.versions.node.split(".").map(Number);
    if (a < 20 || (a === 20 && b < 19)) process.exit(1);
    console.log(require("./package.json").version);
    require("./bin/bosun.js");' bosun --version 2> /dev/null || true
}
found=$(facts)
[ -n "$found" ] || fail "Node $(node --version) is too old; Bosun needs 20.19 or newer. $advice"
version=${found%%$'\n'*}
works() { [ "$found" = "$version"$'\n'"$version" ]; }
works && exit 0

command -v npm > /dev/null || fail "This checkout of Bosun is not built, and there is no npm to build it. $advice"
# A read-only HOME has no room for npm's cache.
cache=${npm_config_cache:-${HOME:-/nonexistent}/.npm}
if ! { mkdir -p "$cache" && [ -w "$cache" ]; } 2> /dev/null; then
  export npm_config_cache="${RUNNER_TEMP:-/tmp}/bosun-npm"
fi

echo "::group::Build Bosun $version with Node $(node --version)"
rm -rf .install node_modules
node bin/action/dependencies.mjs .install
# No package runs a script of its own, and the lockfile has the hash of each. The job may be in production.
(cd .install && npm ci --include=dev --ignore-scripts --prefer-offline --no-audit --no-fund) ||
  fail "npm ci failed for Bosun; its log is above. Does the runner reach its npm registry?"
mv .install/node_modules node_modules
rm -rf .install
node build.config.mjs || fail "Bosun could not be built; the log is above."
echo "::endgroup::"
found=$(facts)
works || fail "Bosun was built but does not start: $(node bin/bosun.js --version 2>&1 | head -n 1)"
