#!/bin/sh
# Cargo starts test binaries through this (CARGO_TARGET_…_RUNNER), in the folder of their package. Other programs pass unchanged:
# only the test harness of Rust knows the option that is looked for here.
case "$1" in
*/deps/*) grep -aq -e exclude-should-panic "$1" || exec "$@" ;;
*) exec "$@" ;;
esac
here=$(dirname "$0")
. "$here/../clear-environment.sh"
report="$here/../../reports/cargo-$$.txt"
printf 'folder %s\nbinary %s\n' "$(pwd)" "$(basename "$1" .exe)" >"$report"
if [ -f "$here/../only-cargo.txt" ]; then
  set -- "$@" --exact
  while IFS= read -r name; do set -- "$@" "$name"; done <"$here/../only-cargo.txt"
fi
{
  RUSTC_BOOTSTRAP=1 "$@" -Z unstable-options --format json
  echo $? >"$report.code"
} | tee -a "$report" | sed -n -f "$here/cargo.sed"
code=$(cat "$report.code")
rm "$report.code"
echo "exit $code" >>"$report"
exit "$code"
