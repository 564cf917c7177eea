// SPDX-License-Identifier: GPL-3.0-or-later

// Counts words in a map. The time goes to assignments to the map, which countWords makes.
package main

import (
	"fmt"
	"strconv"
)

//go:noinline
func makeWords(n int) []string {
	words := make([]string, n)
	random := uint64(1)
	for i := range words {
		random = random*6364136223846793005 + 1442695040888963407
		words[i] = "word" + strconv.FormatUint(random>>44, 10)
	}
	return words
}

//go:noinline
func countWords(words []string) int {
	counts := make(map[string]int)
	for _, word := range words {
		counts[word]++
	}
	return len(counts)
}

func main() {
	words := makeWords(400000)
	total := 0
	for i := 0; i < 18; i++ {
		total += countWords(words)
	}
	fmt.Println(total)
}
