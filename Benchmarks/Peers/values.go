// bench-go FOLDER ROUNDS: the texts of bench-json, read and written by encoding/json. Prints one JSON line of the same
// kind. The CPU time of the garbage collector counts.
//
//	TEXT         decoded to structs
//	TEXT-write   the structs encoded
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The types to decode, as in bench-json.

type person struct {
	ID     int     `json:"id"`
	Name   string  `json:"name"`
	Email  string  `json:"email"`
	Age    int     `json:"age"`
	Score  float64 `json:"score"`
	Active bool    `json:"active"`
	City   string  `json:"city"`
}

type account struct {
	person
	Note string `json:"note"`
}

type post struct {
	ID          int64    `json:"id"`
	Text        string   `json:"text"`
	Language    *string  `json:"language"`
	AnswerTo    *int64   `json:"answerTo"`
	Place       *string  `json:"place"`
	Author      author   `json:"author"`
	Entities    entities `json:"entities"`
	Likes       int      `json:"likes"`
	IsSensitive *bool    `json:"isSensitive"`
}

type author struct {
	ID         int64    `json:"id"`
	Name       string   `json:"name"`
	Handle     string   `json:"handle"`
	About      *string  `json:"about"`
	Home       *address `json:"home"`
	Followers  int      `json:"followers"`
	IsVerified *bool    `json:"isVerified"`
}

type entities struct {
	Tags  []tag `json:"tags"`
	Links []tag `json:"links"`
	Media []tag `json:"media"`
}

type tag struct {
	Text  string `json:"text"`
	Range []int  `json:"range"`
}

type chart struct {
	Features []feature `json:"features"`
}

type feature struct {
	Name   string      `json:"name"`
	Points [][]float64 `json:"points"`
}

type address struct{ url.URL }

func (address *address) UnmarshalText(text []byte) error {
	parsed, err := url.Parse(string(text))
	if err == nil {
		address.URL = *parsed
	}
	return err
}

// The measurements.

type measure struct {
	name      string
	times     int
	operation func() (int, error)
	least     float64
}

// A shorter text is read more often in one round.
func newMeasure(name string, text []byte, operation func() (int, error)) *measure {
	times := (1 << 20) / len(text)
	if times < 1 {
		times = 1
	}
	return &measure{name, times, operation, math.Inf(1)}
}

func (measure *measure) run() error {
	begin := cpuMicroseconds()
	for time := 0; time < measure.times; time++ {
		size, err := measure.operation()
		if err != nil {
			return fmt.Errorf("%s: %w", measure.name, err)
		}
		if size == 0 {
			return fmt.Errorf("nothing was read: %s", measure.name)
		}
	}
	measure.least = math.Min(measure.least, (cpuMicroseconds()-begin)/float64(measure.times))
	return nil
}

func cpuMicroseconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(1, err)
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec)*1e6 + float64(usage.Utime.Usec+usage.Stime.Usec)
}

func reading[Value any](name string, text []byte, size func(Value) int) *measure {
	return newMeasure(name, text, func() (int, error) {
		var value Value
		err := json.Unmarshal(text, &value)
		return size(value), err
	})
}

func writing[Value any](name string, text []byte) *measure {
	var value Value
	if err := json.Unmarshal(text, &value); err != nil {
		fail(1, err)
	}
	return newMeasure(name+"-write", text, func() (int, error) {
		written, err := json.Marshal(value)
		return len(written), err
	})
}

func measures(folder string) []*measure {
	load := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name+".json"))
		if err != nil {
			fail(1, err)
		}
		return text
	}
	people := load("10k")
	return []*measure{
		reading("200b", load("200b"), func(value account) int { return value.ID }),
		reading("10k", people, func(value []person) int { return len(value) }),
		reading("posts", load("posts"), func(value []post) int { return len(value) }),
		reading("map", load("map"), func(value chart) int { return len(value.Features) }),
		writing[[]person]("10k", people),
	}
}

func main() {
	if len(os.Args) != 3 {
		fail(64, "usage: bench-go FOLDER ROUNDS")
	}
	rounds, err := strconv.Atoi(os.Args[2])
	if err != nil || rounds <= 0 {
		fail(64, "usage: bench-go FOLDER ROUNDS")
	}
	all := measures(os.Args[1])
	for round := 0; round < rounds; round++ {
		for _, measure := range all {
			if err := measure.run(); err != nil {
				fail(1, err)
			}
		}
	}
	figures := make([]string, len(all))
	for index, measure := range all {
		figures[index] = fmt.Sprintf("%q:%.3f", measure.name, measure.least)
	}
	fmt.Printf("{\"cpu_us\":{%s}}\n", strings.Join(figures, ","))
}

func fail(status int, what any) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(status)
}
