#!/bin/sh
# Go starts every test binary through this (GOFLAGS=-exec=…), in the folder of its package. Programs of `go run` pass unchanged.
case "$1" in
*.test | *.test.exe) ;;
*) exec "$@" ;;
esac
here=$(dirname "$0")
. "$here/../clear-environment.sh"
report="$here/../../reports/go-$$.txt"
echo "folder $(pwd)" >"$report"
verbose=-test.v
for argument in "$@"; do
  case "$argument" in -test.v | -test.v=*) verbose= ;; esac
done
only=
[ -f "$here/../only-go.txt" ] && only="-test.run=$(cat "$here/../only-go.txt")"
# The exit code goes through a file: a pipe in sh keeps only that of its last command.
{
  "$@" $verbose ${only:+"$only"} 2>&1
  echo $? >"$report.code"
} | tee -a "$report"
code=$(cat "$report.code")
rm "$report.code"
printf '\nexit %s\n' "$code" >>"$report"
exit "$code"
