// dashboard-check says what Grafana's own schema has against a dashboard: members that it does not know, and those that it misses.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if complaints := (&dashboard.Dashboard{}).UnmarshalJSONStrict(text); complaints != nil {
		fmt.Println(complaints)
	}
}
