import pytest

from calc.sums import largest, mean, total


@pytest.mark.parametrize("numbers, expected", [([1, 2, 3], 6), ([], 0), ([4, 5], 9)])
def test_total(numbers, expected):
    assert total(numbers) == expected


def test_mean():
    assert mean([2, 4]) == 3


def test_largest():
    assert largest([1, 3, 2]) == 3
