// Renders the templates of a chart with the engine and functions that Helm uses: text/template and sprig.
// Standard input: {"templates": {name: text}, "data": {"Values": …, "Release": …, "Chart": …}}. Output: {name: rendered}.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"text/template"

	"github.com/Masterminds/sprig"
)

func main() {
	var chart struct {
		Templates map[string]string
		Data      map[string]interface{}
	}
	if err := json.NewDecoder(os.Stdin).Decode(&chart); err != nil {
		log.Fatal(err)
	}
	rendered := map[string]string{}
	for name, text := range chart.Templates {
		parsed, err := template.New(name).Option("missingkey=error").Funcs(sprig.TxtFuncMap()).Parse(text)
		if err != nil {
			log.Fatal(err)
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, chart.Data); err != nil {
			log.Fatal(err)
		}
		rendered[name] = out.String()
	}
	if err := json.NewEncoder(os.Stdout).Encode(rendered); err != nil {
		log.Fatal(err)
	}
}
