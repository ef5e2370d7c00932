#!/bin/sh
# Runs every case of the file: numbers, "=", the expected sum. Prints TAP.
failed=0
count=0
while IFS='=' read -r numbers expected; do
  count=$((count + 1))
  actual=$(sh src/sum.sh $numbers)
  if [ "$actual" = "$expected" ]; then
    echo "ok $count - sum of $numbers"
  else
    echo "not ok $count - sum of $numbers: $actual instead of $expected"
    failed=1
  fi
done < "$1"
echo "1..$count"
exit $failed
