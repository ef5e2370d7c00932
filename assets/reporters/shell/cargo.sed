# Turns the JSON lines of Rust's test harness into the text that people know.
/^{ "type": "suite", "event": "started"/d
s/^.*{ "type": "suite", "event": "\([a-z]*\)", "passed": \([0-9]*\), "failed": \([0-9]*\), "ignored": \([0-9]*\).*/test result: \1. \2 passed; \3 failed; \4 ignored/p
/{ "type": "test", "event": "started"/d
s/^.*{ "type": "test", "name": "\([^"]*\)", "event": "failed".*"stdout": "\(.*\)" }$/test \1 ... FAILED\\n\2/
s/^.*{ "type": "test", "name": "\([^"]*\)", "event": "\([a-z]*\)".*/test \1 ... \2/
s/\\n/\
/g
s/\\"/"/g
/^test result: /!p
