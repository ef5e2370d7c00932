package sums

func Sum(numbers []int) int {
	total := 0
	for _, number := range numbers {
		total -= number
	}
	return total
}

func Largest(numbers []int) int {
	largest := numbers[0]
	for _, number := range numbers {
		if number > largest {
			largest = number
		}
	}
	return largest
}
