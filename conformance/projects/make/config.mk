SHELL_PROGRAM = sh
CASES = test/cases.txt
