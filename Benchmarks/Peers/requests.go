// bench-go-http MODE URL COUNT: COUNT requests with net/http, measured, as one JSON line like that of bench-curl.
//
//	parallel     64 in flight; parallel-10k, parallel-1m: the same with larger bodies
//	parallel-tls the same over TLS; parallel-h2: over HTTP/2 and TLS
//	sequential   one at a time
//
// ERRAND_NGINX_CA names the file with the authority of the server.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const inFlight = 64
const warmUp = 500

func fail(what string, detail any) {
	fmt.Fprintf(os.Stderr, "bench-go-http: %s: %v\n", what, detail)
	os.Exit(1)
}

func client(mode string) *http.Client {
	authorities := x509.NewCertPool()
	if file := os.Getenv("ERRAND_NGINX_CA"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			fail("authority", err)
		}
		authorities.AppendCertsFromPEM(pem)
	}
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: inFlight,
		MaxIdleConns:        inFlight,
		DisableCompression:  true,
		TLSClientConfig:     &tls.Config{RootCAs: authorities},
		ForceAttemptHTTP2:   strings.HasSuffix(mode, "-h2"),
	}}
}

func get(client *http.Client, url string) {
	response, err := client.Get(url)
	if err != nil {
		fail("request", err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != 200 || len(body) == 0 {
		fail("response", fmt.Sprint(response.StatusCode, err))
	}
}

func run(client *http.Client, workers int, url string, count int64) {
	var started atomic.Int64
	var group sync.WaitGroup
	for i := 0; i < workers; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for started.Add(1) <= count {
				get(client, url)
			}
		}()
	}
	group.Wait()
}

func cpuMicroseconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("getrusage", err)
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec)*1e6 + float64(usage.Utime.Usec+usage.Stime.Usec)
}

func main() {
	if len(os.Args) != 4 {
		fail("usage", "bench-go-http MODE URL COUNT")
	}
	mode, url := os.Args[1], os.Args[2]
	count, err := strconv.ParseInt(os.Args[3], 10, 64)
	if err != nil || count <= 0 {
		fail("not a count", os.Args[3])
	}
	workers := 1
	if strings.HasPrefix(mode, "parallel") {
		workers = inFlight
	} else if mode != "sequential" {
		fail("unknown mode", mode)
	}
	client := client(mode)
	run(client, workers, url, warmUp)
	cpu, begun := cpuMicroseconds(), time.Now()
	run(client, workers, url, count)
	wall := float64(time.Since(begun).Nanoseconds()) / 1e3
	cpu = cpuMicroseconds() - cpu
	requests := float64(count)
	fmt.Printf("{\"name\":\"go-%s\",\"requests\":%d,\"cpu_us_per_request\":%.3f,\"wall_us_per_request\":%.3f,"+
		"\"requests_per_second\":%.0f}\n", mode, count, cpu/requests, wall/requests, requests/(wall/1e6))
}
