// SPDX-License-Identifier: MIT
//
// The target `go`: net/http, a goroutine for each connection, which answers 200 with the path. The number of processors
// of the scheduler is GOMAXPROCS, which the runtime reads itself; idle ones spin by rules that cannot be set.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
)

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1")
	flag.Parse()
	http.HandleFunc("/", func(writer http.ResponseWriter, request *http.Request) {
		io.WriteString(writer, request.URL.Path)
	})
	log.Fatal(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), nil))
}
