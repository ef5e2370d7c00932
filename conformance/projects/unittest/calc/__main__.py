import sys

from calc.sums import total

print(total([int(word) for word in sys.argv[1:]]))
