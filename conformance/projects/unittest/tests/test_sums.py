import unittest

from calc.sums import largest, mean, total


class Sums(unittest.TestCase):
    def test_total_adds_up(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_total_of_nothing(self):
        self.assertEqual(total([]), 0)

    def test_mean(self):
        self.assertEqual(mean([2, 4]), 3)

    def test_largest(self):
        self.assertEqual(largest([1, 3, 2]), 3)


if __name__ == "__main__":
    unittest.main()
