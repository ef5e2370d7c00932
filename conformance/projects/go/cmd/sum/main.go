package main

import (
	"fmt"
	"os"
	"strconv"

	"example.org/sums"
)

func main() {
	numbers := []int{}
	for _, word := range os.Args[1:] {
		number, _ := strconv.Atoi(word)
		numbers = append(numbers, number)
	}
	fmt.Println(sums.Sum(numbers))
}
